//! An agent with its questions.

use protocol_spec::outcome::Outcome;
use protocol_spec::time::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use super::cue::CueCard;
use super::time::When;
use crate::store::AgentRow;
use crate::web::markdown::visible;

/// The time after its last sign during which an agent counts as working.
const WORKING_MS: u64 = 30 * 60 * 1000;

/// The state of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum AgentState {
    /// It asked, and waits.
    Waiting,
    /// It asked, and no client waits.
    Detached,
    /// It has no question and was seen lately.
    Working,
    /// It was not seen for a while.
    Quiet,
}

/// An agent.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "Agent")]
pub(in crate::web) struct AgentCard {
    agent_id: String,
    name: Option<String>,
    runtime: String,
    project_dir: String,
    project: String,
    terminal: String,
    joined_at: When,
    seen_at: When,
    state: AgentState,
    since: When,
    pinned: bool,
    archived: bool,
    standing: Option<String>,
    unread: u32,
    queued: u32,
    open: Vec<CueCard>,
    /// Questions that are out of service until a human closes them.
    damaged: Vec<CueCard>,
    last: Option<CueCard>,
}

impl AgentCard {
    /// Builds the view of an agent.
    pub(in crate::web) fn new(
        agent: AgentRow,
        open: Vec<CueCard>,
        damaged: Vec<CueCard>,
        last: Option<CueCard>,
        now: Timestamp,
    ) -> Self {
        let (state, since) = state_of(&agent, &open, last.as_ref(), now);
        Self {
            project: visible(agent.project_name()).into_owned(),
            agent_id: agent.agent_id.into(),
            name: agent.name,
            runtime: agent.runtime.into(),
            project_dir: visible(&agent.project_dir).into_owned(),
            terminal: visible(&agent.terminal).into_owned(),
            joined_at: agent.joined_at.into(),
            seen_at: agent.seen_at.into(),
            state,
            since,
            pinned: agent.pinned,
            archived: agent.archived,
            standing: agent.standing,
            unread: agent.unread,
            queued: agent.queued,
            open,
            damaged,
            last,
        }
    }
}

/// Returns the state of an agent, and since when it has it.
fn state_of(
    agent: &AgentRow,
    open: &[CueCard],
    last: Option<&CueCard>,
    now: Timestamp,
) -> (AgentState, When) {
    let asked: Vec<&CueCard> = open.iter().filter(|cue| cue.outcome == Outcome::Open).collect();
    if let Some(longest) = asked
        .iter()
        .filter(|cue| cue.waiting > 0)
        .map(|cue| cue.asked_at)
        .min()
    {
        return (AgentState::Waiting, longest);
    }
    if let Some(longest) = asked
        .iter()
        .map(|cue| cue.detached_at.unwrap_or(cue.asked_at))
        .min()
    {
        return (AgentState::Detached, longest);
    }
    let sign = [
        Some(agent.seen_at.into()),
        last.and_then(|cue| cue.acknowledged_at),
    ]
    .into_iter()
    .flatten()
    .max()
    .unwrap_or(When(agent.seen_at));
    if let Some(ended_at) = agent.ended_at.filter(|ended_at| *ended_at >= sign.0) {
        return (AgentState::Quiet, ended_at.into());
    }
    if now.millis_since(sign.0) < WORKING_MS {
        (AgentState::Working, sign)
    } else {
        (AgentState::Quiet, sign)
    }
}
