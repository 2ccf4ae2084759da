//! The reasons for refusing an envelope, with the line and a hint.

use crate::payload::PayloadError;

/// The reason for refusing an envelope.
///
/// Displays as one lowercase fragment that names the line; [`EnvelopeError::hint`] says what to write instead.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EnvelopeError {
    /// A byte that cannot be UTF-8, with no byte order mark to explain it.
    #[error("line {line}: byte 0x{byte:02x} at offset {offset} is not UTF-8")]
    NotUtf8 {
        /// The line the byte is on.
        line: usize,
        /// Its position in the input, counted in bytes from zero.
        offset: usize,
        /// The byte itself.
        byte: u8,
    },
    /// UTF-16 was announced by a byte order mark, and the rest is not UTF-16.
    #[error("line {line}: the UTF-16 text is broken at byte offset {offset}")]
    BrokenUtf16 {
        /// The line of the broken unit.
        line: usize,
        /// Its position in the input, counted in bytes from zero.
        offset: usize,
    },
    /// Nothing but white space arrived.
    #[error("line 1: stdin is empty, a <cueme_prompt> block is required")]
    Empty,
    /// A JSON object where the tag blocks should be.
    #[error("line {line}: JSON envelopes are not supported, found `{found}`")]
    LegacyJson {
        /// The line the JSON begins on.
        line: usize,
        /// The beginning of the JSON.
        found: String,
    },
    /// The input has no line feed at all, only bare carriage returns.
    #[error("line 1: lines end in a bare CR, found `{found}`")]
    BareCarriageReturns {
        /// The beginning of the input.
        found: String,
    },
    /// Something other than white space before, between or after the blocks.
    #[error("line {line}: text outside the blocks: `{found}`")]
    TextOutside {
        /// The line of the text.
        line: usize,
        /// The text, truncated.
        found: String,
    },
    /// A tag with something else on its line.
    #[error("line {line}: {tag} must be alone on its line, found `{found}`")]
    TagSharesLine {
        /// The line of the tag.
        line: usize,
        /// The tag that was recognised.
        tag: &'static str,
        /// The line, truncated.
        found: String,
    },
    /// Something that is nearly one of the tags.
    #[error("line {line}: `{found}` is misspelled; write {meant}")]
    MisspelledTag {
        /// The line of the misspelling.
        line: usize,
        /// The tag as written.
        found: String,
        /// The tag it resembles.
        meant: &'static str,
    },
    /// A block of a name that HAP does not define.
    #[error("line {line}: unknown block {found}")]
    UnknownBlock {
        /// The line of its tag.
        line: usize,
        /// The tag as written, truncated.
        found: String,
    },
    /// A block that appears a second time.
    #[error("line {line}: a second {tag}, the first is on line {first_line}")]
    RepeatedBlock {
        /// The line of the second opening tag.
        line: usize,
        /// The opening tag.
        tag: &'static str,
        /// The line of the first opening tag.
        first_line: usize,
    },
    /// A closing tag where no block is open.
    #[error("line {line}: {tag} closes nothing")]
    StrayClose {
        /// The line of the closing tag.
        line: usize,
        /// The closing tag.
        tag: &'static str,
    },
    /// A block that is opened and never closed.
    #[error("line {line}: {open} is never closed")]
    Unclosed {
        /// The line of the opening tag.
        line: usize,
        /// The opening tag.
        open: &'static str,
        /// The closing tag that is missing.
        close: &'static str,
    },
    /// A block whose closing tag is there, but shares its line with text.
    #[error("line {line}: {close} must be alone on its line to close the block, found `{found}`")]
    CloseSharesLine {
        /// The line that holds the closing tag.
        line: usize,
        /// The closing tag.
        close: &'static str,
        /// The line, truncated.
        found: String,
    },
    /// A block that is closed by something other than its own closing tag.
    #[error("line {line}: `{found}` does not close the block opened on line {open_line}, {close} does")]
    WrongClose {
        /// The line of the wrong closing tag.
        line: usize,
        /// The text found instead, truncated.
        found: String,
        /// The line of the opening tag.
        open_line: usize,
        /// The closing tag that was needed.
        close: &'static str,
    },
    /// A payload block without a prompt block.
    #[error("line {line}: the <cueme_prompt> block is missing")]
    MissingPrompt {
        /// The last line, where the search for the block ended.
        line: usize,
    },
    /// A prompt block with nothing to read in it.
    #[error("line {line}: the <cueme_prompt> block is blank")]
    BlankPrompt {
        /// The line of its opening tag.
        line: usize,
    },
    /// A prompt above [`PROMPT_BYTES_MAX`](super::PROMPT_BYTES_MAX).
    #[error("line {line}: the prompt has {bytes} bytes, at most {max} are allowed")]
    PromptTooLarge {
        /// The line of its opening tag.
        line: usize,
        /// The size, in bytes.
        bytes: usize,
        /// The maximum size, in bytes.
        max: usize,
    },
    /// A payload block, even a null one, in a pause.
    #[error("line {line}: a pause takes no <cueme_payload> block")]
    PayloadInPause {
        /// The line of its opening tag.
        line: usize,
    },
    /// An invalid payload.
    #[error("line {line}: payload: {source}")]
    Payload {
        /// The line of the mistake for malformed JSON, else the line the JSON begins on.
        line: usize,
        /// The reason for refusing the payload.
        source: PayloadError,
    },
}

impl EnvelopeError {
    /// Returns the line to look at, counted from one.
    pub fn line(&self) -> usize {
        match self {
            Self::Empty | Self::BareCarriageReturns { .. } => 1,
            Self::NotUtf8 { line, .. }
            | Self::BrokenUtf16 { line, .. }
            | Self::LegacyJson { line, .. }
            | Self::TextOutside { line, .. }
            | Self::TagSharesLine { line, .. }
            | Self::MisspelledTag { line, .. }
            | Self::UnknownBlock { line, .. }
            | Self::RepeatedBlock { line, .. }
            | Self::StrayClose { line, .. }
            | Self::Unclosed { line, .. }
            | Self::CloseSharesLine { line, .. }
            | Self::WrongClose { line, .. }
            | Self::MissingPrompt { line }
            | Self::BlankPrompt { line }
            | Self::PromptTooLarge { line, .. }
            | Self::PayloadInPause { line }
            | Self::Payload { line, .. } => *line,
        }
    }

    /// Returns a hint on how to fix the envelope.
    pub fn hint(&self) -> String {
        match self {
            Self::NotUtf8 { .. } => {
                "send UTF-8; in PowerShell set `$OutputEncoding = [Text.Encoding]::UTF8`, in cmd run `chcp 65001`".into()
            }
            Self::BrokenUtf16 { .. } => "send the text again in full, best as UTF-8".into(),
            Self::Empty | Self::MissingPrompt { .. } => {
                "write <cueme_prompt> alone on a line, the question below it, and </cueme_prompt> alone on the last line".into()
            }
            Self::LegacyJson { .. } => {
                "write the question between <cueme_prompt> and </cueme_prompt>, each alone on its line, and put JSON options between <cueme_payload> and </cueme_payload>".into()
            }
            Self::BareCarriageReturns { .. } => "end lines with LF or CRLF".into(),
            Self::TextOutside { .. } => {
                "move the text into the <cueme_prompt> block or remove it; a closing tag alone on a line always ends its block, so quote one with other text on its line".into()
            }
            Self::TagSharesLine { tag, .. } => format!("put {tag} on a line of its own"),
            Self::MisspelledTag { meant, .. } => format!("write {meant} exactly so, alone on its line"),
            Self::UnknownBlock { .. } => "only <cueme_prompt> and <cueme_payload> blocks exist".into(),
            Self::RepeatedBlock { tag, .. } => format!("merge both into one {tag} block"),
            Self::StrayClose { tag, .. } => {
                format!("remove this line, or write {} above its text", tag.replacen('/', "", 1))
            }
            Self::Unclosed { close, .. } => format!("write {close} alone on the line after the block's text"),
            Self::CloseSharesLine { close, .. } => format!("move {close} to a line of its own"),
            Self::WrongClose { close, .. } => format!("write {close} alone on that line"),
            Self::BlankPrompt { .. } => "write the question between <cueme_prompt> and </cueme_prompt>".into(),
            Self::PromptTooLarge { .. } => "put long material into a file and name its path in the prompt".into(),
            Self::PayloadInPause { .. } => {
                "remove the <cueme_payload> block, or ask with `cueme cue <agent_id> -`".into()
            }
            Self::Payload { source, .. } => source.hint(),
        }
    }

    /// Returns a short, stable name of the variant, for programs and test vectors.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::NotUtf8 { .. } => "not_utf8",
            Self::BrokenUtf16 { .. } => "broken_utf16",
            Self::Empty => "empty",
            Self::LegacyJson { .. } => "legacy_json",
            Self::BareCarriageReturns { .. } => "bare_carriage_returns",
            Self::TextOutside { .. } => "text_outside",
            Self::TagSharesLine { .. } => "tag_shares_line",
            Self::MisspelledTag { .. } => "misspelled_tag",
            Self::UnknownBlock { .. } => "unknown_block",
            Self::RepeatedBlock { .. } => "repeated_block",
            Self::StrayClose { .. } => "stray_close",
            Self::Unclosed { .. } => "unclosed",
            Self::CloseSharesLine { .. } => "close_shares_line",
            Self::WrongClose { .. } => "wrong_close",
            Self::MissingPrompt { .. } => "missing_prompt",
            Self::BlankPrompt { .. } => "blank_prompt",
            Self::PromptTooLarge { .. } => "prompt_too_large",
            Self::PayloadInPause { .. } => "payload_in_pause",
            Self::Payload { source, .. } => source.kind(),
        }
    }
}
