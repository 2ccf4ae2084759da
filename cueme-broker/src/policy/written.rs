//! A rule as it is written, and what is wrong with one that makes no sense. Pure.

use protocol_spec::answer::{Answer, Reply};
use protocol_spec::outcome::Origin;
use protocol_spec::time::Timestamp;
use serde::Deserialize;

use super::case::Asks;
use super::pattern::Pattern;
use super::rule::{Action, IN_A_ROW_DEFAULT, Policy};
use crate::hours::Hours;

/// A rule as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Written {
    name: String,
    agent: Option<String>,
    #[serde(default)]
    runtime: OneOrMore<String>,
    project: Option<String>,
    #[serde(default)]
    payload: OneOrMore<Asks>,
    #[serde(default)]
    origin: OneOrMore<Origin>,
    text: Option<Pattern>,
    says: Option<String>,
    hours: Option<Hours>,
    until: Option<Timestamp>,
    in_a_row_max: Option<u32>,
    answer: Option<String>,
    #[serde(default)]
    choose: OneOrMore<String>,
    confirm: Option<bool>,
    #[serde(rename = "continue", default)]
    continues: bool,
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
            return Err(format!("policy {name:?} has both text and says"));
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
                "policy {name:?} has more than one of choose, confirm and continue"
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
            (true, true) => return Err(format!("policy {name:?} both answers and holds")),
            (false, false) => {
                return Err(format!(
                    "policy {name:?} does nothing; add answer, choose, confirm, continue or hold"
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
