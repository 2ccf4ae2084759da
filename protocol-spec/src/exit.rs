//! The exit codes of `cueme`, as documented in `SPEC.md`.

/// The result of a call of `cueme`, as its caller sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// The answer (or the requested information) was printed.
    Done = 0,
    /// Nothing was found, or nothing is running.
    NotFound = 1,
    /// The call is wrong: bad arguments, a bad envelope, an answer that does not fit.
    Usage = 2,
    /// The agent id is not known to this broker.
    UnknownAgent = 3,
    /// The question was closed without an answer.
    Cancelled = 4,
    /// No broker is running and none could be started.
    NoBroker = 69,
    /// Output or storage failed; nothing was acknowledged.
    Io = 74,
    /// Still open, or the broker is busy: run the same command again.
    StillOpen = 75,
    /// Still open, the human is away and a hook holds the turn: end it.
    Away = 76,
    /// Interrupted by SIGINT; the question stays open.
    Interrupted = 130,
    /// Terminated by SIGTERM; the question stays open.
    Terminated = 143,
}

impl Exit {
    /// Returns the number the operating system is given.
    pub const fn code(self) -> u8 {
        self as u8
    }
}
