//! A question as rules see it: its words, and the text that a yes agrees to. Pure.

use std::borrow::Cow;

use protocol_spec::outcome::Origin;
use protocol_spec::payload::{CANCEL_LABEL, CONFIRM_LABEL, Shape};
use protocol_spec::time::Timestamp;
use serde::Deserialize;

/// The kind of answer that a question asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Asks {
    /// With words.
    None,
    /// By picking.
    Choice,
    /// By yes or no.
    Confirm,
    /// By filling in.
    Form,
    /// By pressing Continue.
    Pause,
}

impl Asks {
    /// Returns its name in rules.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Choice => "choice",
            Self::Confirm => "confirm",
            Self::Form => "form",
            Self::Pause => "pause",
        }
    }
}

/// A question as rules see it.
#[derive(Debug, Clone, Copy)]
pub struct Case<'a> {
    /// The agent's id.
    pub agent_id: &'a str,
    /// The agent's name.
    pub agent_name: Option<&'a str>,
    /// The agent's runtime.
    pub runtime: &'a str,
    /// The directory it works in.
    pub project_dir: &'a str,
    /// The kind of answer that it asks for.
    pub asks: Asks,
    /// The origin of the question.
    pub origin: Origin,
    /// The prompt.
    pub prompt: &'a str,
    /// The payload's shape, which has words of its own.
    pub shape: Option<&'a Shape>,
    /// The minute of the day, in local time.
    pub minute_of_day: u16,
    /// The time of the decision: an expired rule fits nothing.
    pub at: Timestamp,
}

impl<'a> Case<'a> {
    /// Returns all the words that the agent wrote for the human, part by part.
    pub(super) fn words(&self) -> Vec<&'a str> {
        let mut words = vec![self.prompt];
        match self.shape {
            None => {}
            Some(Shape::Choice(choice)) => words.extend(choice.options.iter().map(String::as_str)),
            Some(Shape::Confirm(confirm)) => {
                let labels = [&*confirm.confirm_label, &*confirm.cancel_label];
                // The default labels are not the agent's words.
                let is_written = |label: &&str| ![CONFIRM_LABEL, CANCEL_LABEL].contains(label);
                words.extend(confirm.text.as_deref());
                words.extend(labels.into_iter().filter(is_written));
            }
            Some(Shape::Form(form)) => {
                for field in &form.fields {
                    words.push(&field.label);
                    words.extend(field.options.iter().map(String::as_str));
                }
            }
        }
        words
    }

    /// Returns the text that an answer agrees to: the command or the input of a tool if one is to be approved, else the
    /// prompt; and the text of a confirm.
    pub(super) fn agreed_to(&self) -> String {
        let subject = match self.origin {
            Origin::Approval => approved(self.prompt),
            Origin::Agent | Origin::Hook | Origin::Adapter | Origin::Import => Cow::Borrowed(self.prompt),
        };
        let mut parts = vec![subject.trim()];
        if let Some(Shape::Confirm(_)) = self.shape
            && self.origin != Origin::Approval
        {
            parts.extend(self.words().into_iter().skip(1));
        }
        parts.join("\n")
    }

    /// Returns the pattern that fits exactly this question.
    pub fn says(&self) -> String {
        self.agreed_to().trim().replace('\\', r"\\").replace('*', r"\*")
    }
}

/// Returns the text to approve: everything below the heading, block by block, without the fences.
///
/// A heading names the tool and the folder. Below it stand the command, and then the rest of the tool's input as JSON.
/// A text of another form is taken whole.
fn approved(prompt: &str) -> Cow<'_, str> {
    let Some((heading, rest)) = prompt.split_once("\n\n") else {
        return prompt.into();
    };
    if heading.contains('\n') {
        return prompt.into();
    }
    if !rest.starts_with("```") {
        return rest.into();
    }
    match blocks(rest) {
        Some(blocks) => blocks.join("\n").into(),
        None => prompt.into(),
    }
}

/// Splits a text into the contents of its fenced blocks; `None` if there is anything else in it.
fn blocks(text: &str) -> Option<Vec<&str>> {
    let mut blocks = Vec::new();
    let mut rest = text.trim_end();
    while !rest.is_empty() {
        let (fence, inside) = rest.split_once('\n')?;
        if fence.len() < 3 || !fence.bytes().all(|letter| letter == b'`') {
            return None;
        }
        let end = format!("\n{fence}");
        let (block, after) = inside.split_once(&end)?;
        blocks.push(block);
        rest = match after {
            "" => "",
            after => after.strip_prefix("\n\n")?,
        };
    }
    Some(blocks)
}
