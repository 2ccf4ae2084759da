//! A question as a surface shows it: its whole text, and its buttons.

use protocol_spec::id::CueId;
use protocol_spec::message::CueView;
use protocol_spec::outcome::{Kind, Origin};
use protocol_spec::payload::{Field, Payload, Shape};
use protocol_spec::visible::visible;

use crate::store::AgentRow;

/// The part of a label that every medium shows on a button.
pub(super) const BUTTON_CHARS_MIN: usize = 30;

/// A question, ready to be rendered. All of an agent's words in it have their hidden characters spelled out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::notify) struct Card {
    /// The question.
    pub(super) cue: CueId,
    /// The asking agent.
    pub(super) title: String,
    /// The question's whole text; `None` when it must not leave the machine.
    pub(super) words: Option<String>,
    /// The kind of answer that it asks for.
    pub(super) asks: Asks,
    /// Whether the words are a tool's input, which is shown as code.
    pub(super) is_code: bool,
    /// The address at which it can be answered in full.
    pub(super) url: Option<String>,
}

/// The kind of answer that a question asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Asks {
    /// Words.
    Words,
    /// A pause: Continue, or words.
    Continue,
    /// Yes or no.
    Confirm {
        /// The label that confirms.
        yes: String,
        /// The label that refuses.
        no: String,
    },
    /// One or several of these.
    Choice {
        /// The options, as they are shown.
        options: Vec<String>,
        /// Whether several may be chosen.
        many: bool,
    },
    /// Fields. They are filled in on the page; words answer them too.
    Form,
}

impl Card {
    /// Describes a question. Without `preview`, its text stays on this machine and it has no buttons.
    pub(in crate::notify) fn new(
        cue: &CueView,
        agent: &AgentRow,
        preview: bool,
        url: Option<String>,
    ) -> Self {
        let payload = cue
            .payload
            .as_deref()
            .and_then(|payload| Payload::parse(payload.get()).ok());
        let shape = payload.as_ref().map(Payload::shape);
        Self {
            cue: cue.cue_id,
            title: title(agent, cue.origin),
            words: preview.then(|| words(&cue.prompt, shape)),
            asks: if preview {
                asks(cue.kind, shape)
            } else {
                Asks::Words
            },
            is_code: cue.origin == Origin::Approval,
            url,
        }
    }

    /// Says whether an answer here may be consent, which requires that the question was shown whole: an answer to a
    /// confirm, or to any approval, whose options may be "once" and "always".
    pub(super) fn asks_consent(&self) -> bool {
        self.is_code || matches!(self.asks, Asks::Confirm { .. })
    }
}

fn title(agent: &AgentRow, origin: Origin) -> String {
    let name = agent.name.as_deref().unwrap_or(agent.agent_id.as_str());
    let project = agent.project_name();
    let verb = match origin {
        Origin::Approval => "wants approval",
        Origin::Agent | Origin::Adapter | Origin::Hook | Origin::Import => "asks",
    };
    if project.is_empty() {
        format!("{} {verb}", one_line(name))
    } else {
        format!("{} ({}) {verb}", one_line(name), one_line(project))
    }
}

fn one_line(text: &str) -> String {
    visible(text).replace(['\n', '\t'], " ")
}

/// Returns the whole text of the question: the prompt, and the texts of the payload.
fn words(prompt: &str, shape: Option<&Shape>) -> String {
    let mut words = visible(prompt).into_owned();
    match shape {
        None => {}
        Some(Shape::Confirm(confirm)) => {
            if let Some(text) = &confirm.text {
                words.push_str("\n\n");
                words.push_str(&visible(text));
            }
            // A button may shorten its label.
            for label in [&confirm.confirm_label, &confirm.cancel_label] {
                if label.chars().count() > BUTTON_CHARS_MIN {
                    words.push_str(&format!("\n\n[{}]", visible(label)));
                }
            }
        }
        Some(Shape::Choice(choice)) => words.push_str(&numbered(&choice.options)),
        Some(Shape::Form(form)) => form.fields.iter().for_each(|field| {
            words.push_str(&describe(field));
        }),
    }
    words
}

fn numbered(options: &[String]) -> String {
    let mut list = String::from("\n");
    for (number, option) in (1..).zip(options) {
        list.push_str(&format!("\n{number}. {}", visible(option)));
    }
    list
}

fn describe(field: &Field) -> String {
    let mut line = format!("\n\n• {}", visible(&field.label));
    if field.required {
        line.push_str(" (required)");
    }
    if !field.options.is_empty() {
        line.push_str(&numbered(&field.options));
    }
    line
}

fn asks(kind: Kind, shape: Option<&Shape>) -> Asks {
    match (kind, shape) {
        (Kind::Pause, _) => Asks::Continue,
        (Kind::Cue, None) => Asks::Words,
        (Kind::Cue, Some(Shape::Form(_))) => Asks::Form,
        (Kind::Cue, Some(Shape::Confirm(confirm))) => Asks::Confirm {
            yes: one_line(&confirm.confirm_label),
            no: one_line(&confirm.cancel_label),
        },
        (Kind::Cue, Some(Shape::Choice(choice))) => Asks::Choice {
            options: choice.options.iter().map(|option| one_line(option)).collect(),
            many: choice.allow_multiple,
        },
    }
}
