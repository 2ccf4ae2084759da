//! The tags, and what it means for one to be alone on its line.

use std::fmt;

/// The blanks that may surround a tag on its line.
///
/// CR is among them so that a tag line may end in CRLF.
pub(super) const BLANKS: [char; 3] = [' ', '\t', '\r'];

/// The common prefix of our tags, known or not.
pub(super) const FAMILY: &str = "cueme_";

/// The blocks an envelope may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Block {
    Prompt,
    Payload,
}

impl Block {
    pub(super) const ALL: [Self; 2] = [Self::Prompt, Self::Payload];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Prompt => "cueme_prompt",
            Self::Payload => "cueme_payload",
        }
    }

    pub(super) const fn open(self) -> &'static str {
        match self {
            Self::Prompt => "<cueme_prompt>",
            Self::Payload => "<cueme_payload>",
        }
    }

    pub(super) const fn close(self) -> &'static str {
        match self {
            Self::Prompt => "</cueme_prompt>",
            Self::Payload => "</cueme_payload>",
        }
    }
}

impl fmt::Display for Block {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Returns all four tags.
pub(super) fn all_tags() -> impl Iterator<Item = &'static str> {
    Block::ALL
        .into_iter()
        .flat_map(|block| [block.open(), block.close()])
}

/// Returns whether `line` holds `tag` and nothing but blanks around it.
pub(super) fn is_alone(line: &str, tag: &str) -> bool {
    line.trim_matches(BLANKS) == tag
}
