//! Explains why the grammar refused a text.
//!
//! Only refused envelopes come here, so this may look at every line as often as it likes.

use memchr::memchr_iter;

use super::EnvelopeError;
use super::grammar::Stuck;
use super::parse::offset_in;
use super::tag::{BLANKS, Block, FAMILY, all_tags, is_alone};
use crate::text::shorten;

/// Returns the number of the line on which `rest`, a slice of `text`, begins.
pub(super) fn line_of(text: &str, rest: &str) -> usize {
    memchr_iter(b'\n', &text.as_bytes()[..offset_in(text, rest)]).count() + 1
}

/// Explains why there is no prompt in a text whose blocks are all in order.
pub(super) fn nothing_there(text: &str) -> EnvelopeError {
    if text.trim().is_empty() {
        EnvelopeError::Empty
    } else {
        EnvelopeError::MissingPrompt {
            line: text.lines().count().max(1),
        }
    }
}

/// Explains why the grammar is stuck.
pub(super) fn explain(text: &str, stuck: Stuck<'_>) -> EnvelopeError {
    match stuck.open {
        Some(block) => unclosed(text, stuck.at, block),
        None => outside(text, stuck.at),
    }
}

/// Explains a block without its closing line; `body` is everything after the opening one.
fn unclosed(text: &str, body: &str, block: Block) -> EnvelopeError {
    // The opening line ends right before the body, with a line feed unless the text ends there.
    let open_end = offset_in(text, body).saturating_sub(1);
    let open_line = memchr_iter(b'\n', &text.as_bytes()[..open_end]).count() + 1;
    let first_line = line_of(text, body);
    let close = block.close();

    if let Some((line, found)) = last_line_with(body, |line| line.contains(close)) {
        return EnvelopeError::CloseSharesLine {
            line: first_line + line,
            close,
            found,
        };
    }
    if let Some((line, found)) = last_line_with(body, |line| is_wrong_close(line, body, block)) {
        return EnvelopeError::WrongClose {
            line: first_line + line,
            found,
            open_line,
            close,
        };
    }
    EnvelopeError::Unclosed {
        line: open_line,
        open: block.open(),
        close,
    }
}

/// Returns the last line that `wanted` accepts, counted from zero, and how it reads.
///
/// The last one, because that is where the closing tag should have been.
fn last_line_with(body: &str, wanted: impl Fn(&str) -> bool) -> Option<(usize, String)> {
    let (line, found) = body
        .split('\n')
        .enumerate()
        .filter(|(_, line)| wanted(line))
        .last()?;
    Some((line, shorten(found)))
}

/// Returns whether `line`, within `body`, was meant to close `block` and does not.
///
/// The closing tag of a block that is opened in the body belongs to that block: the mistake is above it.
fn is_wrong_close(line: &str, body: &str, block: Block) -> bool {
    let line = line.trim_matches(BLANKS);
    match Block::ALL.into_iter().find(|other| other.close() == line) {
        Some(other) => !body.split('\n').any(|line| is_alone(line, other.open())),
        None => {
            resembled_tag(line) == Some(block.close()) || (line.starts_with("</") && is_unknown_tag(line))
        }
    }
}

/// Explains the line at which something other than a block begins.
fn outside(text: &str, rest: &str) -> EnvelopeError {
    let number = line_of(text, rest);
    let line = rest.split('\n').next().unwrap_or(rest).trim_matches(BLANKS);

    if !has_tag_line(text)
        && let Some(error) = not_an_envelope(text, rest, number)
    {
        return error;
    }
    if let Some(tag) = all_tags().find(|tag| *tag == line) {
        return EnvelopeError::StrayClose { line: number, tag };
    }
    if let Some(tag) = first_tag_in(line) {
        return EnvelopeError::TagSharesLine {
            line: number,
            tag,
            found: shorten(line),
        };
    }
    if let Some(meant) = resembled_tag(line) {
        return EnvelopeError::MisspelledTag {
            line: number,
            found: shorten(line),
            meant,
        };
    }
    if is_unknown_tag(line) {
        return EnvelopeError::UnknownBlock {
            line: number,
            found: shorten(line),
        };
    }
    EnvelopeError::TextOutside {
        line: number,
        found: shorten(line),
    }
}

/// Explains a text that was never an envelope: no tag stands alone on a line of it.
fn not_an_envelope(text: &str, rest: &str, line: usize) -> Option<EnvelopeError> {
    let found = || shorten(rest.split('\n').next().unwrap_or(rest));
    if rest.trim_start().starts_with('{') {
        return Some(EnvelopeError::LegacyJson { line, found: found() });
    }
    let bare_returns = text.contains('\r') && !text.contains('\n');
    if bare_returns
        && text
            .split('\r')
            .any(|line| all_tags().any(|tag| is_alone(line, tag)))
    {
        return Some(EnvelopeError::BareCarriageReturns { found: found() });
    }
    None
}

fn has_tag_line(text: &str) -> bool {
    text.split('\n')
        .any(|line| all_tags().any(|tag| is_alone(line, tag)))
}

/// Returns the tag that comes first in `line`.
fn first_tag_in(line: &str) -> Option<&'static str> {
    all_tags()
        .filter_map(|tag| Some((line.find(tag)?, tag)))
        .min()
        .map(|(_, tag)| tag)
}

/// Returns the tag that `line` would be with its case, spaces and hyphens put right.
fn resembled_tag(line: &str) -> Option<&'static str> {
    const LONGEST: usize = 64;
    if line.len() > LONGEST || !line.starts_with('<') || !line.ends_with('>') {
        return None;
    }
    let plain: String = line
        .chars()
        .filter(|c| !c.is_whitespace())
        .map(|c| if c == '-' { '_' } else { c.to_ascii_lowercase() })
        .collect();
    all_tags().find(|tag| *tag == plain)
}

fn is_unknown_tag(line: &str) -> bool {
    let Some(inner) = line.strip_prefix('<').and_then(|line| line.strip_suffix('>')) else {
        return false;
    };
    let name = inner.strip_prefix('/').unwrap_or(inner);
    name.starts_with(FAMILY)
        && name
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
}
