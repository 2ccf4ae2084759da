//! Tries a rule on the past: what would it have answered, and is that what was answered?

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

/// How many questions a rule is tried on.
const TRIED_MAX: u32 = 200;

/// What a rule would have done.
#[derive(Debug)]
pub(crate) struct Trial {
    /// On how many questions it was tried.
    pub(crate) tried: u32,
    /// Those that it would have answered or held, newest first.
    pub(crate) fitting: Vec<(CueView, Agrees)>,
}

/// How a rule's answer compares with what became of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Agrees {
    /// It is what was answered.
    Yes,
    /// Something else was answered, or the question was declined.
    No,
    /// Nothing was decided, or the rule leaves it to a human.
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

/// Says how a rule that fits a question compares with what became of it; nothing where it does not fit.
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
    // The broker refuses an answer that does not fit the question, also that of a rule.
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
