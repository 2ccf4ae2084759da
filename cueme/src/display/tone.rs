//! Text with tones: what a piece of text is, without saying how a terminal paints it.

use super::width::break_line;

/// The role of a piece of text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Tone {
    #[default]
    Plain,
    /// Emphasis, and headings.
    Strong,
    /// Secondary text.
    Quiet,
    Emphasis,
    Link,
    /// Success, and lines that a patch adds.
    Good,
    /// A warning.
    Attention,
    /// An error, and lines that a patch removes.
    Bad,
    /// Commands and code.
    Accent,
}

/// A piece of a line in one tone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) text: String,
    pub(crate) tone: Tone,
}

/// One line on a screen.
pub(crate) type StyledLine = Vec<Piece>;

/// Makes a piece.
pub(crate) fn piece(tone: Tone, text: impl Into<String>) -> Piece {
    Piece {
        text: text.into(),
        tone,
    }
}

/// A text in which every byte has a tone.
#[derive(Debug, Default)]
pub(crate) struct TonedText {
    text: String,
    tones: Vec<Tone>,
}

impl TonedText {
    /// Takes a whole text in one tone.
    pub(crate) fn new(text: String, tone: Tone) -> Self {
        let tones = vec![tone; text.len()];
        Self { text, tones }
    }

    /// Joins the pieces of a line.
    pub(crate) fn of_line(line: &[Piece]) -> Self {
        let mut toned = Self::default();
        for piece in line {
            toned.text.push_str(&piece.text);
            toned.tones.resize(toned.text.len(), piece.tone);
        }
        toned
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Gives a range of bytes a tone.
    pub(super) fn paint(&mut self, range: std::ops::Range<usize>, tone: Tone) {
        if let Some(tones) = self.tones.get_mut(range) {
            tones.fill(tone);
        }
    }

    /// Breaks the text into lines of at most `columns`.
    pub(crate) fn lines(&self, columns: usize) -> Vec<StyledLine> {
        let mut lines = Vec::new();
        let mut start = 0;
        for line in self.text.split('\n') {
            let broken = break_line(line, columns);
            lines.extend(
                broken
                    .into_iter()
                    .map(|range| self.pieces(start + range.start, start + range.end)),
            );
            start += line.len() + 1;
        }
        lines
    }

    fn pieces(&self, start: usize, end: usize) -> StyledLine {
        let mut line = StyledLine::new();
        for (at, letter) in self.text[start..end].char_indices() {
            let tone = self.tones[start + at];
            match line.last_mut() {
                Some(last) if last.tone == tone => last.text.push(letter),
                _ => line.push(piece(tone, letter)),
            }
        }
        line
    }
}
