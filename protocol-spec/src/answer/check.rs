//! Checks an answer against its question.

use std::path::Path;

use serde::{Serialize, Serializer};

use super::form::check_form;
use super::model::{ANSWER_BYTES_MAX, ATTACHMENT_PATH_BYTES_MAX, ATTACHMENTS_MAX};
use super::render::{Block, Rendered, render};
use super::suggest::closest;
use super::{Answer, AnswerError, Attachment, Reply};
use crate::outcome::Kind;
use crate::payload::{Choice, Payload, Shape};
use crate::text::{is_blank, shorten};

/// The text of a pressed Continue.
const CONTINUE: &str = "Continue";

/// The question that an answer is checked against.
#[derive(Clone, Copy, Debug)]
pub enum Question<'a> {
    /// A cue, with its payload if it has one.
    Cue(Option<&'a Payload>),
    /// A pause.
    Pause,
}

impl<'a> Question<'a> {
    /// Returns the question of a kind and its payload.
    pub fn new(kind: Kind, payload: Option<&'a Payload>) -> Self {
        match kind {
            Kind::Cue => Self::Cue(payload),
            Kind::Pause => Self::Pause,
        }
    }
}

/// An answer that fits its question, in the order and spelling of the question.
///
/// Serialises as the [`Answer`] it holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    answer: Answer,
    block: Block,
}

impl Checked {
    /// Returns the answer, its options and fields in the order they were offered.
    pub fn answer(&self) -> &Answer {
        &self.answer
    }

    /// Renders the text the agent reads, and the one that may be kept when there is a secret in it.
    pub fn render(&self) -> Rendered {
        render(&self.answer, &self.block)
    }
}

impl Serialize for Checked {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.answer.serialize(serializer)
    }
}

impl Answer {
    /// Checks this answer against the question it is for.
    ///
    /// Text alone answers anything: a person may always just write. An answer that says nothing is refused,
    /// because silence is not consent.
    pub fn check(self, question: Question<'_>) -> Result<Checked, AnswerError> {
        check_size(&self)?;
        check_attachments(&self.attachments)?;
        let text = self.text.filter(|text| !is_blank(text));
        let (reply, block) = match self.reply {
            Some(reply) => check_reply(reply, question)?,
            None => (None, Block::Nothing),
        };
        let answer = Answer {
            text,
            reply,
            attachments: self.attachments,
            ends_run: self.ends_run,
        };
        if !answer.has_words() && !answer.ends_run {
            return Err(AnswerError::Empty);
        }
        Ok(Checked { answer, block })
    }
}

/// A reply as it is stored, `None` when nothing was chosen, and its rendered form.
pub(super) type CheckedReply = (Option<Reply>, Block);

fn check_reply(reply: Reply, question: Question<'_>) -> Result<CheckedReply, AnswerError> {
    let shape = match question {
        Question::Pause => return check_pause(&reply),
        Question::Cue(payload) => payload.map(Payload::shape),
    };
    match (reply, shape) {
        (Reply::Choice { selected, other }, Some(Shape::Choice(choice))) => {
            check_choice(&selected, other, choice)
        }
        (Reply::Confirm { confirmed }, Some(Shape::Confirm(confirm))) => {
            let label = if confirmed {
                &confirm.confirm_label
            } else {
                &confirm.cancel_label
            };
            Ok((
                Some(Reply::Confirm { confirmed }),
                Block::Lines(vec![label.clone()]),
            ))
        }
        (Reply::Form { fields }, Some(Shape::Form(form))) => check_form(fields, form),
        (reply, shape) => Err(wrong_reply(&reply, shape)),
    }
}

/// Continue ends a pause, and so does a plain yes; a plain no has no meaning there.
fn check_pause(reply: &Reply) -> Result<CheckedReply, AnswerError> {
    match reply {
        Reply::Continue | Reply::Confirm { confirmed: true } => {
            Ok((Some(Reply::Continue), Block::Lines(vec![CONTINUE.to_owned()])))
        }
        _ => Err(AnswerError::WrongReply {
            found: reply.name(),
            question: "a pause",
            expected: Some("continue"),
        }),
    }
}

fn wrong_reply(reply: &Reply, shape: Option<&Shape>) -> AnswerError {
    let question = match shape {
        None => "a cue without a payload",
        Some(Shape::Choice(_)) => "a choice",
        Some(Shape::Confirm(_)) => "a confirm",
        Some(Shape::Form(_)) => "a form",
    };
    AnswerError::WrongReply {
        found: reply.name(),
        question,
        expected: shape.map(Shape::name),
    }
}

fn check_choice(
    selected: &[String],
    other: Option<String>,
    choice: &Choice,
) -> Result<CheckedReply, AnswerError> {
    let picked = check_picked(selected, other, &choice.options, choice.allow_multiple, "choice")?;
    if picked.is_empty() {
        return Ok((None, Block::Nothing));
    }
    let block = if picked.selected.is_empty() {
        Block::Nothing
    } else {
        Block::Lines(picked.selected.clone())
    };
    Ok((
        Some(Reply::Choice {
            selected: picked.selected,
            other: picked.other,
        }),
        block,
    ))
}

/// The options picked from a list, in the list's order, and the text written instead of one.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Picked {
    /// The options.
    pub selected: Vec<String>,
    /// The text.
    pub other: Option<String>,
}

impl Picked {
    /// Says whether nothing was picked and nothing written.
    pub fn is_empty(&self) -> bool {
        self.selected.is_empty() && self.other.is_none()
    }
}

/// Checks the options picked at `place` against those `offered` there.
///
/// An other text that spells an option is that option, so that an agent can tell the two apart.
pub(super) fn check_picked(
    selected: &[String],
    other: Option<String>,
    offered: &[String],
    allow_multiple: bool,
    place: &str,
) -> Result<Picked, AnswerError> {
    let mut chosen = vec![false; offered.len()];
    for value in selected {
        let index = offered.iter().position(|option| option == value);
        let index = index.ok_or_else(|| not_offered(value, offered, place))?;
        if std::mem::replace(&mut chosen[index], true) {
            return Err(AnswerError::RepeatedValue {
                place: place.to_owned(),
                value: shorten(value),
            });
        }
    }
    let mut other = other.filter(|other| !is_blank(other));
    if let Some(index) = other
        .as_ref()
        .and_then(|other| offered.iter().position(|option| option == other.trim()))
    {
        chosen[index] = true;
        other = None;
    }
    let selected: Vec<String> = offered
        .iter()
        .zip(&chosen)
        .filter(|(_, chosen)| **chosen)
        .map(|(option, _)| option.clone())
        .collect();
    let count = selected.len() + usize::from(other.is_some());
    if count > 1 && !allow_multiple {
        return Err(AnswerError::TooManyValues {
            place: place.to_owned(),
            count,
        });
    }
    Ok(Picked { selected, other })
}

fn not_offered(value: &str, offered: &[String], place: &str) -> AnswerError {
    AnswerError::NotOffered {
        place: place.to_owned(),
        found: shorten(value),
        offered: offered.to_vec(),
        closest: closest(value, offered).cloned(),
    }
}

fn check_size(answer: &Answer) -> Result<(), AnswerError> {
    let bytes = answer.bytes();
    if bytes > ANSWER_BYTES_MAX {
        return Err(AnswerError::TooLarge {
            bytes,
            max: ANSWER_BYTES_MAX,
        });
    }
    Ok(())
}

fn check_attachments(attachments: &[Attachment]) -> Result<(), AnswerError> {
    let count = attachments.len();
    if count > ATTACHMENTS_MAX {
        return Err(AnswerError::TooManyAttachments {
            count,
            max: ATTACHMENTS_MAX,
        });
    }
    for (i, attachment) in attachments.iter().enumerate() {
        if let Some(problem) = problem_with(&attachment.path) {
            return Err(AnswerError::BadAttachment {
                index: i + 1,
                problem,
                found: shorten(&attachment.path),
            });
        }
    }
    Ok(())
}

/// Returns why an agent could not open this path as written.
fn problem_with(path: &str) -> Option<&'static str> {
    if !Path::new(path).is_absolute() {
        Some("the path is not absolute")
    } else if path.len() > ATTACHMENT_PATH_BYTES_MAX {
        Some("the path is too long")
    } else if path.contains(char::is_control) {
        Some("the path has a control character")
    } else {
        None
    }
}
