//! The text pattern of a rule. Pure.

use protocol_spec::visible::quoted;
use regex::Regex;
use serde::{Deserialize, Deserializer, de};

/// A regular expression that is known to be one, with the text that it was made of, if it was made of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pattern(String, Option<String>);

impl Pattern {
    /// Takes a text literally, except for `*`, which stands for any text; `\*` and `\\` are escapes. Case does not
    /// count.
    pub(super) fn of_words(words: &str) -> Self {
        let mut pattern = "(?is)".to_owned();
        let mut letters = words.trim().chars();
        while let Some(letter) = letters.next() {
            match letter {
                '*' => pattern.push_str(".*"),
                '\\' => pattern.push_str(&regex::escape(&letters.next().unwrap_or('\\').to_string())),
                _ => pattern.push_str(&regex::escape(&letter.to_string())),
            }
        }
        Self(pattern, Some(words.trim().to_owned()))
    }

    /// Returns the text that it was made of, if it was made of one.
    pub(super) fn words(&self) -> Option<&str> {
        self.1.as_deref()
    }

    /// Returns the regular expression.
    pub(super) fn expression(&self) -> &str {
        &self.0
    }

    pub(super) fn describe(&self) -> String {
        match &self.1 {
            Some(words) => format!("text {}", quoted(words)),
            None => format!("text like /{}/", self.0),
        }
    }

    /// Says whether it matches a part of a text.
    pub(super) fn is_in(&self, words: &[&str]) -> bool {
        // It was compiled when the configuration was read.
        Regex::new(&self.0).is_ok_and(|pattern| words.iter().any(|part| pattern.is_match(part)))
    }

    /// Says whether it matches a whole text.
    pub(super) fn is_all_of(&self, text: &str) -> bool {
        Regex::new(&format!(r"\A(?:{})\z", self.0)).is_ok_and(|pattern| pattern.is_match(text))
    }
}

impl<'de> Deserialize<'de> for Pattern {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Regex::new(&text)
            .map_err(|error| de::Error::custom(format!("{} is no pattern: {error}", quoted(&text))))?;
        Ok(Self(text, None))
    }
}
