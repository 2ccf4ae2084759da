//! Splits long Markdown into parts that can each be rendered alone.

use std::borrow::Cow;

use protocol_spec::truncate::{self, boundary_from};

/// A part of a text.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::web) struct Part<'a> {
    /// The source to render. A code block that began earlier is opened again.
    pub(in crate::web) source: Cow<'a, str>,
    /// The part as it was written.
    pub(in crate::web) written: &'a str,
    /// The offset of the rest, if there is one.
    pub(in crate::web) next: Option<usize>,
}

/// Returns the offset of the final part of a long text, which has about `bytes_max` bytes.
pub(in crate::web) fn end(text: &str, bytes_max: usize) -> usize {
    let window = truncate::tail(text, bytes_max);
    let start = text.len() - window.len();
    let near_enough = window.len() / 2;
    [
        window.find("\n\n").map(|at| at + 2),
        window.find('\n').map(|at| at + 1),
    ]
    .into_iter()
    .flatten()
    .find(|at| *at < near_enough)
    .map_or(start, |at| start + at)
}

/// Returns the part of `text` that begins at byte `from` and has about `bytes_max` bytes.
///
/// `from` beyond the text, or inside a character, means the next place where a part can begin.
pub(in crate::web) fn part(text: &str, from: usize, bytes_max: usize) -> Part<'_> {
    let start = boundary_from(text, from);
    let end = cut(text, start, bytes_max);
    let slice = &text[start..end];
    let source = match open_fence(&text[..start]) {
        Some(fence) => Cow::Owned(format!("{fence}\n{slice}")),
        None => Cow::Borrowed(slice),
    };
    Part {
        source,
        written: slice,
        next: (end < text.len()).then_some(end),
    }
}

/// Prefers to cut after a blank line, then after a line, then anywhere.
fn cut(text: &str, start: usize, bytes_max: usize) -> usize {
    if text.len() - start <= bytes_max {
        return text.len();
    }
    let limit = boundary_from(text, start + bytes_max);
    let window = &text[start..limit];
    let far_enough = window.len() / 2;
    [
        window.rfind("\n\n").map(|at| at + 2),
        window.rfind('\n').map(|at| at + 1),
    ]
    .into_iter()
    .flatten()
    .find(|at| *at > far_enough)
    .map_or(limit, |at| start + at)
}

/// Returns the line that opened the code block in which `before` ends.
fn open_fence(before: &str) -> Option<&str> {
    let mut open: Option<(&str, char, usize)> = None;
    for line in before.lines() {
        let trimmed = line.trim_start();
        let Some(mark) = trimmed.chars().next().filter(|mark| matches!(mark, '`' | '~')) else {
            continue;
        };
        let length = trimmed.chars().take_while(|letter| *letter == mark).count();
        match open {
            None if length >= 3 => open = Some((trimmed, mark, length)),
            Some((_, opened, least))
                if mark == opened && length >= least && trimmed[length..].trim().is_empty() =>
            {
                open = None;
            }
            None | Some(_) => {}
        }
    }
    open.map(|(line, _, _)| line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_text_is_one_part() {
        let whole = part("a\n\nb", 0, 100);
        assert_eq!((whole.source.as_ref(), whole.next), ("a\n\nb", None));
    }

    #[test]
    fn parts_put_together_are_the_text_whatever_is_in_it() {
        let text = "# 标题\n\nsome words\n\n".repeat(40) + &"长".repeat(500);
        let mut from = 0;
        let mut seen = String::new();
        loop {
            let part = part(&text, from, 97);
            seen.push_str(&part.source);
            match part.next {
                Some(next) => from = next,
                None => break,
            }
        }
        assert_eq!(seen, text);
    }

    #[test]
    fn a_code_block_that_is_cut_is_opened_again() {
        let text = format!("```rust\n{}```\nend", "let a = 1;\n".repeat(20));
        let first = part(&text, 0, 100);
        let second = part(&text, first.next.unwrap(), 1000);
        assert!(second.source.starts_with("```rust\nlet a"), "{}", second.source);
        assert_eq!(part(&text, text.len() - 3, 100).source, "end");
    }

    #[test]
    fn the_end_begins_with_a_paragraph_or_a_line_where_one_is_near() {
        let paragraphs = "words of it\n\n".repeat(100);
        assert!(paragraphs[end(&paragraphs, 200)..].starts_with("words"));
        let lines = "words of it\n".repeat(100);
        assert!(lines[end(&lines, 200)..].starts_with("words"));
        let line = "长".repeat(500);
        assert!((300..=303).contains(&(line.len() - end(&line, 302))));
        assert_eq!(end("ab", 10), 0);
    }

    #[test]
    fn an_offset_that_is_nowhere_does_no_harm() {
        assert_eq!(part("长", 1, 10).source, "");
        assert_eq!(
            part("ab", 99, 10),
            Part {
                source: "".into(),
                written: "",
                next: None
            }
        );
    }
}
