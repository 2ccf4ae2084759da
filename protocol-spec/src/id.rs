//! The names of things: agents, questions, calls, and the runtimes agents live in.
//!
//! Callers create ids and pass them in as data; this crate generates no random numbers.

use std::fmt;
use std::str::FromStr;

use crate::visible::quoted;
use serde::{Deserialize, Serialize};
use thiserror::Error;
use uuid::Uuid;

/// The longest agent id that is accepted, in bytes.
pub const AGENT_ID_BYTES_MAX: usize = 64;
/// The longest runtime tag that is accepted, in bytes.
pub const RUNTIME_TAG_BYTES_MAX: usize = 64;
/// The length of a cue id, in characters.
pub const CUE_ID_CHARS: usize = 12;

/// Letters that are not mistaken for one another when read aloud or typed (no i, l, o, u).
const CUE_ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
const CONSONANTS: &[u8; 16] = b"bdfgjklmnprstvwz";
const VOWELS: &[u8; 4] = b"aeio";

/// The reason for refusing a text as an id.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum IdError {
    /// Not an agent id.
    #[error("{} is not an agent id; use only lowercase letters, digits and '-'", quoted(.0))]
    Agent(String),
    /// Not a cue id.
    #[error("{} is not a question id (`cueme inbox` shows them)", quoted(.0))]
    Cue(String),
    /// Not a runtime tag; carries the corrected form where there is one.
    #[error("{} is not a runtime tag; use only lowercase letters, digits and '_'", quoted(.found))]
    Runtime {
        /// The given text.
        found: String,
        /// The nearest valid tag, if any letter of the text can be kept.
        corrected: Option<String>,
    },
}

/// A short, pronounceable agent id such as `bako-nefi`, safe in any shell.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct AgentId(Box<str>);

impl AgentId {
    /// Builds an id of four syllables out of 24 random bits.
    pub fn from_random(bits: u32) -> Self {
        let mut text = String::with_capacity(9);
        for syllable in 0..4u32 {
            if syllable == 2 {
                text.push('-');
            }
            let six = (bits >> (syllable * 6)) as usize;
            text.push(char::from(CONSONANTS[six & 15]));
            text.push(char::from(VOWELS[(six >> 4) & 3]));
        }
        Self(text.into())
    }

    /// Returns the id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for AgentId {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, IdError> {
        let fits = (1..=AGENT_ID_BYTES_MAX).contains(&text.len())
            && !text.starts_with('-')
            && text
                .bytes()
                .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-' || b == b'_');
        if fits {
            Ok(Self(text.into()))
        } else {
            Err(IdError::Agent(shorten(text)))
        }
    }
}

impl TryFrom<String> for AgentId {
    type Error = IdError;

    fn try_from(text: String) -> Result<Self, IdError> {
        text.parse()
    }
}

impl From<AgentId> for String {
    fn from(id: AgentId) -> Self {
        id.0.into()
    }
}

impl fmt::Display for AgentId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// The id of one question, short enough to type: twelve characters of which a unique prefix is enough for humans.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct CueId([u8; CUE_ID_CHARS]);

impl CueId {
    /// Builds an id out of 60 random bits.
    pub fn from_random(bits: u64) -> Self {
        let mut text = [0; CUE_ID_CHARS];
        for (index, slot) in text.iter_mut().enumerate() {
            *slot = CUE_ALPHABET[((bits >> (index * 5)) & 31) as usize];
        }
        Self(text)
    }

    /// Returns the id as text.
    pub fn as_str(&self) -> &str {
        // The bytes come from the alphabet above, which is ASCII.
        std::str::from_utf8(&self.0).unwrap_or_default()
    }
}

impl FromStr for CueId {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, IdError> {
        let bytes: [u8; CUE_ID_CHARS] = text
            .as_bytes()
            .try_into()
            .map_err(|_| IdError::Cue(shorten(text)))?;
        if bytes.iter().all(|byte| CUE_ALPHABET.contains(byte)) {
            Ok(Self(bytes))
        } else {
            Err(IdError::Cue(shorten(text)))
        }
    }
}

impl TryFrom<String> for CueId {
    type Error = IdError;

    fn try_from(text: String) -> Result<Self, IdError> {
        text.parse()
    }
}

impl From<CueId> for String {
    fn from(id: CueId) -> Self {
        id.as_str().to_owned()
    }
}

impl fmt::Display for CueId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl fmt::Debug for CueId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "CueId({self})")
    }
}

/// The permanent key of one call: minted by the caller (UUIDv7), the same on each retry of that call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RequestId(pub Uuid);

impl RequestId {
    /// Returns the key that a digest of a call's parts stands for: the same call, repeated, has the same key.
    pub fn from_digest(digest: [u8; 32]) -> Self {
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&digest[..16]);
        Self(uuid::Builder::from_custom_bytes(bytes).into_uuid())
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// The tag of the runtime an agent lives in: `cursor`, `claude_code`, `terminal` …
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RuntimeTag(Box<str>);

impl RuntimeTag {
    /// Returns the tag as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for RuntimeTag {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, IdError> {
        let fits = (1..=RUNTIME_TAG_BYTES_MAX).contains(&text.len())
            && text
                .bytes()
                .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
        if fits {
            Ok(Self(text.into()))
        } else {
            Err(IdError::Runtime {
                found: shorten(text),
                corrected: corrected_tag(text),
            })
        }
    }
}

impl TryFrom<String> for RuntimeTag {
    type Error = IdError;

    fn try_from(text: String) -> Result<Self, IdError> {
        text.parse()
    }
}

impl From<RuntimeTag> for String {
    fn from(tag: RuntimeTag) -> Self {
        tag.0.into()
    }
}

impl fmt::Display for RuntimeTag {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// Returns the tag the caller probably meant: `Claude Code` → `claude_code`, `claudeCode` → `claude_code`.
fn corrected_tag(text: &str) -> Option<String> {
    let mut tag = String::new();
    let mut after_lowercase = false;
    for letter in text.trim().chars().take(RUNTIME_TAG_BYTES_MAX) {
        if letter.is_ascii_alphanumeric() {
            if letter.is_ascii_uppercase() && after_lowercase {
                tag.push('_');
            }
            after_lowercase = letter.is_ascii_lowercase();
            tag.push(letter.to_ascii_lowercase());
        } else {
            after_lowercase = false;
            if !tag.is_empty() && !tag.ends_with('_') {
                tag.push('_');
            }
        }
    }
    let tag = tag.trim_end_matches('_');
    (!tag.is_empty()).then(|| tag.chars().take(RUNTIME_TAG_BYTES_MAX).collect())
}

fn shorten(text: &str) -> String {
    const SHOWN_CHARS_MAX: usize = 40;
    let mut short: String = text.chars().take(SHOWN_CHARS_MAX).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

/// The id of one run of an agent that an adapter drives, created by the driver.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RunId(pub Uuid);

impl fmt::Display for RunId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.0)
    }
}

impl FromStr for RunId {
    type Err = uuid::Error;

    fn from_str(text: &str) -> Result<Self, uuid::Error> {
        text.parse().map(Self)
    }
}

/// The id of one process that drives a run, made by that process. It stays the same when the broker restarts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct DriverId(pub Uuid);

impl fmt::Display for DriverId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.0)
    }
}

impl FromStr for DriverId {
    type Err = uuid::Error;

    fn from_str(text: &str) -> Result<Self, uuid::Error> {
        text.parse().map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_id_is_pronounceable_and_parses_back() {
        for bits in [0, 1, 0xff_ffff, 0xab_cdef] {
            let id = AgentId::from_random(bits);
            assert_eq!(id.as_str().len(), 9, "{id}");
            assert_eq!(id.as_str().parse::<AgentId>().unwrap(), id);
        }
    }

    #[test]
    fn different_random_bits_give_different_ids() {
        assert_ne!(AgentId::from_random(1), AgentId::from_random(2));
        assert_ne!(CueId::from_random(1), CueId::from_random(1 << 59));
    }

    #[test]
    fn an_agent_id_that_a_shell_would_read_as_something_else_is_refused() {
        for text in ["", "-x", "a b", "a;b", "A", "é", "$x"] {
            assert!(text.parse::<AgentId>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn a_wrong_runtime_tag_names_the_corrected_form() {
        for (found, corrected) in [
            ("Claude Code", "claude_code"),
            ("claude-code", "claude_code"),
            ("claudeCode", "claude_code"),
            ("VSCode", "vscode"),
            (" Cursor! ", "cursor"),
        ] {
            let error = found.parse::<RuntimeTag>().unwrap_err();
            let IdError::Runtime { corrected: hint, .. } = &error else {
                panic!("{error:?}")
            };
            assert_eq!(hint.as_deref(), Some(corrected), "{found}");
        }
        assert!("cursor_2".parse::<RuntimeTag>().is_ok());
    }
}
