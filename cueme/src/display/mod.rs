//! Output for a person at a terminal.
//!
//! Every text of an agent passes through [`visible()`] or [`visible_line`] before it reaches the terminal, so that it
//! cannot move the cursor, hide text or turn its direction.

mod count;
mod visible;
mod when;
mod width;

mod tone;

mod markdown;
mod paint;

mod cue;
mod finding;

pub(crate) use count::counted;
#[cfg(test)]
pub(crate) use cue::tests::question;
pub(crate) use cue::{card, decision_lines, decision_words, full, full_head, payload_lines, question_lines};
pub(crate) use finding::{Grade, finding};
pub(crate) use markdown::plain_lines;
pub(crate) use paint::Paint;
pub(crate) use tone::{Piece, StyledLine, Tone, TonedText, piece};
pub(crate) use visible::{visible, visible_line};
pub(crate) use when::{ago, at, now};
pub(crate) use width::{pad, shorten, wrap};
