//! The source of a person's text: the line editor of a terminal, or a script in tests.

use std::io;

/// A person's input at a prompt.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Typed {
    /// The text; it may have several lines.
    Text(String),
    /// The end of the input: Ctrl-D on an empty line.
    End,
    /// Ctrl-C.
    Interrupt,
}

/// Reads what a person types.
pub(crate) trait Lines {
    /// Shows a prompt and a draft that can be changed, and reads until Enter.
    fn read(&mut self, prompt: &str, draft: &str) -> io::Result<Typed>;

    /// Reads a text that is not shown while it is typed.
    fn read_secret(&mut self, prompt: &str) -> io::Result<Typed>;

    /// Drops input that was not read yet, so that the rest of a paste does not reach the shell.
    fn discard(&mut self) {}
}
