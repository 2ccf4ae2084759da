//! Markdown as a terminal shows it: the source with tones. Nothing that an agent wrote is left out or rearranged, because
//! a renderer that drops a mark or a definition can drop what a person has to consent to.

use cueme_broker::patch::{Segment, segments};
use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag};

use super::tone::{StyledLine, Tone, TonedText};
use super::visible::visible;

/// The distance between tab stops.
const TAB_COLUMNS: usize = 4;

/// Returns Markdown in lines of at most `columns`; hidden characters are spelled out.
pub(crate) fn markdown_lines(text: &str, columns: usize) -> Vec<StyledLine> {
    let mut toned = TonedText::new(without_tabs(&visible(text)), Tone::Plain);
    let source = toned.text().to_owned();
    for segment in segments(&source) {
        match segment {
            Segment::Markdown(part) => paint_markdown(part, offset(&source, part), &mut toned),
            Segment::Patch(part) => paint_patch(part, offset(&source, part), &mut toned),
        }
    }
    toned.lines(columns)
}

/// Returns text that means nothing as Markdown, in lines of at most `columns`; hidden characters are spelled out.
pub(crate) fn plain_lines(text: &str, columns: usize, tone: Tone) -> Vec<StyledLine> {
    TonedText::new(without_tabs(&visible(text)), tone).lines(columns)
}

/// Returns where a part begins in the text that it is a slice of.
fn offset(whole: &str, part: &str) -> usize {
    part.as_ptr() as usize - whole.as_ptr() as usize
}

fn paint_markdown(text: &str, at: usize, toned: &mut TonedText) {
    let options = Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TABLES | Options::ENABLE_TASKLISTS;
    for (event, range) in Parser::new_ext(text, options).into_offset_iter() {
        let tone = match event {
            Event::Start(Tag::Heading { .. } | Tag::Strong) => Tone::Strong,
            Event::Start(Tag::Emphasis) => Tone::Emphasis,
            Event::Start(Tag::Link { .. } | Tag::Image { .. }) => Tone::Link,
            Event::Start(Tag::Strikethrough) | Event::Rule => Tone::Quiet,
            Event::Code(_) => Tone::Accent,
            Event::Start(Tag::CodeBlock(kind)) if is_diff(&kind) => {
                paint_patch(&text[range.clone()], at + range.start, toned);
                continue;
            }
            Event::Start(Tag::CodeBlock(_)) => Tone::Accent,
            _ => continue,
        };
        toned.paint(at + range.start..at + range.end, tone);
    }
}

fn is_diff(kind: &CodeBlockKind<'_>) -> bool {
    matches!(kind, CodeBlockKind::Fenced(info) if matches!(info.split_whitespace().next(), Some("diff" | "patch")))
}

fn paint_patch(text: &str, at: usize, toned: &mut TonedText) {
    let mut start = at;
    for line in text.split_inclusive('\n') {
        let tone = match line.as_bytes() {
            [b'+', ..] => Tone::Good,
            [b'-', ..] => Tone::Bad,
            [b'@', b'@', ..] => Tone::Accent,
            [b' ' | b'\n', ..] | [] => Tone::Plain,
            _ => Tone::Quiet,
        };
        toned.paint(start..start + line.len(), tone);
        start += line.len();
    }
}

fn without_tabs(text: &str) -> String {
    if !text.contains('\t') {
        return text.to_owned();
    }
    let mut shown = String::with_capacity(text.len() + 64);
    let mut column = 0;
    for letter in text.chars() {
        match letter {
            '\t' => {
                let blanks = TAB_COLUMNS - column % TAB_COLUMNS;
                shown.push_str(&" ".repeat(blanks));
                column += blanks;
            }
            '\n' => {
                shown.push('\n');
                column = 0;
            }
            letter => {
                shown.push(letter);
                column += 1;
            }
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn text_of(lines: &[StyledLine]) -> String {
        lines.iter().flatten().map(|piece| piece.text.as_str()).collect()
    }

    fn tone_of(lines: &[StyledLine], words: &str) -> Tone {
        let found = lines.iter().flatten().find(|piece| piece.text.contains(words));
        found
            .map(|piece| piece.tone)
            .unwrap_or_else(|| panic!("{words} is not in {lines:?}"))
    }

    #[test]
    fn markdown_is_toned_and_keeps_its_marks() {
        let lines = markdown_lines("# Plan\n\nUse **SQLite** and `cargo test`.\n\n[x]: /secret", 80);
        assert_eq!(tone_of(&lines, "# Plan"), Tone::Strong);
        assert_eq!(tone_of(&lines, "**SQLite**"), Tone::Strong);
        assert_eq!(tone_of(&lines, "`cargo test`"), Tone::Accent);
        assert_eq!(tone_of(&lines, "[x]: /secret"), Tone::Plain);
    }

    #[test]
    fn a_patch_has_its_colours_with_and_without_a_code_block() {
        let patch = "--- a/x\n+++ b/x\n@@ -1,1 +1,1 @@\n-old\n+new\n";
        for text in [patch.to_owned(), format!("Look:\n\n```diff\n{patch}```\n")] {
            let lines = markdown_lines(&text, 80);
            assert_eq!(tone_of(&lines, "-old"), Tone::Bad, "{text}");
            assert_eq!(tone_of(&lines, "+new"), Tone::Good, "{text}");
            assert_eq!(tone_of(&lines, "@@ -1,1"), Tone::Accent, "{text}");
        }
    }

    proptest! {
        #[test]
        fn nothing_that_is_written_is_left_out(text in "([ -~\n\t]|[*_`#|<>\\[\\]()~+-]|[数据\u{1b}\u{202e}\u{300}]){0,200}", columns in 2usize..90) {
            let lines = markdown_lines(&text, columns);
            let solid = |text: &str| text.chars().filter(|letter| !letter.is_whitespace()).collect::<String>();
            prop_assert_eq!(solid(&text_of(&lines)), solid(&visible(&text)));
            let acts = lines.iter().flatten().any(|piece| piece.text.chars().any(char::is_control));
            prop_assert!(!acts);
        }
    }
}
