//! Applies the rules to new questions.

use std::sync::Arc;

use protocol_spec::answer::Answer;
use protocol_spec::id::CueId;
use protocol_spec::message::{CueView, EventKind, Failure};
use protocol_spec::outcome::{Kind, Outcome};
use protocol_spec::payload::{Payload, Shape};
use tokio::sync::broadcast::error::RecvError;

use super::case::{Asks, Case};
use super::rule::{Action, Policy, first_fitting};
use crate::broker::Broker;
use crate::broker::wall_clock;
use crate::engine::Work;
use crate::hours::minute_now;
use crate::settings::Settings;
use crate::store::{AgentRow, POLICY_PREFIX, Reader, StoreError};

/// Watches for questions and answers those that a rule answers, for as long as the broker runs.
pub(crate) async fn watch(broker: Arc<Broker>) {
    let mut events = broker.engine().events();
    look_at_open(&broker).await;
    loop {
        match events.recv().await {
            Ok(events) => {
                let asked = events.iter().filter(|event| event.what == EventKind::Asked);
                for cue in asked.filter_map(|event| event.cue_id) {
                    consider(&broker, cue).await;
                }
            }
            Err(RecvError::Lagged(_)) => look_at_open(&broker).await,
            Err(RecvError::Closed) => return,
        }
    }
}

/// Handles the questions that were asked while the broker did not watch.
async fn look_at_open(broker: &Arc<Broker>) {
    if !broker.has_policies() {
        return;
    }
    match broker.read(|reader| reader.answerable(None)).await {
        Ok(cues) => {
            for cue in cues {
                consider(broker, cue.cue_id).await;
            }
        }
        Err(failure) => tracing::warn!(%failure, "the rules could not look at open questions"),
    }
}

async fn consider(broker: &Arc<Broker>, cue: CueId) {
    if !broker.has_policies() {
        return;
    }
    if let Err(failure) = try_answer(broker, cue, broker.policies()).await {
        tracing::warn!(%failure, %cue, "a rule could not answer; the question is left to a human");
    }
}

/// The answer of a rule.
struct Ready {
    name: String,
    answer: Answer,
    hold_ms: u64,
}

async fn try_answer(broker: &Arc<Broker>, cue: CueId, policies: Vec<Policy>) -> Result<(), Failure> {
    // On another thread, because a pattern takes a while on a long question.
    let ready = broker.read(move |reader| find_answer(reader, cue, &policies));
    let Some(ready) = ready.await? else {
        return Ok(());
    };
    let name = ready.name.clone();
    // Claimed first: after a crash in between, the question is a human's.
    let claimed = broker
        .engine()
        .write_even_if_full(move |store, now| store.claim_for_policy(cue, &name, now))
        .await;
    if !matches!(claimed, Ok(Ok(true))) {
        return Ok(());
    }
    let work = Work::Answer {
        cue,
        answer: ready.answer,
        by: Some(format!("{POLICY_PREFIX} {}", ready.name)),
        hold_ms: ready.hold_ms,
    };
    broker.submit(work).await
}

/// Finds the answer of the first fitting rule, unless the question is a human's.
fn find_answer(reader: &dyn Reader, cue: CueId, policies: &[Policy]) -> Result<Option<Ready>, StoreError> {
    let Some(found) = reader.cue(cue)? else {
        return Ok(None);
    };
    let settings = Settings::read(reader)?;
    let Some((policy, answer)) = fitting(reader, &found, &settings, policies)? else {
        return Ok(None);
    };
    if has_enough(reader, &found, policy)? {
        tracing::info!(policy = policy.name, %cue, "enough automatic answers in a row; a human has to answer");
        return Ok(None);
    }
    Ok(Some(Ready {
        name: policy.name.clone(),
        answer: answer.clone(),
        hold_ms: settings.hold_ms(),
    }))
}

/// Finds the rule that would answer an open question, had there not been enough automatic answers in a row.
pub(crate) fn stopped<'a>(
    reader: &dyn Reader,
    cue: &CueView,
    policies: &'a [Policy],
) -> Result<Option<&'a Policy>, StoreError> {
    let settings = Settings::read(reader)?;
    match fitting(reader, cue, &settings, policies)? {
        Some((policy, _)) if has_enough(reader, cue, policy)? => Ok(Some(policy)),
        Some(_) | None => Ok(None),
    }
}

/// Finds the first fitting rule for a question that no rule has tried yet, if it answers.
fn fitting<'a>(
    reader: &dyn Reader,
    found: &CueView,
    settings: &Settings,
    policies: &'a [Policy],
) -> Result<Option<(&'a Policy, &'a Answer)>, StoreError> {
    if policies.is_empty() || found.outcome != Outcome::Open || reader.is_claimed(found.cue_id)? {
        return Ok(None);
    }
    let Some(agent) = reader.agent_rows(Some(&found.agent_id))?.pop() else {
        return Ok(None);
    };
    let is_on = |policy: &Policy| settings.policies && !settings.policies_off.contains(&policy.name);
    let payload = found
        .payload
        .as_deref()
        .and_then(|payload| Payload::parse(payload.get()).ok());
    let case = case(found, payload.as_ref().map(Payload::shape), &agent, minute_now());
    Ok(
        first_fitting(policies, is_on, &case).and_then(|policy| match policy.action() {
            Action::Answer(answer) => Some((policy, answer)),
            Action::Hold => None,
        }),
    )
}

fn has_enough(reader: &dyn Reader, found: &CueView, policy: &Policy) -> Result<bool, StoreError> {
    Ok(reader.automatic_in_a_row(&found.agent_id)? >= policy.in_a_row_max)
}

/// Turns a question into a case for the rules.
pub(crate) fn case<'a>(
    cue: &'a CueView,
    shape: Option<&'a Shape>,
    agent: &'a AgentRow,
    minute_of_day: u16,
) -> Case<'a> {
    let asks = match (cue.kind, shape) {
        (Kind::Pause, _) => Asks::Pause,
        (Kind::Cue, None) => Asks::None,
        (Kind::Cue, Some(Shape::Choice(_))) => Asks::Choice,
        (Kind::Cue, Some(Shape::Confirm(_))) => Asks::Confirm,
        (Kind::Cue, Some(Shape::Form(_))) => Asks::Form,
    };
    Case {
        agent_id: agent.agent_id.as_str(),
        agent_name: agent.name.as_deref(),
        runtime: agent.runtime.as_str(),
        project_dir: &agent.project_dir,
        asks,
        origin: cue.origin,
        prompt: &cue.prompt,
        shape,
        minute_of_day,
        at: wall_clock(),
    }
}
