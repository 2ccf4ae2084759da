//! The items that a turn emits while it runs, and their receiver.

use super::activity::Activity;
use super::event::Event;
use super::report::Exit;

/// Receives what a turn gives.
pub trait Sink {
    /// Takes one item; it lives only for the call.
    fn item(&mut self, item: Item<'_>);
}

impl<F: FnMut(Item<'_>)> Sink for F {
    fn item(&mut self, item: Item<'_>) {
        self(item);
    }
}

/// One thing that a turn gives.
#[derive(Debug, Clone)]
pub enum Item<'a> {
    /// An event of the contract.
    Event(Event<'a>),
    /// A step of one of the CLI's own tools; only when asked for.
    Activity(Box<Activity<'a>>),
    /// Something to log or show that is no event.
    Note(Note<'a>),
}

/// Something to log or show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Note<'a> {
    /// The chat and the model, as the CLI named them.
    Session {
        /// The chat's id.
        id: &'a str,
        /// The model's display name; empty when the CLI did not say.
        model: &'a str,
    },
    /// The CLI lost, or found, its server; the turn goes on.
    Connection(&'a str),
    /// Words on stdout that are no event.
    Notice(&'a str),
    /// A line of an unknown type.
    UnknownType(&'a str),
    /// A tool was called that is not registered; it is not forwarded.
    UnknownTool(&'a str),
    /// The CLI answered its own question; no human saw it.
    QuestionSkipped,
    /// The streamed text is not the text of the result.
    TextMismatch,
    /// The process failed after its turn had ended well.
    LateExit(Exit),
    /// A turn failed, and this was decided, in words.
    Recovery(&'a str),
}
