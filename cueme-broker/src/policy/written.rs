//! A rule as it is written, and the errors in it. Pure.

use protocol_spec::answer::{Answer, Reply};
use protocol_spec::outcome::Origin;
use protocol_spec::time::Timestamp;
use protocol_spec::visible::quoted;
use serde::Deserialize;

use super::case::Asks;
use super::pattern::Pattern;
use super::rule::{Action, IN_A_ROW_DEFAULT, Policy};
use crate::hours::Hours;

/// A rule as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Written {
    /// Name that is shown with every answer of the rule; no slashes.
    ///
    /// Default: required.
    name: String,
    /// Glob for the agent's id or name.
    ///
    /// Default: any.
    agent: Option<String>,
    /// Glob for the runtime, or a list of globs.
    ///
    /// Default: any.
    #[serde(default)]
    runtime: OneOrMore<String>,
    /// Glob for the agent's directory.
    ///
    /// Default: any.
    project: Option<String>,
    /// One or more of `none`, `choice`, `confirm`, `form`, `pause`.
    ///
    /// Default: any.
    #[serde(default)]
    payload: OneOrMore<Asks>,
    /// One or more of `agent`, `adapter`, `hook`, `approval`.
    ///
    /// Default: `agent` and `adapter`.
    #[serde(default)]
    origin: OneOrMore<Origin>,
    /// Regular expression; a rule that answers must match the whole text.
    ///
    /// Default: any.
    text: Option<Pattern>,
    /// Plain text of the whole question, instead of `text`; `*` stands for any text, `\*` for an asterisk.
    ///
    /// Default: any.
    says: Option<String>,
    /// Part of the day.
    ///
    /// Default: always.
    hours: Option<Hours>,
    /// Time at which the rule expires, such as `"2026-12-18T00:00:00Z"`.
    ///
    /// Default: no end.
    until: Option<Timestamp>,
    /// Automatic answers in a row before a human has to answer.
    ///
    /// Default: 3.
    in_a_row_max: Option<u32>,
    /// Text of the answer.
    ///
    /// Default: none.
    answer: Option<String>,
    /// Option to pick, or a list of options.
    ///
    /// Default: none.
    #[serde(default)]
    choose: OneOrMore<String>,
    /// `true` or `false`: the button to press.
    ///
    /// Default: none.
    confirm: Option<bool>,
    /// `true` continues a pause.
    ///
    /// Default: `false`.
    #[serde(rename = "continue", default)]
    continues: bool,
    /// `true` leaves the question to a human.
    ///
    /// Default: `false`.
    #[serde(default)]
    hold: bool,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMore<T> {
    One(T),
    More(Vec<T>),
}

impl<T> Default for OneOrMore<T> {
    fn default() -> Self {
        Self::More(Vec::new())
    }
}

impl<T> From<OneOrMore<T>> for Vec<T> {
    fn from(values: OneOrMore<T>) -> Self {
        match values {
            OneOrMore::One(value) => vec![value],
            OneOrMore::More(values) => values,
        }
    }
}

impl TryFrom<Written> for Policy {
    type Error = String;

    fn try_from(written: Written) -> Result<Self, String> {
        let name = written.name.trim().to_owned();
        if name.is_empty() || name.contains('/') || name.chars().any(char::is_control) {
            return Err("a policy needs a name without slashes".to_owned());
        }
        if written.text.is_some() && written.says.is_some() {
            return Err(format!("policy {} has both text and says", quoted(&name)));
        }
        let says = written.says.filter(|says| !says.trim().is_empty());
        let chosen: Vec<String> = written.choose.into();
        let replies = [
            (!chosen.is_empty()).then_some(Reply::Choice {
                selected: chosen,
                other: None,
            }),
            written.confirm.map(|confirmed| Reply::Confirm { confirmed }),
            written.continues.then_some(Reply::Continue),
        ];
        let mut replies = replies.into_iter().flatten();
        let reply = replies.next();
        if replies.next().is_some() {
            return Err(format!(
                "policy {} has more than one of choose, confirm and continue",
                quoted(&name)
            ));
        }
        let says_something = written.answer.is_some() || reply.is_some();
        let action = match (written.hold, says_something) {
            (true, false) => Action::Hold,
            (false, true) => Action::Answer(Answer {
                text: written.answer,
                reply,
                attachments: Vec::new(),
                ends_run: false,
            }),
            (true, true) => return Err(format!("policy {} both answers and holds", quoted(&name))),
            (false, false) => {
                return Err(format!(
                    "policy {} does nothing; add answer, choose, confirm, continue or hold",
                    quoted(&name)
                ));
            }
        };
        Ok(Self {
            name,
            in_a_row_max: written.in_a_row_max.unwrap_or(IN_A_ROW_DEFAULT),
            agent: written.agent,
            runtime: written.runtime.into(),
            project: written.project,
            payload: written.payload.into(),
            origin: written.origin.into(),
            text: written.text.or(says.map(|says| Pattern::of_words(&says))),
            hours: written.hours,
            until: written.until,
            action,
        })
    }
}
