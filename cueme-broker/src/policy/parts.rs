//! The parts of a rule, for a page that tells them in the language of its reader.

use protocol_spec::answer::Reply;
use protocol_spec::outcome::Origin;
use schemars::JsonSchema;
use serde::Serialize;

use super::rule::{Action, Policy};

/// The conditions of a rule; empty ones are not set.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Conditions {
    /// The id or the name of an agent.
    pub(crate) agent: Option<String>,
    pub(crate) runtimes: Vec<String>,
    pub(crate) project: Option<String>,
    /// `none`, `choice`, `confirm`, `form` or `pause`.
    pub(crate) payloads: Vec<&'static str>,
    #[schemars(with = "Vec<String>")]
    pub(crate) origins: Vec<Origin>,
    /// The whole text of the question; `*` stands for any text.
    pub(crate) says: Option<String>,
    /// A regular expression that a part of the question matches.
    pub(crate) pattern: Option<String>,
    /// A part of the day, such as `22:00-06:00`.
    pub(crate) hours: Option<String>,
}

/// The answer of a rule; nothing is set if it leaves questions to a human.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Gives {
    pub(crate) choose: Vec<String>,
    pub(crate) confirm: Option<bool>,
    #[serde(rename = "continue")]
    pub(crate) continues: bool,
    pub(crate) text: Option<String>,
}

impl Policy {
    /// Returns its conditions.
    pub(crate) fn conditions(&self) -> Conditions {
        let text = self.text.as_ref();
        let says = text.and_then(|text| text.words().map(str::to_owned));
        Conditions {
            agent: self.agent.clone(),
            runtimes: self.runtime.clone(),
            project: self.project.clone(),
            payloads: self.payload.iter().map(|asks| asks.name()).collect(),
            origins: self.origin.clone(),
            pattern: text
                .filter(|_| says.is_none())
                .map(|text| text.expression().to_owned()),
            says,
            hours: self.hours.map(|hours| hours.to_string()),
        }
    }

    /// Returns its answer.
    pub(crate) fn gives(&self) -> Gives {
        let Action::Answer(answer) = self.action() else {
            return Gives::default();
        };
        let mut gives = Gives {
            text: answer.text.clone(),
            ..Gives::default()
        };
        match &answer.reply {
            Some(Reply::Choice { selected, .. }) => gives.choose.clone_from(selected),
            Some(Reply::Confirm { confirmed }) => gives.confirm = Some(*confirmed),
            Some(Reply::Continue) => gives.continues = true,
            Some(Reply::Form { .. }) | None => {}
        }
        gives
    }
}
