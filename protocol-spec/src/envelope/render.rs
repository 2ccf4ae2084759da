//! Writes an envelope: the inverse of parsing one.

use super::parse::{PROMPT_BYTES_MAX, fold_line_endings};
use super::tag::{Block, is_alone};
use crate::payload::{Payload, PayloadError};
use crate::text::is_blank;

/// The reason why a prompt or payload cannot be written as an envelope.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RenderError {
    /// There is nothing to ask.
    #[error("the prompt is blank")]
    BlankPrompt,
    /// The prompt has a line that would end its block early; HAP has no way to escape it.
    #[error("line {line} of the prompt is {tag}, which would end the block")]
    ClosesBlock {
        /// The line of the prompt, counted from one.
        line: usize,
        /// The closing tag.
        tag: &'static str,
    },
    /// The prompt is above [`PROMPT_BYTES_MAX`].
    #[error("the prompt has {bytes} bytes, at most {max} are allowed")]
    PromptTooLarge {
        /// The size, in bytes.
        bytes: usize,
        /// The maximum size, in bytes.
        max: usize,
    },
    /// The payload would be refused.
    #[error("payload: {0}")]
    Payload(#[from] PayloadError),
}

impl RenderError {
    /// Returns a hint on how to fix it.
    pub fn hint(&self) -> String {
        match self {
            Self::BlankPrompt => "write the question".into(),
            Self::ClosesBlock { tag, .. } => {
                format!("put other text on the same line as {tag}, for example backquotes")
            }
            Self::PromptTooLarge { .. } => {
                "put long material into a file and name its path in the prompt".into()
            }
            Self::Payload(error) => error.hint(),
        }
    }
}

/// Writes the envelope that parses back into `prompt` and `payload`.
///
/// Line endings of the prompt come back as LF, as [`parse_cue`](super::parse_cue) always gives them; those
/// at its very end are kept apart from the closing tag line except for CRs, which no envelope can carry there.
pub fn render(prompt: &str, payload: Option<&str>) -> Result<String, RenderError> {
    check_prompt(prompt)?;
    let mut envelope = String::with_capacity(prompt.len() + payload.map_or(0, str::len) + 80);
    push_block(&mut envelope, Block::Prompt, &fold_line_endings(prompt));
    if let Some(json) = payload
        .map(str::trim)
        .filter(|json| !json.is_empty() && *json != "null")
    {
        Payload::parse(json)?;
        push_block(&mut envelope, Block::Payload, json);
    }
    Ok(envelope)
}

fn check_prompt(prompt: &str) -> Result<(), RenderError> {
    let bytes = prompt.len();
    if bytes > PROMPT_BYTES_MAX {
        return Err(RenderError::PromptTooLarge {
            bytes,
            max: PROMPT_BYTES_MAX,
        });
    }
    if is_blank(prompt) {
        return Err(RenderError::BlankPrompt);
    }
    let tag = Block::Prompt.close();
    match prompt.split('\n').position(|line| is_alone(line, tag)) {
        Some(line) => Err(RenderError::ClosesBlock { line: line + 1, tag }),
        None => Ok(()),
    }
}

fn push_block(envelope: &mut String, block: Block, content: &str) {
    for part in [block.open(), "\n", content, "\n", block.close(), "\n"] {
        envelope.push_str(part);
    }
}
