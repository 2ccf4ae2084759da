//! The grammar, in nom, over whole lines.
//!
//! Lines and closing tags are found by memchr, so the text of a block is never looked at character by
//! character. The grammar only says which blocks stand where; [`super::classify`] explains what does not fit.

use memchr::{memchr, memmem};
use nom::branch::alt;
use nom::bytes::complete::{tag, take_while};
use nom::combinator::{cut, eof, map, verify};
use nom::error::{ErrorKind, ParseError};
use nom::multi::many0_count;
use nom::sequence::{delimited, preceded, terminated};
use nom::{IResult, Parser};

use super::tag::{BLANKS, Block};

/// One block as it stands in the text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found<'a> {
    /// The kind of block.
    pub(super) block: Block,
    /// From the beginning of its opening line to the end of the text.
    pub(super) at: &'a str,
    /// The text between the tag lines, without the line ending before the closing tag.
    pub(super) content: &'a str,
}

/// The position at which the grammar could not go on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stuck<'a> {
    /// The rest of the input there.
    pub(super) at: &'a str,
    /// The block that was open and never closed, if one was.
    pub(super) open: Option<Block>,
}

impl<'a> ParseError<&'a str> for Stuck<'a> {
    fn from_error_kind(at: &'a str, _: ErrorKind) -> Self {
        Self { at, open: None }
    }

    fn append(_: &'a str, _: ErrorKind, other: Self) -> Self {
        other
    }
}

type Parsed<'a, T> = IResult<&'a str, T, Stuck<'a>>;

/// Parses the next block, or nothing at the end of the text.
pub(super) fn next_block(input: &str) -> Parsed<'_, Option<Found<'_>>> {
    preceded(blank_lines, alt((map(eof, |_| None), map(any_block, Some)))).parse(input)
}

fn any_block(input: &str) -> Parsed<'_, Found<'_>> {
    alt((block(Block::Prompt), block(Block::Payload))).parse(input)
}

/// Parses one block.
///
/// Once the opening tag has matched, nothing else can, so a missing close tag is reported as exactly that.
fn block<'a>(block: Block) -> impl Parser<&'a str, Output = Found<'a>, Error = Stuck<'a>> {
    move |at: &'a str| {
        let mut whole = preceded(tag_line(block.open()), cut(until_close(block)));
        map(|input| whole.parse(input), |content| Found { block, at, content }).parse(at)
    }
}

/// Matches a line that holds `literal` and only blanks around it.
fn tag_line<'a>(literal: &'static str) -> impl Parser<&'a str, Output = &'a str, Error = Stuck<'a>> {
    terminated(delimited(blanks, tag(literal), blanks), alt((tag("\n"), eof)))
}

fn blanks(input: &str) -> Parsed<'_, &str> {
    take_while(|c| BLANKS.contains(&c)).parse(input)
}

fn blank_lines(input: &str) -> Parsed<'_, usize> {
    many0_count(verify(line, |line: &str| line.trim().is_empty())).parse(input)
}

/// Matches one line with its line feed; there is none at the end of the text.
fn line(input: &str) -> Parsed<'_, &str> {
    if input.is_empty() {
        return Err(nom::Err::Error(Stuck::from_error_kind(input, ErrorKind::Eof)));
    }
    let end = memchr(b'\n', input.as_bytes()).map_or(input.len(), |at| at + 1);
    let (line, rest) = input.split_at(end);
    Ok((rest, line))
}

/// Takes everything up to the line that closes `block`, and that line.
///
/// Searching for the tag and then looking only at its surroundings passes over all other text at the speed
/// of memchr, and stays linear for a text that mentions the tag a million times.
fn until_close<'a>(block: Block) -> impl Parser<&'a str, Output = &'a str, Error = Stuck<'a>> {
    move |input: &'a str| {
        for hit in memmem::find_iter(input.as_bytes(), block.close()) {
            let before = input[..hit].trim_end_matches(BLANKS);
            let after = input[hit + block.close().len()..].trim_start_matches(BLANKS);
            if ends_line(before) && begins_line_end(after) {
                let rest = after.strip_prefix('\n').unwrap_or(after);
                return Ok((rest, without_line_ending(before)));
            }
        }
        Err(nom::Err::Error(Stuck {
            at: input,
            open: Some(block),
        }))
    }
}

fn ends_line(before: &str) -> bool {
    before.is_empty() || before.ends_with('\n')
}

fn begins_line_end(after: &str) -> bool {
    after.is_empty() || after.starts_with('\n')
}

/// Removes the line ending that belongs to the closing tag line rather than to the text.
fn without_line_ending(text: &str) -> &str {
    text.strip_suffix('\n').unwrap_or(text).trim_end_matches('\r')
}
