//! The reasons for refusing an answer, with the place and a hint.

use super::REDACTED;
use crate::text::shorten;

/// The reason for refusing an answer.
///
/// Displays as one lowercase fragment that names the place; [`AnswerError::hint`] says what to do instead. No
/// message repeats the value of a password field.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AnswerError {
    /// An answer without any content.
    #[error("the answer is empty")]
    Empty,
    /// A reply of another type than the question.
    #[error("reply: {found} does not answer {question}")]
    WrongReply {
        /// The type of the reply.
        found: &'static str,
        /// The kind of question, with its article.
        question: &'static str,
        /// The type of reply that it takes, if it takes one.
        expected: Option<&'static str>,
    },
    /// An option that was not offered.
    #[error("{place}: \"{found}\" was not offered")]
    NotOffered {
        /// The place in the answer.
        place: String,
        /// The given option, truncated.
        found: String,
        /// The offered options.
        offered: Vec<String>,
        /// The offered option that is nearest to it.
        closest: Option<String>,
    },
    /// One option given twice.
    #[error("{place}: \"{value}\" is given twice")]
    RepeatedValue {
        /// The place in the answer.
        place: String,
        /// The repeated value, truncated.
        value: String,
    },
    /// Several values where one is taken.
    #[error("{place}: {count} values were given, one is allowed")]
    TooManyValues {
        /// The place in the answer.
        place: String,
        /// The number of values given.
        count: usize,
    },
    /// A field the form does not have.
    #[error("the form has no field \"{label}\"")]
    UnknownField {
        /// The given label, truncated.
        label: String,
        /// The labels the form has.
        known: Vec<String>,
        /// The label nearest to it.
        closest: Option<String>,
    },
    /// A field given twice.
    #[error("field \"{label}\" is given twice")]
    RepeatedField {
        /// Its label.
        label: String,
    },
    /// A required field that was left empty.
    #[error("field \"{label}\" is required")]
    MissingField {
        /// Its label.
        label: String,
    },
    /// A value of the wrong kind.
    #[error("{place}: \"{found}\" is not {expected}")]
    WrongValue {
        /// The place in the answer.
        place: String,
        /// The given value, truncated.
        found: String,
        /// The expected kind of value, with its article.
        expected: &'static str,
        /// The format to use.
        hint: &'static str,
    },
    /// An attachment that is not an absolute path on one line.
    #[error("attachment {index}: {problem}: \"{found}\"")]
    BadAttachment {
        /// Its position among the attachments, counted from one.
        index: usize,
        /// The problem with the path.
        problem: &'static str,
        /// The path, truncated.
        found: String,
    },
    /// More attachments than [`ATTACHMENTS_MAX`](super::ATTACHMENTS_MAX).
    #[error("{count} attachments were given, at most {max} are allowed")]
    TooManyAttachments {
        /// The number of attachments given.
        count: usize,
        /// The maximum number of attachments.
        max: usize,
    },
    /// More text than [`ANSWER_BYTES_MAX`](super::ANSWER_BYTES_MAX).
    #[error("the answer has {bytes} bytes, at most {max} are allowed")]
    TooLarge {
        /// The size, in bytes.
        bytes: usize,
        /// The maximum size, in bytes.
        max: usize,
    },
}

impl AnswerError {
    /// Returns a hint on how to fix the answer.
    pub fn hint(&self) -> String {
        match self {
            Self::Empty => "write something, choose something, or decline the question".into(),
            Self::WrongReply {
                expected: Some(expected),
                ..
            } => format!("reply with {expected}, or write text"),
            Self::WrongReply { expected: None, .. } => "it has no options: write text".into(),
            Self::NotOffered { offered, closest, .. } => {
                format!(
                    "{}; anything else can be given as other text",
                    suggestion("offered", offered, closest.as_ref())
                )
            }
            Self::UnknownField { known, closest, .. } => suggestion("fields", known, closest.as_ref()),
            Self::RepeatedValue { .. } | Self::RepeatedField { .. } => "give it once".into(),
            Self::TooManyValues { .. } => "pick one, and write the rest as text beside it".into(),
            Self::MissingField { label } => {
                format!("fill in \"{label}\", or answer with text alone instead of the form")
            }
            Self::WrongValue { hint, .. } => (*hint).into(),
            Self::BadAttachment { .. } => {
                "give the absolute path of a file, such as /home/me/screen.png".into()
            }
            Self::TooManyAttachments { .. } => "name the directory that holds them".into(),
            Self::TooLarge { .. } => "put long material into a file and attach it".into(),
        }
    }

    /// Returns the same error without the given value, for a secret value.
    pub(super) fn without_value(mut self) -> Self {
        match &mut self {
            Self::NotOffered { found, closest, .. } => {
                *found = REDACTED.to_owned();
                *closest = None;
            }
            Self::RepeatedValue { value, .. } => *value = REDACTED.to_owned(),
            _ => {}
        }
        self
    }

    /// Returns a short, stable name of the variant, for programs.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::WrongReply { .. } => "wrong_reply",
            Self::NotOffered { .. } => "not_offered",
            Self::RepeatedValue { .. } => "repeated_value",
            Self::TooManyValues { .. } => "too_many_values",
            Self::UnknownField { .. } => "unknown_field",
            Self::RepeatedField { .. } => "repeated_field",
            Self::MissingField { .. } => "missing_field",
            Self::WrongValue { .. } => "wrong_value",
            Self::BadAttachment { .. } => "bad_attachment",
            Self::TooManyAttachments { .. } => "too_many_attachments",
            Self::TooLarge { .. } => "too_large",
        }
    }
}

/// Lists the known names, the nearest first.
fn suggestion(what: &str, known: &[String], closest: Option<&String>) -> String {
    /// More names than this are not read.
    const SHOWN_MAX: usize = 12;
    let shown: Vec<String> = known
        .iter()
        .take(SHOWN_MAX)
        .map(|name| format!("\"{}\"", shorten(name)))
        .collect();
    let more = if known.len() > SHOWN_MAX { ", …" } else { "" };
    let list = format!("{what}: {}{more}", shown.join(", "));
    match closest {
        Some(closest) => format!("did you mean \"{}\"? {list}", shorten(closest)),
        None => list,
    }
}
