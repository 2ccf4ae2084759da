//! Questions, past and present, as humans read them.

use protocol_spec::id::{AgentId, CueId};
use protocol_spec::message::{AgentView, CueView, EventView, Match, Receipt};

use crate::StoreError;

/// A query for past questions, newest first.
#[derive(Debug, Clone, Default)]
pub struct HistoryQuery {
    /// Only this agent's.
    pub agent: Option<AgentId>,
    /// Only those with these words.
    pub search: Option<String>,
    /// Only those before this sequence number.
    pub before: Option<i64>,
    /// The maximum number of questions.
    pub limit: u32,
}

/// The result of a recall.
#[derive(Debug)]
pub struct Recollection {
    /// Agents, best first.
    pub matches: Vec<Match>,
    /// Whether the first of them is the match; otherwise none is certain.
    pub is_clear: bool,
}

/// Reads questions, agents and events.
pub trait QuestionReads {
    /// Visits the open questions and those that are out of service, oldest first, until `visit` says to stop.
    fn inbox(&self, visit: &mut dyn FnMut(CueView) -> bool) -> Result<(), StoreError>;

    /// Visits the questions that a queued answer answered and no human has looked at, oldest first.
    fn unseen(&self, visit: &mut dyn FnMut(CueView) -> bool) -> Result<(), StoreError>;

    /// Finds the ids of questions that begin with `prefix`: at most two, which is enough to know whether it is unique.
    fn cues_with_prefix(&self, prefix: &str) -> Result<Vec<CueId>, StoreError>;

    /// Finds the ids of agents that begin with `prefix`, like [`cues_with_prefix`](Self::cues_with_prefix).
    fn agents_with_prefix(&self, prefix: &str) -> Result<Vec<AgentId>, StoreError>;

    /// Returns one question whole.
    fn cue(&self, cue: CueId) -> Result<Option<CueView>, StoreError>;

    /// Returns the payload of a question as it was written; nothing when there is no such question.
    fn payload(&self, cue: CueId) -> Result<Option<Option<String>>, StoreError>;

    /// Returns the last question of an agent that was answered.
    fn last_answered(&self, agent: &AgentId) -> Result<Option<CueView>, StoreError>;

    /// Visits past and present questions, newest first; returns whether there are more.
    fn history(
        &self,
        query: &HistoryQuery,
        visit: &mut dyn FnMut(CueView) -> bool,
    ) -> Result<bool, StoreError>;

    /// Visits the answered questions of a project's agents, at most `limit`: the newest of each agent, newest first.
    fn answered_in_project(
        &self,
        project_dir: &str,
        limit: u32,
        visit: &mut dyn FnMut(CueView) -> bool,
    ) -> Result<(), StoreError>;

    /// Visits the agents, the last seen first.
    fn agents(&self, visit: &mut dyn FnMut(AgentView) -> bool) -> Result<(), StoreError>;

    /// Finds agents by their questions and answers, best first.
    fn recall(&self, hints: &str, project_dir: Option<&str>) -> Result<Recollection, StoreError>;

    /// Finds agents like [`recall`](Self::recall), among those that are wanted only.
    fn recall_among(
        &self,
        hints: &str,
        project_dir: Option<&str>,
        is_wanted: &dyn Fn(&AgentId) -> Result<bool, StoreError>,
    ) -> Result<Recollection, StoreError>;

    /// Returns the acknowledged deliveries of a turn, oldest first.
    fn receipts(&self, nonce: &str) -> Result<Vec<Receipt>, StoreError>;

    /// Returns up to `limit` events after `id`, oldest first.
    fn events_after(&self, id: i64, limit: u32) -> Result<Vec<EventView>, StoreError>;

    /// Returns the newest event's id, zero if there is none.
    fn newest_event(&self) -> Result<i64, StoreError>;

    /// Returns 8 hexadecimal digits that name the history which the numbers of events belong to. They change when the database is
    /// restored, moved, or fails over: the same numbers then mean other events. A store of one broker has none.
    fn history_id(&self) -> Result<Option<String>, StoreError> {
        Ok(None)
    }
}
