//! The Human Agent Protocol inside a turn: what the agent is told, and the rule that a turn ends with a cue.
//!
//! The [`gate`] decides from evidence whether the human was asked; [`converse`] repeats, follows up and, as the last
//! resort, asks the human itself. It knows the human only through the [`Human`] trait.

mod approval;
mod converse;
mod cursor;
mod gate;
mod human;
mod preamble;
mod question;

pub use approval::approval_prompt;
pub(crate) use converse::is_work;
pub use converse::{Agent, ConversationEnd, HapEvent, HapOptions, converse};
pub use gate::{Failure, Verdict, judge};
pub use human::{
    Answer, Confirmable, Confirmation, Human, HumanError, HumanQuestion, Receipt, ReceiptOutcome,
    without_tags,
};
pub use preamble::{TURN_ENV, follow_up, preamble, with_preamble};
pub(crate) use question::distinct;
pub use question::{Selection, forms_of, selections};
