//! One file per operation: it checks the request and returns the next step.

pub(super) mod ack;
pub(super) mod agents;
pub(super) mod amend;
pub(super) mod answer;
pub(super) mod ask;
pub(super) mod attach;
pub(super) mod backup;
pub(super) mod bind;
pub(super) mod bootstrap;
pub(super) mod cancel;
pub(super) mod check;
pub(super) mod collect;
pub(super) mod decline;
pub(super) mod file;
pub(super) mod follow;
pub(super) mod history;
pub(super) mod import;
pub(super) mod inbox;
pub(super) mod join;
pub(super) mod last;
pub(super) mod link;
pub(super) mod public_probe;
pub(super) mod purge;
pub(super) mod recall;
pub(super) mod receipts;
pub(super) mod rest;
pub(super) mod revoke_token;
pub(super) mod run_claim;
pub(super) mod run_report;
pub(super) mod runs;
pub(super) mod say;
pub(super) mod seen;
pub(super) mod show;
pub(super) mod status;
pub(super) mod token;
pub(super) mod tokens;
pub(super) mod undo;
pub(super) mod unseen;
pub(super) mod watch;

use std::sync::Arc;

use protocol_spec::id::{AgentId, CueId};
use protocol_spec::message::{ErrorCode, Failure, Reply};
use protocol_spec::visible::quoted;

use crate::broker::{Broker, StopReason};
use crate::engine::Work;

/// The next step of a request.
pub(super) enum Next {
    /// A reply.
    Reply(Reply),
    /// Work for the engine, which replies.
    Submit(Work),
    /// Work for the engine whose outcome the caller waits for.
    Wait(Work),
    /// The broker stops, after the reply to the caller.
    Stop(StopReason),
}

/// Finds the question a human means by an id or a unique prefix of one.
pub(in crate::socket) async fn find_cue(broker: &Arc<Broker>, prefix: &str) -> Result<CueId, Failure> {
    if let Ok(id) = prefix.parse() {
        return Ok(id);
    }
    let wanted = prefix.to_ascii_lowercase();
    let found = broker
        .read(move |reader| reader.cues_with_prefix(&wanted))
        .await?;
    unique(
        &found,
        prefix,
        ErrorCode::UnknownCue,
        "question",
        "`cueme inbox` lists the open questions",
    )
}

/// Finds the agent a human means by an id or a unique prefix of one.
pub(in crate::socket) async fn find_agent(broker: &Arc<Broker>, prefix: &str) -> Result<AgentId, Failure> {
    let wanted = prefix.to_owned();
    let found = broker
        .read(move |reader| reader.agents_with_prefix(&wanted))
        .await?;
    if let Some(exact) = found.iter().find(|id| id.as_str() == prefix) {
        return Ok(exact.clone());
    }
    unique(
        &found,
        prefix,
        ErrorCode::UnknownAgent,
        "agent",
        "`cueme agents` lists them",
    )
}

pub(super) fn unique<T: Clone>(
    found: &[T],
    prefix: &str,
    code: ErrorCode,
    what: &str,
    hint: &str,
) -> Result<T, Failure> {
    match found {
        [one] if !prefix.is_empty() => Ok(one.clone()),
        [] | [_] => Err(Failure::new(code, format!("there is no {what} {}", quoted(prefix))).with_hint(hint)),
        _ => Err(Failure::new(
            ErrorCode::Ambiguous,
            format!("{} is the beginning of more than one {what}", quoted(prefix)),
        )
        .with_hint("type more of the id")),
    }
}
