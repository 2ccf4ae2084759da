//! Typing without an echo, where the line editor cannot draw.

use std::io;

use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};

/// Keeps the terminal from showing what is typed, until dropped.
#[derive(Debug)]
pub(super) struct Hidden {
    before: Termios,
}

impl Hidden {
    /// Turns the echo off; returns `None` where there is no terminal.
    pub(super) fn begin() -> Option<Self> {
        let before = tcgetattr(io::stdin()).ok()?;
        let mut silent = before.clone();
        silent.local_modes.remove(LocalModes::ECHO);
        tcsetattr(io::stdin(), OptionalActions::Now, &silent).ok()?;
        Some(Self { before })
    }
}

impl Drop for Hidden {
    fn drop(&mut self) {
        // If the terminal is gone there is nothing to restore.
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.before);
    }
}
