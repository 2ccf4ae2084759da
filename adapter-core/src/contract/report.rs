//! The report of a turn, the same for every runtime.

use super::event::{Done, ErrorData};
use super::evidence::Evidence;

/// The report of one turn.
#[derive(Debug, Clone)]
pub struct TurnReport {
    /// The end of the turn.
    pub ending: Ending,
    /// The evidence from its stream.
    pub evidence: Evidence,
    /// The number of forwarded events.
    pub forwarded: u64,
    /// The exit of the process; `None` if it never started.
    pub exit: Option<Exit>,
    /// The end of its stderr, without secrets.
    pub stderr: String,
    /// Whether the chat it was told to continue was continued.
    pub resumption: Resumption,
}

/// The end of a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// Well.
    Done(Done),
    /// Not well.
    Error(ErrorData),
}

/// The exit of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// It returned this code.
    Code(i32),
    /// It was ended by this signal.
    Signal(i32),
}

impl Exit {
    /// Reports whether the process says that all went well.
    pub fn is_success(self) -> bool {
        self == Self::Code(0)
    }

    /// Says how the process ended.
    pub fn words(self) -> String {
        match self {
            Self::Code(code) => format!("the CLI exited with code {code}"),
            Self::Signal(signal) => format!("the CLI was ended by signal {signal}"),
        }
    }
}

/// Whether a turn that was told to continue a chat did so.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Resumption {
    /// It was not told to.
    #[default]
    NotAsked,
    /// The store has everything that was said before, and more.
    Continued,
    /// The store does not: the agent has forgotten what was said.
    Forgotten,
    /// The store does not say, and why.
    Unproved(&'static str),
}
