//! Agents and questions as the inbox shows them: enough to choose from, without the long texts.

use cueme_rules::ContentKey;
use protocol_spec::id::{AgentId, CueId, RequestId, RuntimeTag};
use protocol_spec::message::Purpose;
use protocol_spec::outcome::{Delivery, Kind, Origin, Outcome};
use protocol_spec::time::Timestamp;

use crate::StoreError;

/// An agent, with the settings that a human made for it.
#[derive(Debug, Clone)]
pub struct AgentRow {
    /// Its id.
    pub agent_id: AgentId,
    /// The runtime it lives in.
    pub runtime: RuntimeTag,
    /// The directory it works in.
    pub project_dir: String,
    /// Its shell family.
    pub terminal: String,
    /// The name a human gave it.
    pub name: Option<String>,
    /// When it joined.
    pub joined_at: Timestamp,
    /// When it last asked.
    pub seen_at: Timestamp,
    /// Whether it is pinned.
    pub pinned: bool,
    /// Whether it is archived.
    pub archived: bool,
    /// The standing instruction, appended to each of its answers.
    pub standing: Option<String>,
    /// Messages that wait for it.
    pub queued: u32,
    /// Questions and automatic answers that no human has looked at.
    pub unread: u32,
    /// When the last of its runs ended, if none goes on.
    pub ended_at: Option<Timestamp>,
}

impl AgentRow {
    /// Returns the last part of the project's path.
    #[must_use]
    pub fn project_name(&self) -> &str {
        let path = self.project_dir.trim_end_matches('/');
        path.rsplit('/').next().unwrap_or_default()
    }
}

/// A question in short.
#[derive(Debug, Clone)]
pub struct CueRow {
    /// Its id.
    pub cue_id: CueId,
    /// Its place in the order of all questions.
    pub seq: i64,
    /// The asking agent.
    pub agent_id: AgentId,
    /// The verb.
    pub kind: Kind,
    /// The origin of the question.
    pub origin: Origin,
    /// The beginning of the prompt.
    pub beginning: String,
    /// The payload's type.
    pub payload_type: Option<String>,
    /// The outcome.
    pub outcome: Outcome,
    /// Whether the agent knows.
    pub delivery: Delivery,
    /// When it was asked.
    pub asked_at: Timestamp,
    /// When it was decided.
    pub decided_at: Option<Timestamp>,
    /// When the decision is released, while it can be taken back.
    pub released_at: Option<Timestamp>,
    /// When the agent acknowledged it.
    pub acknowledged_at: Option<Timestamp>,
    /// The author of the decision.
    pub by: Option<String>,
    /// Whether a queued answer decided it.
    pub from_queue: bool,
    /// Whether its record is damaged, while the agent has not acknowledged an outcome.
    pub damaged: bool,
    /// The key of its content, the same for every agent that asks it; absent where the row was not read from the store.
    pub content: Option<ContentKey>,
}

/// Questions that need a human.
#[derive(Debug, Default)]
pub struct Pending {
    /// Those that can be answered, those left behind last.
    pub answerable: Vec<CueRow>,
    /// Those that are out of service.
    pub damaged: Vec<CueRow>,
}

/// A message that waits for an agent.
#[derive(Debug, Clone)]
pub struct MessageRow {
    /// Its key.
    pub request: RequestId,
    /// Its text.
    pub text: String,
    /// Its purpose.
    pub purpose: Purpose,
    /// Its author.
    pub by: Option<String>,
    /// When.
    pub at: Timestamp,
}

/// Reads agents and questions in short.
pub trait CardReads {
    /// Returns all agents, or one.
    fn agent_rows(&self, agent: Option<&AgentId>) -> Result<Vec<AgentRow>, StoreError>;

    /// Returns the questions that can be answered, those left behind last.
    fn answerable(&self, agent: Option<&AgentId>) -> Result<Vec<CueRow>, StoreError>;

    /// Returns the questions that need a human.
    fn pending(&self, agent: Option<&AgentId>) -> Result<Pending, StoreError>;

    /// Returns the newest question of each agent, or of one.
    fn newest_of_agents(&self, agent: Option<&AgentId>) -> Result<Vec<CueRow>, StoreError>;

    /// Returns one question in short.
    fn cue_row(&self, cue: CueId) -> Result<Option<CueRow>, StoreError>;

    /// Finds questions in which all words occur, newest first, each with the text around the first of them.
    fn search_cues(
        &self,
        words: &str,
        agent: Option<&AgentId>,
        before: Option<i64>,
        limit: u32,
    ) -> Result<Vec<(CueRow, String)>, StoreError>;

    /// Returns the messages that wait for an agent, in the order of delivery.
    fn messages(&self, agent: &AgentId) -> Result<Vec<MessageRow>, StoreError>;
}
