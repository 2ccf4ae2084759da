//! Tries a rule on past questions, and compares its answers with the real ones.

use protocol_spec::answer::{Answer, Question};
use protocol_spec::id::AgentId;
use protocol_spec::message::CueView;
use protocol_spec::outcome::Outcome;
use protocol_spec::payload::Payload;
use std::collections::HashMap;

use super::apply::case;
use super::rule::{Action, Policy};
use crate::hours::minute_at;
use crate::store::{AgentRow, HistoryQuery, Reader, StoreError};

/// The most questions that a rule is tried on.
const TRIED_MAX: u32 = 200;

/// The result of a trial.
#[derive(Debug)]
pub(crate) struct Trial {
    /// The number of questions tried.
    pub(crate) tried: u32,
    /// Those that it would have answered or held, newest first.
    pub(crate) fitting: Vec<(CueView, Agrees)>,
}

/// The comparison of a rule's answer with the real outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Agrees {
    /// The answer was the same.
    Yes,
    /// The answer was different, or the question was declined.
    No,
    /// There was no decision, or the rule leaves the question to a human.
    Open,
}

/// Tries a rule on the newest questions.
pub(crate) fn try_rule(reader: &dyn Reader, policy: &Policy) -> Result<Trial, StoreError> {
    let agents: HashMap<AgentId, AgentRow> = reader
        .agent_rows(None)?
        .into_iter()
        .map(|agent| (agent.agent_id.clone(), agent))
        .collect();
    let mut trial = Trial {
        tried: 0,
        fitting: Vec::new(),
    };
    let query = HistoryQuery {
        limit: TRIED_MAX,
        ..HistoryQuery::default()
    };
    reader.history(&query, &mut |cue| {
        trial.tried += 1;
        if let Some(agrees) = agents
            .get(&cue.agent_id)
            .and_then(|agent| judge(policy, &cue, agent))
        {
            trial.fitting.push((cue, agrees));
        }
        true
    })?;
    Ok(trial)
}

/// Compares a rule's answer with the outcome of a question; `None` where the rule does not fit.
fn judge(policy: &Policy, cue: &CueView, agent: &AgentRow) -> Option<Agrees> {
    let payload = match cue.payload.as_deref() {
        Some(payload) => Some(Payload::parse(payload.get()).ok()?),
        None => None,
    };
    let shape = payload.as_ref().map(Payload::shape);
    if !policy.fits(&case(cue, shape, agent, minute_at(cue.asked_at))) {
        return None;
    }
    let Action::Answer(answer) = policy.action() else {
        return Some(Agrees::Open);
    };
    // The broker refuses a rule's answer that does not fit the question, like any other.
    let checked = answer
        .clone()
        .check(Question::new(cue.kind, payload.as_ref()))
        .ok()?;
    Some(match (cue.outcome, &cue.answer) {
        (Outcome::Answered, Some(given)) if is_same(given, checked.answer()) => Agrees::Yes,
        (Outcome::Answered | Outcome::Declined, _) => Agrees::No,
        (Outcome::Open | Outcome::Cancelled | Outcome::Superseded, _) => Agrees::Open,
    })
}

fn is_same(given: &Answer, rule: &Answer) -> bool {
    let words = |answer: &Answer| answer.text.as_deref().unwrap_or_default().trim().to_lowercase();
    given.reply == rule.reply && words(given) == words(rule)
}
