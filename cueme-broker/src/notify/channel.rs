//! Notification channels, as configured.

use std::collections::BTreeMap;
use std::time::Duration;

use protocol_spec::visible::quoted;
use runtime_settings::parse_duration;
use serde::{Deserialize, Deserializer, de};
use thiserror::Error;

use super::reason::Reasons;
use super::surface::push::Subscription;
use crate::hours::Hours;

/// The default delay before a question is notified.
const AFTER_DEFAULT: Duration = Duration::from_secs(30);

/// The names of people, by the ids that a medium gives them.
pub type People = BTreeMap<String, String>;

/// A notification channel.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Written")]
pub struct Channel {
    /// Its name, which identifies it in the store.
    pub name: String,
    /// The kind of channel.
    pub kind: ChannelKind,
    /// The delay before a question is notified.
    pub after: Duration,
    /// The quiet hours.
    pub quiet: Option<Hours>,
    /// Whether the beginning of the question is included.
    pub preview: bool,
    /// The reasons to notify.
    pub reasons: Reasons,
}

/// The kinds of channels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChannelKind {
    /// The screen of the machine the broker runs on.
    Desktop,
    /// JSON to an address of one's own.
    Webhook {
        /// The address.
        url: Reference,
        /// Sent as `Authorization: Bearer`.
        token: Option<Reference>,
    },
    /// ntfy.
    Ntfy {
        /// The address of the topic.
        url: Reference,
        /// An access token.
        token: Option<Reference>,
        /// The settings for answers; `None` if questions are not answered there.
        answers: Option<NtfyAnswers>,
    },
    /// Anything that takes Slack's incoming webhooks.
    Slack {
        /// The address of the webhook.
        url: Reference,
    },
    /// A Slack app that uses Socket Mode.
    SlackApp {
        /// The address of the Web API.
        url: Reference,
        /// The bot's token, `xoxb-…`.
        token: Reference,
        /// The app's token, `xapp-…`.
        app_token: Reference,
        /// The channel to write to.
        channel: String,
        /// The people who may answer there, by their ids.
        people: People,
    },
    /// Anything that speaks Telegram's bot API.
    Telegram {
        /// The address of the API.
        url: Reference,
        /// The bot's token.
        token: Reference,
        /// The chat to write to.
        chat: String,
        /// The people who may answer there, by their ids; with none, the channel only notifies.
        people: People,
    },
    /// A signed-in device that gets pushes. It is subscribed on the page, never in the configuration.
    Push(Box<Subscription>),
}

/// The settings for answers through ntfy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NtfyAnswers {
    /// The topic that buttons publish to, on the same server.
    pub replies: String,
    /// A token that the buttons carry.
    pub reply_token: Option<Reference>,
    /// The name of the person who reads the topic.
    pub person: String,
}

impl ChannelKind {
    /// Returns the word for it in the configuration.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Desktop => "desktop",
            Self::Webhook { .. } => "webhook",
            Self::Ntfy { .. } => "ntfy",
            Self::Slack { .. } | Self::SlackApp { .. } => "slack",
            Self::Telegram { .. } => "telegram",
            Self::Push(_) => "push",
        }
    }

    /// Returns the names of the people who may answer there.
    pub fn people(&self) -> Vec<String> {
        match self {
            Self::Telegram { people, .. } | Self::SlackApp { people, .. } => {
                people.values().cloned().collect()
            }
            Self::Ntfy { answers, .. } => answers.iter().map(|answers| answers.person.clone()).collect(),
            Self::Desktop | Self::Webhook { .. } | Self::Slack { .. } | Self::Push(_) => Vec::new(),
        }
    }

    /// Says whether questions can be answered there.
    pub fn takes_answers(&self) -> bool {
        match self {
            Self::Telegram { people, .. } => !people.is_empty(),
            Self::Ntfy { answers, .. } => answers.is_some(),
            Self::SlackApp { .. } | Self::Push(_) => true,
            Self::Desktop | Self::Webhook { .. } | Self::Slack { .. } => false,
        }
    }
}

/// A value that may be a secret: the value itself, or a reference to it: `env:NAME` or `file:PATH`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference(String);

/// A secret that is missing at the configured place.
#[derive(Debug, Error)]
pub enum MissingSecret {
    /// A variable.
    #[error("the environment variable {0} is not set")]
    Variable(String),
    /// A file.
    #[error("could not read the secret in {path}: {source}")]
    File {
        /// The path.
        path: String,
        /// The system's error.
        source: std::io::Error,
    },
}

impl Reference {
    /// Wraps the configured text.
    pub fn new(written: impl Into<String>) -> Self {
        Self(written.into())
    }

    /// Returns the value, or the missing secret.
    pub fn resolve(&self) -> Result<String, MissingSecret> {
        if let Some(name) = self.0.strip_prefix("env:") {
            return std::env::var(name).map_err(|_| MissingSecret::Variable(name.to_owned()));
        }
        let Some(path) = self.0.strip_prefix("file:") else {
            return Ok(self.0.clone());
        };
        let read = std::fs::read_to_string(path).map(|secret| secret.trim().to_owned());
        read.map_err(|source| MissingSecret::File {
            path: path.to_owned(),
            source,
        })
    }

    /// Returns the configured text, unless that may be the secret itself.
    pub fn place(&self) -> Option<&str> {
        let is_place = self.0.starts_with("env:") || self.0.starts_with("file:");
        is_place.then_some(self.0.as_str())
    }
}

/// A secret is named, never written into the file.
fn secret<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Reference>, D::Error> {
    let text = String::deserialize(deserializer)?;
    let place = text.strip_prefix("env:").or_else(|| text.strip_prefix("file:"));
    if place.is_none_or(str::is_empty) {
        return Err(de::Error::custom(
            "a token is not written into the configuration; put it into a variable and write for example \"env:NTFY_TOKEN\", or into a \
             file and write \"file:/path\"",
        ));
    }
    Ok(Some(Reference(text)))
}

/// A channel as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    /// `desktop`, `webhook`, `ntfy`, `slack` or `telegram`.
    ///
    /// Default: required.
    kind: String,
    /// Name that distinguishes two channels of one kind.
    ///
    /// Default: the kind.
    name: Option<String>,
    /// Address, `"env:NAME"` or `"file:PATH"`.
    ///
    /// Default: required except for `desktop`, `telegram` and a Slack app.
    url: Option<String>,
    /// Token of the service, as `"env:NAME"` or `"file:PATH"`; a token itself is refused. `telegram` and a Slack app
    /// require it.
    ///
    /// Default: none.
    #[serde(default, deserialize_with = "secret")]
    token: Option<Reference>,
    /// `slack`: token of the app, which makes the channel take answers; as `"env:NAME"` or `"file:PATH"`.
    ///
    /// Default: none.
    #[serde(default, deserialize_with = "secret")]
    app_token: Option<Reference>,
    /// `ntfy`: token that the buttons carry, as `"env:NAME"` or `"file:PATH"`.
    ///
    /// Default: none.
    #[serde(default, deserialize_with = "secret")]
    reply_token: Option<Reference>,
    /// `telegram`: id of the chat.
    ///
    /// Default: required for `telegram`.
    chat: Option<String>,
    /// `slack`: id of the channel.
    ///
    /// Default: required for a Slack app.
    channel: Option<String>,
    /// `ntfy`: topic to which buttons publish; with `person`, the channel takes answers.
    ///
    /// Default: none.
    replies: Option<String>,
    /// `ntfy`: name of the person who reads the topic.
    ///
    /// Default: none.
    person: Option<String>,
    /// `telegram`, `slack`: people who may answer, as `{ "id" = "name" }`. A Slack app requires it.
    ///
    /// Default: none.
    #[serde(default)]
    people: People,
    /// Duration that a question waits before the message is sent.
    ///
    /// Default: `"30s"`.
    after: Option<String>,
    /// Part of the day in which nothing is sent.
    ///
    /// Default: none.
    quiet: Option<Hours>,
    /// Whether the message contains the beginning of the question.
    ///
    /// Default: `true`.
    preview: Option<bool>,
    /// Reasons for a message: one or more of `question`, `approval`, `pause`.
    ///
    /// Default: all.
    #[serde(default)]
    reasons: Reasons,
}

impl TryFrom<Written> for Channel {
    type Error = String;

    fn try_from(written: Written) -> Result<Self, String> {
        let after = match &written.after {
            Some(text) => {
                parse_duration(text).ok_or_else(|| format!("{} is not a duration", quoted(text)))?
            }
            None => AFTER_DEFAULT,
        };
        let (kind, url) = (written.kind.as_str(), written.url.map(Reference));
        let url_of = |url: Option<Reference>| url.ok_or_else(|| format!("a {kind} channel needs a url"));
        let spoken = match kind {
            "desktop" => ChannelKind::Desktop,
            "webhook" => ChannelKind::Webhook {
                url: url_of(url)?,
                token: written.token,
            },
            "ntfy" => ChannelKind::Ntfy {
                url: url_of(url)?,
                token: written.token,
                answers: match (written.replies, written.person) {
                    (Some(replies), Some(person)) => Some(NtfyAnswers {
                        replies,
                        reply_token: written.reply_token,
                        person,
                    }),
                    (None, None) => None,
                    _ => return Err("answers through ntfy need both replies and person".to_owned()),
                },
            },
            "slack" => match written.app_token {
                None => ChannelKind::Slack { url: url_of(url)? },
                Some(app_token) => ChannelKind::SlackApp {
                    url: url.unwrap_or_else(|| Reference("https://slack.com/api".to_owned())),
                    token: written.token.ok_or("a slack app needs a token")?,
                    app_token,
                    channel: written.channel.ok_or("a slack app needs a channel")?,
                    people: Some(written.people)
                        .filter(|people| !people.is_empty())
                        .ok_or("a slack app needs people who may answer")?,
                },
            },
            "telegram" => ChannelKind::Telegram {
                url: url.unwrap_or_else(|| Reference("https://api.telegram.org".to_owned())),
                token: written.token.ok_or("a telegram channel needs a token")?,
                chat: written.chat.ok_or("a telegram channel needs a chat")?,
                people: written.people,
            },
            other => {
                return Err(format!(
                    "{} is no kind of channel; desktop, webhook, ntfy, slack and telegram are",
                    quoted(other)
                ));
            }
        };
        Ok(Self {
            name: written.name.unwrap_or_else(|| kind.to_owned()),
            kind: spoken,
            after,
            quiet: written.quiet,
            preview: written.preview.unwrap_or(true),
            reasons: written.reasons,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channels_are_read_and_secrets_are_named() {
        let channel: Channel = toml::from_str(
            "kind = \"ntfy\"\nurl = \"https://ntfy.sh/x\"\ntoken = \"env:NTFY\"\nafter = \"5m\"",
        )
        .unwrap();
        assert_eq!(
            (channel.name.as_str(), channel.after),
            ("ntfy", Duration::from_secs(300))
        );
        let refused = |text: &str| toml::from_str::<Channel>(text).unwrap_err().to_string();
        assert!(refused("kind = \"ntfy\"\nurl = \"x\"\ntoken = \"tk_123\"").contains("env:NTFY_TOKEN"));
        assert!(refused("kind = \"slack\"").contains("needs a url"));
        assert!(refused("kind = \"pigeon\"").contains("telegram"));
    }

    #[test]
    fn a_reference_names_the_variable_that_is_missing() {
        assert_eq!(Reference::new("https://a.b").resolve().unwrap(), "https://a.b");
        assert_eq!(
            Reference::new("env:CUEME_NOT_SET_ANYWHERE")
                .resolve()
                .unwrap_err()
                .to_string(),
            "the environment variable CUEME_NOT_SET_ANYWHERE is not set"
        );
    }
}
