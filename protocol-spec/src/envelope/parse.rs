//! Text to [`Envelope`]: which blocks a cue and a pause take, and what their content must be.

use std::borrow::Cow;

use memchr::{memchr_iter, memmem};

use super::EnvelopeError;
use super::classify::{explain, line_of, nothing_there};
use super::grammar::{Found, next_block};
use super::tag::Block;
use crate::payload::{Payload, PayloadError};
use crate::text::is_blank;

/// The most bytes a prompt may have.
pub const PROMPT_BYTES_MAX: usize = 32 * 1024 * 1024;

/// A question as an agent wrote it, checked.
#[derive(Clone, Debug, PartialEq)]
pub struct Envelope<'a> {
    /// The question, verbatim, except that line endings are LF. Never blank.
    pub prompt: Cow<'a, str>,
    /// The payload; `None` for a missing, blank or null block.
    pub payload: Option<Payload>,
}

/// Parses the envelope of `cueme cue`: a prompt block, and perhaps a payload block, in any order.
pub fn parse_cue(text: &str) -> Result<Envelope<'_>, EnvelopeError> {
    let blocks = parse_blocks(text)?;
    let prompt = prompt_of(text, blocks.prompt)?;
    let payload = match blocks.payload {
        Some(found) => payload_of(text, found)?,
        None => None,
    };
    Ok(Envelope { prompt, payload })
}

/// Parses the envelope of `cueme pause`: a prompt block and nothing else.
pub fn parse_pause(text: &str) -> Result<Envelope<'_>, EnvelopeError> {
    let blocks = parse_blocks(text)?;
    if let Some(found) = blocks.payload {
        return Err(EnvelopeError::PayloadInPause {
            line: line_of(text, found.at),
        });
    }
    Ok(Envelope {
        prompt: prompt_of(text, blocks.prompt)?,
        payload: None,
    })
}

/// The blocks of one envelope, each at most once.
#[derive(Default)]
struct Blocks<'a> {
    prompt: Option<Found<'a>>,
    payload: Option<Found<'a>>,
}

fn parse_blocks(text: &str) -> Result<Blocks<'_>, EnvelopeError> {
    let mut blocks = Blocks::default();
    let mut rest = text;
    loop {
        match next_block(rest) {
            Ok((_, None)) => return Ok(blocks),
            Ok((after, Some(found))) => {
                blocks.put(text, found)?;
                rest = after;
            }
            Err(nom::Err::Error(stuck) | nom::Err::Failure(stuck)) => return Err(explain(text, stuck)),
            // The grammar is made of complete parsers, which never ask for more input.
            Err(nom::Err::Incomplete(_)) => return Err(nothing_there(text)),
        }
    }
}

impl<'a> Blocks<'a> {
    fn put(&mut self, text: &str, found: Found<'a>) -> Result<(), EnvelopeError> {
        let place = match found.block {
            Block::Prompt => &mut self.prompt,
            Block::Payload => &mut self.payload,
        };
        if let Some(first) = place {
            return Err(EnvelopeError::RepeatedBlock {
                line: line_of(text, found.at),
                tag: found.block.open(),
                first_line: line_of(text, first.at),
            });
        }
        *place = Some(found);
        Ok(())
    }
}

fn prompt_of<'a>(text: &str, found: Option<Found<'a>>) -> Result<Cow<'a, str>, EnvelopeError> {
    let Some(found) = found else {
        return Err(nothing_there(text));
    };
    let bytes = found.content.len();
    if bytes > PROMPT_BYTES_MAX {
        let line = line_of(text, found.at);
        return Err(EnvelopeError::PromptTooLarge {
            line,
            bytes,
            max: PROMPT_BYTES_MAX,
        });
    }
    if is_blank(found.content) {
        return Err(EnvelopeError::BlankPrompt {
            line: line_of(text, found.at),
        });
    }
    Ok(fold_line_endings(found.content))
}

fn payload_of(text: &str, found: Found<'_>) -> Result<Option<Payload>, EnvelopeError> {
    let json = found.content.trim();
    if json.is_empty() || json == "null" {
        return Ok(None);
    }
    Payload::parse(json).map(Some).map_err(|source| {
        let first_line = line_of(text, &text[offset_in(text, json)..]);
        match source {
            // The JSON reader counts lines from the beginning of the JSON; errors count them from the beginning of the
            // envelope.
            PayloadError::Syntax {
                line,
                column,
                message,
            } => {
                let line = first_line + line - 1;
                EnvelopeError::Payload {
                    line,
                    source: PayloadError::Syntax {
                        line,
                        column,
                        message,
                    },
                }
            }
            source => EnvelopeError::Payload {
                line: first_line,
                source,
            },
        }
    })
}

/// Turns CRLF into LF, and copies only when there is one.
///
/// All CRs right before an LF belong to the line ending: text that went through two conversions has two of
/// them. A CR anywhere else is text.
pub(super) fn fold_line_endings(text: &str) -> Cow<'_, str> {
    if memmem::find(text.as_bytes(), b"\r\n").is_none() {
        return Cow::Borrowed(text);
    }
    let mut folded = String::with_capacity(text.len());
    let mut start = 0;
    for end in memchr_iter(b'\n', text.as_bytes()) {
        folded.push_str(text[start..end].trim_end_matches('\r'));
        folded.push('\n');
        start = end + 1;
    }
    folded.push_str(&text[start..]);
    Cow::Owned(folded)
}

/// Returns where `part`, a slice of `text`, begins in it.
pub(super) fn offset_in(text: &str, part: &str) -> usize {
    (part.as_ptr() as usize).saturating_sub(text.as_ptr() as usize)
}
