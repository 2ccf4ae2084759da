//! Applies the rules to questions as they are asked.

use std::sync::Arc;

use protocol_spec::id::{CueId, RequestId};
use protocol_spec::message::{CueView, EventKind, Failure, Reply};
use protocol_spec::outcome::{Kind, Outcome};
use protocol_spec::payload::{Payload, Shape};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::mpsc;
use uuid::Uuid;

use super::rule::{Action, Asks, Case, Policy, first_fitting};
use crate::broker::{Broker, blocking};
use crate::engine::{Order, Work};
use crate::hours::minute_now;
use crate::store::{AgentRow, POLICY_PREFIX};
use crate::web::Settings;

/// Watches for questions and answers those a rule answers, for as long as the broker runs.
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

/// Looks at what was asked while nobody watched.
async fn look_at_open(broker: &Arc<Broker>) {
    if broker.config().policy.is_empty() {
        return;
    }
    let reading = Arc::clone(broker);
    match blocking(move || reading.reader().answerable(None)).await {
        Ok(cues) => {
            for cue in cues {
                consider(broker, cue.cue_id).await;
            }
        }
        Err(failure) => tracing::warn!(%failure, "the rules could not look at open questions"),
    }
}

async fn consider(broker: &Arc<Broker>, cue: CueId) {
    let config = broker.config();
    if config.policy.is_empty() {
        return;
    }
    if let Err(failure) = try_answer(broker, cue, &config.policy).await {
        tracing::warn!(%failure, %cue, "a rule could not answer; the question is left to a human");
    }
}

async fn try_answer(broker: &Arc<Broker>, cue: CueId, policies: &[Policy]) -> Result<(), Failure> {
    let reading = Arc::clone(broker);
    let known = blocking(move || {
        let reader = reading.reader();
        let Some(found) = reader.cue(cue)? else {
            return Ok(None);
        };
        let is_open = found.outcome == Outcome::Open && !reader.is_claimed(cue)?;
        let agent = reader.agent_rows(Some(&found.agent_id))?.pop();
        let in_a_row = reader.automatic_in_a_row(&found.agent_id)?;
        let settings = Settings::read(reader)?;
        Ok(agent
            .filter(|_| is_open)
            .map(|agent| (found, agent, in_a_row, settings)))
    });
    let Some((found, agent, in_a_row, settings)) = known.await? else {
        return Ok(());
    };
    let is_on = |policy: &Policy| settings.policies && !settings.policies_off.contains(&policy.name);
    let Some(policy) = first_fitting(policies, is_on, &case(&found, &agent)) else {
        return Ok(());
    };
    let Action::Answer(answer) = policy.action() else {
        return Ok(());
    };
    if in_a_row >= policy.in_a_row_max {
        tracing::info!(policy = policy.name, %cue, in_a_row, "enough automatic answers in a row; a human has to answer");
        return Ok(());
    }
    let name = policy.name.clone();
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
        answer: answer.clone(),
        by: Some(format!("{POLICY_PREFIX} {}", policy.name)),
        hold_ms: settings.hold_ms(),
    };
    submit(broker, work).await
}

async fn submit(broker: &Broker, work: Work) -> Result<(), Failure> {
    let engine = broker.engine();
    let (sender, mut replies) = mpsc::unbounded_channel();
    let order = Order {
        ticket: engine.ticket(),
        request: RequestId(Uuid::now_v7()),
        work,
    };
    if engine.order(order, sender).is_err() {
        return Ok(());
    }
    match replies.recv().await.map(|line| *line.reply) {
        Some(Reply::Error(failure)) => Err(failure),
        Some(_) | None => Ok(()),
    }
}

fn case<'a>(cue: &'a CueView, agent: &'a AgentRow) -> Case<'a> {
    let payload = cue
        .payload
        .as_deref()
        .and_then(|payload| Payload::parse(payload.get()).ok());
    let asks = match (cue.kind, payload.as_ref().map(Payload::shape)) {
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
        minute_of_day: minute_now(),
    }
}
