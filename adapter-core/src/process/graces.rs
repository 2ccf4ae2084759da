//! Timeouts for ending a process.

use std::time::Duration;

/// The timeout of each step of ending a process.
#[derive(Debug, Clone, Copy)]
pub struct Graces {
    /// For leaving by itself after its result, or after closing its stdout.
    pub leave: Duration,
    /// For reading what is left in the pipes of a process that is gone.
    pub drain: Duration,
    /// For answering the `cancel` message.
    pub cancel: Duration,
    /// For answering SIGTERM.
    pub terminate: Duration,
}

impl Default for Graces {
    fn default() -> Self {
        Self {
            leave: Duration::from_secs(5),
            drain: Duration::from_millis(500),
            cancel: Duration::from_secs(2),
            terminate: Duration::from_secs(3),
        }
    }
}
