//! Secrets that cannot be printed by accident, and where they come from.

use std::env;
use std::fmt;
use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

use regex::Regex;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The text that replaces a secret.
pub const REDACTED: &str = "[redacted]";
/// The shortest text that is taken for a secret when output is searched for secrets. Replacing shorter ones
/// would tear holes into ordinary words.
const REDACTABLE_BYTES_MIN: usize = 6;
/// The largest file that is read as a secret.
const SECRET_FILE_BYTES_MAX: u64 = 64 << 10;

/// The pattern of our own tokens: one-time tokens and the run tokens they are exchanged for. It finds a token that
/// another process made, in a conversation that is read back. Text before a token does not hide it, such as the `n` of
/// an escaped line end; nor does base64, in which `cmb_` has three forms.
static TOKENS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r"cmb_[A-Za-z0-9_-]{16,}|eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*",
        r"|[A-Za-z0-9+/_-]*(?:Y21iX|NtYl[89]|jbWJf)[A-Za-z0-9+/_-]{16,}={0,2}",
    ))
    .ok()
});

/// A secret text. It has no `Display` and its `Debug` shows nothing.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps a text.
    pub fn new(text: impl Into<String>) -> Self {
        Secret(text.into())
    }

    /// Returns the text, for the one place that must send it.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(REDACTED)
    }
}

/// Removes known secrets from all output of the adapter.
#[derive(Debug, Clone, Default)]
pub struct Redactor {
    secrets: Vec<Secret>,
}

impl Redactor {
    /// Adds a secret to look for.
    pub fn add(&mut self, secret: &Secret) {
        if secret.expose().len() >= REDACTABLE_BYTES_MIN && !self.secrets.contains(secret) {
            self.secrets.push(secret.clone());
        }
    }

    /// Returns the text without any known secret.
    pub fn text(&self, text: &str) -> String {
        let text = self.secrets.iter().fold(text.to_owned(), |text, secret| {
            text.replace(secret.expose(), REDACTED)
        });
        match TOKENS.as_ref() {
            Some(tokens) => tokens.replace_all(&text, REDACTED).into_owned(),
            None => text,
        }
    }

    /// Removes known secrets from every text in a JSON value.
    pub fn json(&self, value: &mut serde_json::Value) {
        use serde_json::Value;
        match value {
            Value::String(text) => *text = self.text(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.json(item)),
            Value::Object(object) => object.values_mut().for_each(|item| self.json(item)),
            _ => {}
        }
    }
}

/// The value of one entry of a configuration's `env`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum EnvBinding {
    /// The place of the value.
    Ref(SecretRef),
    /// The value in an object, as user interfaces write it.
    Tagged(PlainValue),
    /// The value itself.
    Plain(PlainText),
}

/// A plain value with its tag.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum PlainValue {
    /// The value.
    Plain {
        /// The text.
        value: PlainText,
    },
}

/// A text in a configuration that may be a secret.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PlainText(pub String);

impl fmt::Debug for PlainText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(REDACTED)
    }
}

/// A place that holds a secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum SecretRef {
    /// A secret kept outside the configuration.
    SecretRef {
        /// The place.
        #[serde(flatten)]
        place: SecretPlace,
    },
}

/// The kinds of places.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SecretPlace {
    /// An environment variable.
    Env(String),
    /// A file; surrounding blanks are not part of the secret.
    File(PathBuf),
}

/// Why a secret could not be read. Never contains it.
#[derive(Debug, Error)]
pub enum SecretError {
    /// The environment variable is not set.
    #[error("environment variable {0} is not set")]
    NoVariable(String),
    /// The file could not be read.
    #[error("could not read the secret in {path}: {source}", path = path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The file is too large to be a secret.
    #[error("{path} is too large to be a secret", path = .0.display())]
    FileTooLarge(PathBuf),
    /// The place is there and holds nothing.
    #[error("the secret is empty")]
    Empty,
}

impl EnvBinding {
    /// Reads the secret.
    ///
    /// # Errors
    ///
    /// Fails if the place does not exist or holds nothing.
    pub fn resolve(&self) -> Result<Secret, SecretError> {
        let text = match self {
            EnvBinding::Plain(text) | EnvBinding::Tagged(PlainValue::Plain { value: text }) => text.0.clone(),
            EnvBinding::Ref(SecretRef::SecretRef { place }) => place.read()?,
        };
        match text.trim() {
            "" => Err(SecretError::Empty),
            text => Ok(Secret::new(text)),
        }
    }
}

impl SecretPlace {
    fn read(&self) -> Result<String, SecretError> {
        match self {
            SecretPlace::Env(name) => env::var(name).map_err(|_| SecretError::NoVariable(name.clone())),
            SecretPlace::File(path) => {
                let error = |source| SecretError::File {
                    path: path.clone(),
                    source,
                };
                if fs::metadata(path).map_err(error)?.len() > SECRET_FILE_BYTES_MAX {
                    return Err(SecretError::FileTooLarge(path.clone()));
                }
                fs::read_to_string(path).map_err(error)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_secret_shows_nothing() {
        assert_eq!(format!("{:?}", Secret::new("hunter22")), REDACTED);
        let binding: EnvBinding = serde_json::from_value(json!("hunter22")).unwrap();
        assert!(!format!("{binding:?}").contains("hunter22"));
    }

    #[test]
    fn bindings_are_read_in_each_of_their_forms() {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), "  from-file\n").unwrap();
        let cases = [
            (json!("plain"), "plain"),
            (json!({"type": "plain", "value": "tagged"}), "tagged"),
            (json!({"type": "secret_ref", "file": file.path()}), "from-file"),
        ];
        for (form, expected) in cases {
            let binding: EnvBinding = serde_json::from_value(form.clone()).unwrap();
            assert_eq!(binding.resolve().unwrap().expose(), expected);
            assert_eq!(
                serde_json::to_value(&binding).unwrap(),
                form,
                "the form survives being written again"
            );
        }
        let absent: EnvBinding =
            serde_json::from_value(json!({"type": "secret_ref", "env": "CUEME_TEST_ABSENT"})).unwrap();
        assert!(
            absent
                .resolve()
                .unwrap_err()
                .to_string()
                .contains("CUEME_TEST_ABSENT")
        );
    }

    #[test]
    fn secrets_are_removed_wherever_they_stand_in_json() {
        let mut redactor = Redactor::default();
        redactor.add(&Secret::new("s3cr3t-key"));
        redactor.add(&Secret::new("short"));
        let mut value = json!({"a": ["x s3cr3t-key y"], "b": {"c": "s3cr3t-key"}, "d": "short"});
        redactor.json(&mut value);
        assert_eq!(
            value,
            json!({"a": ["x [redacted] y"], "b": {"c": "[redacted]"}, "d": "short"})
        );
    }
}
