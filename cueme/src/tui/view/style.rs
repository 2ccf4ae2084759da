//! Maps tones to terminal styles. Without colours, bold, dim and reverse still tell things apart.

use ratatui::style::{Color, Modifier, Style as Painted};
use ratatui::text::{Line, Span};

use crate::display::{Piece, Tone};

/// The painter of tones.
#[derive(Debug, Clone, Copy)]
pub(in crate::tui) struct Style {
    pub(in crate::tui) has_colours: bool,
}

impl Style {
    /// Returns a line as the terminal draws it.
    pub(super) fn line(self, line: &[Piece]) -> Line<'_> {
        let spans = line
            .iter()
            .map(|piece| Span::styled(piece.text.as_str(), self.of(piece.tone)));
        Line::from_iter(spans)
    }

    pub(super) fn of(self, tone: Tone) -> Painted {
        let plain = Painted::new();
        let coloured = |colour: Color| if self.has_colours { plain.fg(colour) } else { plain };
        match tone {
            Tone::Plain => plain,
            Tone::Strong => plain.add_modifier(Modifier::BOLD),
            Tone::Quiet => plain.add_modifier(Modifier::DIM),
            Tone::Emphasis => plain.add_modifier(Modifier::ITALIC),
            Tone::Link => plain.add_modifier(Modifier::UNDERLINED),
            Tone::Good => coloured(Color::Green),
            Tone::Attention => coloured(Color::Yellow),
            Tone::Bad => coloured(Color::Red),
            Tone::Accent => coloured(Color::Cyan),
        }
    }
}
