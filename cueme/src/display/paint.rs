//! Colours, for terminals whose owner wants them.

use super::tone::{Piece, StyledLine, Tone};
use crate::environment::variable;
use crate::output;

/// Paints text, or leaves it alone.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Paint {
    is_on: bool,
}

impl Paint {
    /// Says whether a terminal's owner wants no colours.
    pub(crate) fn is_unwanted() -> bool {
        variable("NO_COLOR").is_some()
    }

    /// Paints only what a person sees on a terminal, and not when NO_COLOR says otherwise.
    pub(crate) fn for_stdout() -> Self {
        let is_dumb = variable("TERM").is_some_and(|term| term == "dumb");
        Self {
            is_on: output::is_terminal() && !Self::is_unwanted() && !is_dumb,
        }
    }

    /// Never paints.
    #[cfg(test)]
    pub(crate) fn off() -> Self {
        Self { is_on: false }
    }

    /// Paints a line.
    pub(crate) fn line(self, line: &StyledLine) -> String {
        line.iter().map(|piece| self.piece(piece)).collect()
    }

    /// Paints a piece in its tone.
    pub(crate) fn piece(self, piece: &Piece) -> String {
        let code = match piece.tone {
            Tone::Plain => return piece.text.clone(),
            Tone::Strong => "1",
            Tone::Quiet => "2",
            Tone::Emphasis => "3",
            Tone::Link => "4",
            Tone::Good => "32",
            Tone::Attention => "33",
            Tone::Bad => "31",
            Tone::Accent => "36",
        };
        self.with(code, &piece.text)
    }

    /// Emphasis.
    pub(crate) fn bold(self, text: &str) -> String {
        self.with("1", text)
    }

    /// Secondary text.
    pub(crate) fn dim(self, text: &str) -> String {
        self.with("2", text)
    }

    /// Success.
    pub(crate) fn green(self, text: &str) -> String {
        self.with("32", text)
    }

    /// A warning.
    pub(crate) fn yellow(self, text: &str) -> String {
        self.with("33", text)
    }

    /// An error.
    pub(crate) fn red(self, text: &str) -> String {
        self.with("31", text)
    }

    /// A command that can be typed.
    pub(crate) fn cyan(self, text: &str) -> String {
        self.with("36", text)
    }

    fn with(self, code: &str, text: &str) -> String {
        if self.is_on {
            format!("\u{1b}[{code}m{text}\u{1b}[0m")
        } else {
            text.to_owned()
        }
    }
}
