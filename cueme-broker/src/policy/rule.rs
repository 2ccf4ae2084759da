//! One rule: its conditions and its action. Pure.

use protocol_spec::answer::{Answer, Reply};
use protocol_spec::outcome::Origin;
use protocol_spec::time::Timestamp;
use serde::Deserialize;

use super::case::{Asks, Case};
use super::glob::fits;
use super::pattern::Pattern;
use super::written::Written;
use crate::hours::Hours;

/// The default of the most automatic answers in a row.
pub const IN_A_ROW_DEFAULT: u32 = 3;
/// The longest question that a pattern is matched against, in bytes. A longer one is too long for a human to have read:
/// a rule that holds fits it, and a rule that answers does not.
pub(super) const PATTERN_BYTES_MAX: usize = 1024 * 1024;

/// A rule of the configuration.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Written")]
pub struct Policy {
    /// Its name, shown with all its answers.
    pub name: String,
    /// The most automatic answers in a row before a human has to answer.
    pub in_a_row_max: u32,
    pub(super) agent: Option<String>,
    pub(super) runtime: Vec<String>,
    pub(super) project: Option<String>,
    pub(super) payload: Vec<Asks>,
    pub(super) origin: Vec<Origin>,
    pub(super) text: Option<Pattern>,
    pub(super) hours: Option<Hours>,
    pub(super) until: Option<Timestamp>,
    pub(super) action: Action,
}

/// The action of a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// It answers.
    Answer(Answer),
    /// It leaves the question to a human, and later rules are not tried.
    Hold,
}

/// Returns the first rule that is on and fits.
pub fn first_fitting<'a>(
    policies: &'a [Policy],
    is_on: impl Fn(&Policy) -> bool,
    case: &Case<'_>,
) -> Option<&'a Policy> {
    policies.iter().find(|policy| is_on(policy) && policy.fits(case))
}

impl Policy {
    /// Returns its action.
    pub fn action(&self) -> &Action {
        &self.action
    }

    /// Says whether it has expired.
    pub fn has_ended(&self, at: Timestamp) -> bool {
        self.until.is_some_and(|until| until <= at)
    }

    /// Returns when it expires, if it does.
    pub fn until(&self) -> Option<Timestamp> {
        self.until
    }

    /// Says whether it fits a question.
    pub fn fits(&self, case: &Case<'_>) -> bool {
        !self.has_ended(case.at)
            && self.fits_agent(case)
            && self.fits_origin(case.origin)
            && (self.payload.is_empty() || self.payload.contains(&case.asks))
            && self.hours.is_none_or(|hours| hours.contains(case.minute_of_day))
            && self.fits_text(case)
    }

    fn fits_text(&self, case: &Case<'_>) -> bool {
        let Some(pattern) = &self.text else { return true };
        let words = case.words();
        if words.iter().map(|part| part.len()).sum::<usize>() > PATTERN_BYTES_MAX {
            return self.action == Action::Hold;
        }
        match self.action {
            // A rule that holds matches any part of it.
            Action::Hold => pattern.is_in(&words),
            // A rule that answers has to match the whole text that is agreed to, so that nothing comes before or after
            // it.
            Action::Answer(_) => pattern.is_all_of(&case.agreed_to()),
        }
    }

    fn fits_agent(&self, case: &Case<'_>) -> bool {
        let is_named = |pattern: &String| {
            fits(pattern, case.agent_id) || case.agent_name.is_some_and(|name| fits(pattern, name))
        };
        self.agent.as_ref().is_none_or(is_named)
            && (self.runtime.is_empty() || self.runtime.iter().any(|runtime| fits(runtime, case.runtime)))
            && self
                .project
                .as_ref()
                .is_none_or(|project| fits(project, case.project_dir))
    }

    /// A question of a hook or an approval has consequences of its own, so a rule must name that origin.
    fn fits_origin(&self, origin: Origin) -> bool {
        match origin {
            Origin::Agent | Origin::Adapter => self.origin.is_empty() || self.origin.contains(&origin),
            Origin::Hook | Origin::Approval | Origin::Import => self.origin.contains(&origin),
        }
    }

    /// Describes its conditions and its action in words.
    pub fn describe(&self) -> String {
        let mut when = Vec::new();
        when.extend(self.agent.as_ref().map(|agent| format!("agent {agent}")));
        if !self.runtime.is_empty() {
            when.push(format!("runtime {}", self.runtime.join(" or ")));
        }
        when.extend(self.project.as_ref().map(|project| format!("project {project}")));
        if !self.payload.is_empty() {
            let kinds: Vec<String> = self.payload.iter().map(|kind| kind.name().to_owned()).collect();
            when.push(format!("payload {}", kinds.join(" or ")));
        }
        if !self.origin.is_empty() {
            let origins: Vec<String> = self
                .origin
                .iter()
                .map(|origin| format!("{origin:?}").to_lowercase())
                .collect();
            when.push(format!("opened by {}", origins.join(" or ")));
        }
        when.extend(self.text.as_ref().map(Pattern::describe));
        when.extend(self.hours.map(|hours| format!("at {hours}")));
        let when = if when.is_empty() {
            "always".to_owned()
        } else {
            when.join(", ")
        };
        let then = match &self.action {
            Action::Hold => "leave it to a human".to_owned(),
            Action::Answer(answer) => format!("answer {}", in_words(answer)),
        };
        format!("{when}: {then}")
    }
}

fn in_words(answer: &Answer) -> String {
    let reply = match &answer.reply {
        Some(Reply::Choice { selected, .. }) => Some(selected.join(", ")),
        Some(Reply::Confirm { confirmed: true }) => Some("yes".to_owned()),
        Some(Reply::Confirm { confirmed: false }) => Some("no".to_owned()),
        Some(Reply::Continue) => Some("continue".to_owned()),
        Some(Reply::Form { .. }) | None => None,
    };
    let parts: Vec<String> = reply
        .into_iter()
        .chain(answer.text.clone())
        .map(|part| format!("\"{part}\""))
        .collect();
    parts.join(" and ")
}
