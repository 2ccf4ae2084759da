//! A text that a person types. The cursor stands between graphemes, so that it never splits what is seen as one.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthChar;

use crate::display::visible_line;

/// The most bytes of one text; longer material belongs into a file.
pub(super) const TEXT_BYTES_MAX: usize = 1024 * 1024;

/// A text and the place of its cursor.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct TextBox {
    text: String,
    /// In bytes, at the edge of a grapheme.
    cursor: usize,
    /// Shown as dots.
    pub(super) is_secret: bool,
    /// Whether it may have several lines.
    pub(super) is_long: bool,
}

/// A text as it is drawn.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Drawn {
    pub(super) rows: Vec<String>,
    /// The row and column of the cursor.
    pub(super) cursor: (usize, usize),
}

impl TextBox {
    pub(super) fn long() -> Self {
        Self {
            is_long: true,
            ..Self::default()
        }
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn is_blank(&self) -> bool {
        // A password may well be blanks.
        self.text.is_empty() || (!self.is_secret && self.text.trim().is_empty())
    }

    /// Replaces the text, and puts the cursor at its end.
    pub(super) fn set(&mut self, text: &str) {
        text.clone_into(&mut self.text);
        self.cursor = self.text.len();
    }

    /// Inserts a text at the cursor; says whether there was room for it.
    pub(super) fn insert(&mut self, text: &str) -> bool {
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        let text = if self.is_long {
            text
        } else {
            text.replace('\n', " ")
        };
        if self.text.len() + text.len() > TEXT_BYTES_MAX {
            return false;
        }
        self.text.insert_str(self.cursor, &text);
        self.cursor += text.len();
        true
    }

    pub(super) fn backspace(&mut self) {
        let start = self.before();
        self.text.replace_range(start..self.cursor, "");
        self.cursor = start;
    }

    pub(super) fn delete(&mut self) {
        self.text.replace_range(self.cursor..self.after(), "");
    }

    pub(super) fn left(&mut self) {
        self.cursor = self.before();
    }

    pub(super) fn right(&mut self) {
        self.cursor = self.after();
    }

    pub(super) fn go_to_line_start(&mut self) {
        self.cursor = self.line_start();
    }

    pub(super) fn go_to_line_end(&mut self) {
        self.cursor = self.line_end();
    }

    /// Moves a line up; says whether there was one.
    pub(super) fn up(&mut self) -> bool {
        let start = self.line_start();
        if start == 0 {
            return false;
        }
        let column = self.column();
        self.cursor = start - 1;
        self.go_to_column(column);
        true
    }

    /// Moves a line down; says whether there was one.
    pub(super) fn down(&mut self) -> bool {
        let end = self.line_end();
        if end == self.text.len() {
            return false;
        }
        let column = self.column();
        self.cursor = end + 1;
        self.go_to_column(column);
        true
    }

    pub(super) fn delete_word(&mut self) {
        let before = &self.text[..self.cursor];
        let word = before.trim_end();
        let start = word
            .rfind(char::is_whitespace)
            .map_or(0, |at| at + word[at..].chars().next().map_or(0, char::len_utf8));
        self.text.replace_range(start..self.cursor, "");
        self.cursor = start;
    }

    pub(super) fn delete_to_line_start(&mut self) {
        let start = self.line_start();
        self.text.replace_range(start..self.cursor, "");
        self.cursor = start;
    }

    pub(super) fn delete_to_line_end(&mut self) {
        let end = self.line_end();
        self.text.replace_range(self.cursor..end, "");
    }

    /// Returns the text in rows of at most `columns`, with hidden characters spelled out and secrets as dots.
    pub(super) fn draw(&self, columns: usize) -> Drawn {
        let columns = columns.max(2);
        let rows: Vec<String> = self
            .text
            .split('\n')
            .flat_map(|line| self.rows_of(line, columns))
            .collect();
        let mut before: Vec<String> = self.text[..self.cursor]
            .split('\n')
            .flat_map(|line| self.rows_of(line, columns))
            .collect();
        let last = before.pop().unwrap_or_default();
        let column = unicode_width::UnicodeWidthStr::width(last.as_str());
        let mut drawn = Drawn {
            cursor: (before.len(), column),
            rows,
        };
        // A cursor behind a full row stands at the beginning of the next.
        if column >= columns {
            drawn.cursor = (before.len() + 1, 0);
            if drawn.rows.len() == drawn.cursor.0 {
                drawn.rows.push(String::new());
            }
        }
        // A mark typed before a letter joins it, and then the text up to the cursor reads longer than the whole.
        drawn.cursor.0 = drawn.cursor.0.min(drawn.rows.len() - 1);
        drawn
    }

    fn rows_of(&self, line: &str, columns: usize) -> Vec<String> {
        let shown = if self.is_secret {
            "•".repeat(line.graphemes(true).count())
        } else {
            visible_line(line)
        };
        let mut rows = vec![String::new()];
        let mut used = 0;
        for letter in shown.chars() {
            let width = letter.width().unwrap_or(0);
            if used + width > columns {
                rows.push(String::new());
                used = 0;
            }
            used += width;
            if let Some(row) = rows.last_mut() {
                row.push(letter);
            }
        }
        rows
    }

    fn before(&self) -> usize {
        let mut graphemes = self.text[..self.cursor].grapheme_indices(true);
        graphemes.next_back().map_or(0, |(at, _)| at)
    }

    fn after(&self) -> usize {
        let next = self.text[self.cursor..].graphemes(true).next();
        self.cursor + next.map_or(0, str::len)
    }

    fn line_start(&self) -> usize {
        self.text[..self.cursor].rfind('\n').map_or(0, |at| at + 1)
    }

    fn line_end(&self) -> usize {
        let rest = &self.text[self.cursor..];
        self.cursor + rest.find('\n').unwrap_or(rest.len())
    }

    fn column(&self) -> usize {
        self.text[self.line_start()..self.cursor].graphemes(true).count()
    }

    fn go_to_column(&mut self, column: usize) {
        let start = self.line_start();
        let line = &self.text[start..self.line_end()];
        let before: usize = line.graphemes(true).take(column).map(str::len).sum();
        self.cursor = start + before;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn typed(text: &str) -> TextBox {
        let mut typed = TextBox::long();
        assert!(typed.insert(text));
        typed
    }

    #[test]
    fn a_grapheme_is_deleted_as_one() {
        let mut text = typed("数👩\u{200d}💻");
        text.backspace();
        assert_eq!(text.text(), "数");
        text.left();
        text.delete();
        assert_eq!(text.text(), "");
    }

    #[test]
    fn the_cursor_moves_between_lines_in_its_column() {
        let mut text = typed("one\n二二二\nthree");
        assert!(text.up());
        assert_eq!(text.cursor, "one\n二二二".len());
        text.left();
        assert!(text.up());
        assert_eq!(text.cursor, 2);
        assert!(!text.up());
        text.delete_to_line_end();
        assert_eq!(text.text(), "on\n二二二\nthree");
    }

    #[test]
    fn wide_letters_break_rows_and_the_cursor_is_behind_them() {
        let drawn = typed("数据库a").draw(4);
        assert_eq!(drawn.rows, ["数据", "库a"]);
        assert_eq!(drawn.cursor, (1, 3));
        assert_eq!(typed("数据").draw(4).cursor, (1, 0));
    }

    #[test]
    fn a_secret_is_dots_and_an_escape_that_is_pasted_does_not_act() {
        let mut secret = TextBox {
            is_secret: true,
            ..TextBox::default()
        };
        assert!(secret.insert("hunter2"));
        assert_eq!(secret.draw(20).rows, ["•••••••"]);
        assert_eq!(typed("a\u{1b}[2J").draw(20).rows, ["a␛[2J"]);
    }

    #[test]
    fn a_word_is_deleted_with_the_blank_behind_it_kept() {
        let mut text = typed("use 数据库 ");
        text.delete_word();
        assert_eq!(text.text(), "use ");
    }

    proptest! {
        #[test]
        fn any_editing_leaves_the_cursor_inside(edits in prop::collection::vec((0u8..12, "[a-z数\n\u{300}\u{1f469}\u{200d} ]{0,3}"), 0..60)) {
            let mut text = TextBox::long();
            for (edit, letters) in edits {
                match edit {
                    0 => text.backspace(),
                    1 => text.delete(),
                    2 => text.left(),
                    3 => text.right(),
                    4 => drop(text.up()),
                    5 => drop(text.down()),
                    6 => text.delete_word(),
                    7 => text.delete_to_line_start(),
                    8 => text.delete_to_line_end(),
                    9 => text.go_to_line_start(),
                    _ => drop(text.insert(&letters)),
                }
                prop_assert!(text.text().is_char_boundary(text.cursor));
                let drawn = text.draw(5);
                prop_assert!(drawn.cursor.0 < drawn.rows.len());
            }
        }
    }
}
