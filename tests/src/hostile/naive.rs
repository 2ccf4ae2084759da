//! A second reading of the envelope rules, as plain as can be: line by line, no search, no grammar.
//!
//! It is slow and says little about mistakes, but it is short enough to be seen to be right, so the real parser is
//! held against it.

use protocol_spec::envelope::{Envelope, EnvelopeError};

/// The content of the blocks.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Blocks {
    pub(crate) prompt: String,
    /// The content of the payload block, trimmed, unless it is blank or null.
    pub(crate) payload: Option<String>,
}

/// Why there are none; the line is that of the mistake, or of the opening tag.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    Outside(usize),
    Repeated(usize),
    Unclosed,
    PayloadInPause(usize),
    NoPrompt,
    BlankPrompt(usize),
}

/// Reads `text` as the envelope of a cue or of a pause.
pub(crate) fn scan(text: &str, is_pause: bool) -> Result<Blocks, Refusal> {
    let (mut prompt, mut payload) = (None, None);
    let mut lines = text.split('\n').enumerate();
    while let Some((index, line)) = lines.next() {
        let (place, close) = match bare(line) {
            "<cueme_prompt>" => (&mut prompt, "</cueme_prompt>"),
            "<cueme_payload>" => (&mut payload, "</cueme_payload>"),
            _ if line.chars().all(char::is_whitespace) => continue,
            _ => return Err(Refusal::Outside(index + 1)),
        };
        let mut content: Vec<&str> = Vec::new();
        loop {
            match lines.next() {
                None => return Err(Refusal::Unclosed),
                Some((_, line)) if bare(line) == close => break,
                Some((_, line)) => content.push(line.trim_end_matches('\r')),
            }
        }
        if place.is_some() {
            return Err(Refusal::Repeated(index + 1));
        }
        *place = Some((index + 1, content.join("\n")));
    }
    if let (true, Some((line, _))) = (is_pause, &payload) {
        return Err(Refusal::PayloadInPause(*line));
    }
    let (line, prompt) = prompt.ok_or(Refusal::NoPrompt)?;
    if prompt
        .chars()
        .all(|c| c.is_whitespace() || "\u{200b}\u{2060}\u{feff}".contains(c))
    {
        return Err(Refusal::BlankPrompt(line));
    }
    let payload = payload.map(|(_, json)| json.trim().to_owned());
    Ok(Blocks {
        prompt,
        payload: payload.filter(|json| !json.is_empty() && json != "null"),
    })
}

fn bare(line: &str) -> &str {
    line.trim_matches([' ', '\t', '\r'])
}

/// Fails when the real parser reads `text` differently.
pub(crate) fn compare(text: &str, is_pause: bool, real: &Result<Envelope<'_>, EnvelopeError>) {
    let naive = scan(text, is_pause);
    match (&naive, real) {
        (Ok(blocks), Ok(envelope)) => {
            assert_eq!(envelope.prompt, blocks.prompt);
            // A payload is kept as it is written, the ends of its lines too.
            let written = envelope.payload.as_ref().map(|payload| {
                let lines = payload.written().split('\n');
                lines
                    .map(|line| line.trim_end_matches('\r'))
                    .collect::<Vec<_>>()
                    .join("\n")
            });
            assert_eq!(written, blocks.payload);
        }
        (Ok(blocks), Err(EnvelopeError::Payload { source, .. })) => {
            let json = blocks
                .payload
                .as_deref()
                .expect("a payload error needs a payload");
            let error = protocol_spec::payload::Payload::parse(json).expect_err("the naive scanner agrees");
            assert_eq!(error.kind(), source.kind());
        }
        (Err(refusal), Err(error)) => assert_eq!(Some(refusal), coarse(error).as_ref(), "{error}"),
        _ => panic!("{naive:?} but {real:?} for {text:?}"),
    }
}

/// Says in the naive scanner's words why the real parser refused.
fn coarse(error: &EnvelopeError) -> Option<Refusal> {
    Some(match error {
        EnvelopeError::TextOutside { line, .. }
        | EnvelopeError::TagSharesLine { line, .. }
        | EnvelopeError::MisspelledTag { line, .. }
        | EnvelopeError::UnknownBlock { line, .. }
        | EnvelopeError::StrayClose { line, .. }
        | EnvelopeError::LegacyJson { line, .. } => Refusal::Outside(*line),
        EnvelopeError::BareCarriageReturns { .. } => Refusal::Outside(1),
        EnvelopeError::RepeatedBlock { line, .. } => Refusal::Repeated(*line),
        EnvelopeError::Unclosed { .. }
        | EnvelopeError::CloseSharesLine { .. }
        | EnvelopeError::WrongClose { .. } => Refusal::Unclosed,
        EnvelopeError::PayloadInPause { line } => Refusal::PayloadInPause(*line),
        EnvelopeError::Empty | EnvelopeError::MissingPrompt { .. } => Refusal::NoPrompt,
        EnvelopeError::BlankPrompt { line } => Refusal::BlankPrompt(*line),
        _ => return None,
    })
}
