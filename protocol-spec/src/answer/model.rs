//! The answer as clients send it.

use serde::{Deserialize, Serialize};

/// The most bytes of all the text in an answer together.
pub const ANSWER_BYTES_MAX: usize = 16 * 1024 * 1024;

/// The most files an answer may name.
pub const ATTACHMENTS_MAX: usize = 64;

/// The most bytes of one attachment's path.
pub const ATTACHMENT_PATH_BYTES_MAX: usize = 4096;

/// A human's answer: free text, a reply to the payload, files, or any of them together.
///
/// Unknown keys are refused, because their content would be lost.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// The text that the human wrote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The options that the human chose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply: Option<Reply>,
    /// Files the human added.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<Attachment>,
    /// Whether the human ends the run of the asking agent with it. Only a run that a program drives can be ended.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ends_run: bool,
}

/// A structured reply, of the same type as the payload it answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase", deny_unknown_fields)]
pub enum Reply {
    /// Answers a choice.
    Choice {
        /// The options picked, spelled as offered.
        #[serde(default)]
        selected: Vec<String>,
        /// The text that the human wrote instead of an offered option.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        other: Option<String>,
    },
    /// Answers a confirm.
    Confirm {
        /// Whether the confirming button was pressed.
        confirmed: bool,
    },
    /// Answers a form.
    Form {
        /// The fields that were filled in.
        fields: Vec<FieldAnswer>,
    },
    /// Ends a pause.
    Continue,
}

impl Reply {
    /// Returns the `type` it is written with.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Choice { .. } => "choice",
            Self::Confirm { .. } => "confirm",
            Self::Form { .. } => "form",
            Self::Continue => "continue",
        }
    }
}

/// The value of one form field.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FieldAnswer {
    /// The label of the field.
    pub label: String,
    /// The values entered or picked; several only where the field allows it.
    #[serde(default)]
    pub values: Vec<String>,
    /// The text that the human wrote instead of an offered option.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other: Option<String>,
}

/// A file on the machine of the broker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Attachment {
    /// Its absolute path.
    pub path: String,
    /// Its original file name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its media type, such as `image/png`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub media_type: Option<String>,
}

impl Answer {
    /// Says whether there is something in it for the agent to act on, besides the end of its run.
    pub fn has_words(&self) -> bool {
        self.text.is_some() || self.reply.is_some() || !self.attachments.is_empty()
    }

    /// Returns how many bytes of text it holds.
    pub fn bytes(&self) -> usize {
        let reply = match &self.reply {
            Some(Reply::Choice { selected, other }) => bytes_of(selected, other.as_ref()),
            Some(Reply::Form { fields }) => fields
                .iter()
                .map(|field| field.label.len() + bytes_of(&field.values, field.other.as_ref()))
                .sum(),
            Some(Reply::Confirm { .. } | Reply::Continue) | None => 0,
        };
        let attachments: usize = self.attachments.iter().map(Attachment::bytes).sum();
        self.text.as_ref().map_or(0, String::len) + reply + attachments
    }
}

impl Attachment {
    fn bytes(&self) -> usize {
        self.path.len()
            + [&self.name, &self.media_type]
                .into_iter()
                .flatten()
                .map(String::len)
                .sum::<usize>()
    }
}

fn bytes_of(values: &[String], other: Option<&String>) -> usize {
    values.iter().chain(other).map(String::len).sum()
}
