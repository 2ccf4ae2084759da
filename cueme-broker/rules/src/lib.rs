//! The rules of the broker, and nothing else: an [`Input`] in, [`Effect`]s out.
//!
//! An [`Agent`] is its live questions and the messages that wait for it, and each rule is a method of it. The
//! [`Machine`] finds the agent that an input concerns, splits an input that concerns several, delivers the outcomes
//! that a rule released to the waiting callers of this broker, and keeps their tickets.
//!
//! All of it is synchronous and pure: it does no I/O, reads no clock and generates no random numbers. Time, ids and the
//! presence of clients at other brokers are part of its inputs. It keeps only *live* records in memory: agents,
//! questions that are open or whose outcome was not acknowledged, and messages not yet delivered. A settled question is
//! forgotten; the engine loads it again with [`Machine::remember`] when an input refers to it.
//!
//! So the machine is a cache of the store, and its callers, timers and signs of a human are this broker's own. When
//! another broker has changed agents, the engine replaces each of them by its stored state with [`Machine::replace`].

mod effect;
mod input;
mod outbox;

mod agent;
mod cue;
mod machine;

mod ack;
mod amend;
mod ask;
mod attach;
mod collect;
mod decide;
mod deliver;
mod foreign;
mod import;
mod join;
mod queue;
mod rest;
mod say;
mod timer;

mod text;

use protocol_spec::id::RequestId;
use protocol_spec::message::{CONTENT_BYTES_MAX, LINE_BYTES_PER_BYTE_MAX};
use uuid::Uuid;

pub use agent::{Agent, Message};
pub use attach::unknown_cue;
pub use cue::{ContentKey, Cue, Decision, Rounds, State};
pub use effect::{Change, Effect};
pub use import::past_text;
pub use input::{
    Amendment, Ask, Collect, Decide, Import, Input, Join, Known, Now, PastCue, PastEnd, QueueEdit, Say,
    Ticket, Verdict,
};
pub use machine::{LiveCounts, Machine, Waiting};
pub use text::{TextParts, beginning_of, human_words, own_answer, text_parts};
use text::{compose, render_notes, unseen, with_standing, worded_notes};

#[cfg(test)]
mod tests;

/// The most questions of one agent that may be open or undelivered at once.
pub const LIVE_CUES_PER_AGENT_MAX: usize = 256;
/// The most messages that may wait for one agent.
pub const MESSAGES_PER_AGENT_MAX: usize = 256;
/// The most bytes of messages that may wait for one agent.
pub const MESSAGES_BYTES_PER_AGENT_MAX: usize = 4 * 1024 * 1024;
/// The most bytes of a line that the messages with one outcome may take: all messages that may wait, with any content.
pub const MESSAGES_LINE_BYTES_MAX: usize = LINE_BYTES_PER_BYTE_MAX * MESSAGES_BYTES_PER_AGENT_MAX;
/// The most bytes of a line that an answer may take, as the agent reads it.
pub const ANSWER_LINE_BYTES_MAX: usize = 40 * 1024 * 1024;
/// The decision's key of an imported question without an outcome.
pub const LEFT_OPEN: RequestId = RequestId(Uuid::nil());
/// The time that a question stays open without a waiting client before its agent's next question supersedes it.
pub const SUPERSEDED_AFTER_MS: u64 = 10 * 60 * 1000;
/// The time without a sign of a human after which an agent whose turn a hook can hold is told to end it.
pub const AWAY_AFTER_MS: u64 = 60 * 60 * 1000;
/// The longest time that an answer can be held back for an undo.
pub const HOLD_MS_MAX: u64 = 10 * 60 * 1000;

/// The bytes around an answer: the labels of messages, the standing instruction, the reminder, names and times.
const AROUND_ANSWER_BYTES: usize = 4 * 1024 * 1024;
// An outcome always fits into a line.
const _: () =
    assert!(MESSAGES_LINE_BYTES_MAX + ANSWER_LINE_BYTES_MAX + AROUND_ANSWER_BYTES <= CONTENT_BYTES_MAX);
