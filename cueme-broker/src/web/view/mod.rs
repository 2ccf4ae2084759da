//! The page's view of agents, questions and answers.

mod agent;
mod cue;
mod draft;
mod markup;
mod message;
mod payload;
mod time;

pub(super) use agent::AgentCard;
pub(super) use cue::{AttachmentShown, Cue, CueCard, Precedent};
pub(super) use draft::DraftShown;
pub(super) use markup::{FOLDED_BYTES, Markup, PART_BYTES, Reading};
pub(super) use message::MessageShown;
pub(super) use time::When;
