//! Shell commands that agents write, and the judgements about them.
//!
//! One [`lexer`] reads a command; it is no shell and runs nothing. [`cue_line`] is the lenient judgement: does the exit
//! code of this line tell how a cue ended? [`agent_call`] is the strict one: can this text do anything but one of our
//! four agent verbs?

pub mod agent_call;
pub mod cue_line;
mod lexer;
