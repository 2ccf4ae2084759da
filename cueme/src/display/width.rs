//! Text in columns: a Chinese character takes two of them.

use std::ops::Range;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Returns `text` cut to `columns`, with an ellipsis where something was left out.
pub(crate) fn shorten(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let mut short = take_columns(text, columns.saturating_sub(1)).to_owned();
    short.push('…');
    short
}

/// Returns `text` with spaces behind it up to `columns`.
pub(crate) fn pad(text: &str, columns: usize) -> String {
    let missing = columns.saturating_sub(text.width());
    format!("{text}{}", " ".repeat(missing))
}

/// Breaks `text` into lines of at most `columns`, at spaces where there are any.
pub(crate) fn wrap(text: &str, columns: usize) -> Vec<String> {
    let lines = text.lines().flat_map(|line| {
        let broken = break_line(line, columns);
        broken.into_iter().map(|range| line[range].to_owned())
    });
    lines.collect()
}

/// Returns the parts into which a line is broken; blanks at a break belong to no part.
pub(crate) fn break_line(line: &str, columns: usize) -> Vec<Range<usize>> {
    let columns = columns.max(2);
    let mut parts = Vec::new();
    let mut start = 0;
    loop {
        let rest = &line[start..];
        let fitting = take_columns(rest, columns);
        if fitting.len() == rest.len() {
            parts.push(start..line.len());
            return parts;
        }
        // A break at a space keeps words whole; a line without one is broken where it must be.
        let end = fitting
            .rfind(' ')
            .filter(|at| !fitting[..*at].trim().is_empty())
            .unwrap_or(fitting.len());
        // A character wider than the line would never fit, and still has to be shown.
        let end = if end == 0 {
            rest.chars().next().map_or(rest.len(), char::len_utf8)
        } else {
            end
        };
        parts.push(start..start + rest[..end].trim_end().len());
        start += end + (rest[end..].len() - rest[end..].trim_start().len());
    }
}

/// Returns the beginning of `text` that takes at most `columns`.
fn take_columns(text: &str, columns: usize) -> &str {
    let mut used = 0;
    for (at, c) in text.char_indices() {
        used += c.width().unwrap_or(0);
        if used > columns {
            return &text[..at];
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_characters_take_two_columns() {
        assert_eq!(shorten("数据库迁移", 7), "数据库…");
        assert_eq!(pad("数据", 6), "数据  ");
        assert_eq!(shorten("short", 7), "short");
    }

    #[test]
    fn lines_break_at_spaces_and_never_grow_too_long() {
        assert_eq!(wrap("one two three", 8), ["one two", "three"]);
        assert_eq!(wrap("数据库迁移", 4), ["数据", "库迁", "移"]);
        assert_eq!(wrap("a\n\nb", 10), ["a", "", "b"]);
        for line in wrap(&"abc 数据 ".repeat(50), 13) {
            assert!(line.width() <= 13, "{line}");
        }
    }

    #[test]
    fn a_line_narrower_than_its_characters_still_ends() {
        assert_eq!(wrap("数据", 1), ["数", "据"]);
    }
}
