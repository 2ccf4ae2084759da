//! Runs that adapters drive, and their events.

use protocol_spec::id::{AgentId, CueId, RunId};
use protocol_spec::message::{Run, RunEvent, RunKind};
use protocol_spec::time::Timestamp;

use crate::StoreError;

/// A run as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunRow {
    /// The run.
    pub run: Run,
    /// When it began.
    pub started_at: Timestamp,
    /// When it was last reported.
    pub changed_at: Timestamp,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
}

/// A query for runs, newest first.
#[derive(Debug, Clone, Default)]
pub struct RunsWanted {
    /// Only those in this place.
    pub kind: Option<RunKind>,
    /// Only those whose id or session begins like this.
    pub name: Option<String>,
    /// Only this agent's.
    pub agent: Option<AgentId>,
    /// The maximum number of runs.
    pub limit: u32,
}

/// Keeps runs.
pub trait RunRecords {
    /// Stores the state of a run. An unknown agent is left out; a run that has ended stays ended.
    fn keep_run(&self, run: &Run, at: Timestamp) -> Result<(), StoreError>;

    /// Adds events to a run; events of an unknown run are dropped.
    fn note_run_event(&self, run: RunId, event: &RunEvent) -> Result<(), StoreError>;

    /// Returns the runs of a conversation that have not ended.
    fn open_runs_of_session(&self, session: &str) -> Result<Vec<RunId>, StoreError>;

    /// Says whether a question was asked by the agent of a run that has not ended.
    fn is_of_open_run(&self, cue: CueId) -> Result<bool, StoreError>;

    /// Says whether an agent has joined.
    fn has_agent(&self, agent: &AgentId) -> Result<bool, StoreError>;
}

/// Reads runs.
pub trait RunReads {
    /// Lists runs, newest first.
    fn runs(&self, wanted: &RunsWanted) -> Result<Vec<RunRow>, StoreError>;

    /// Returns the runs in the cloud that have not ended and whose agent is known, newest first.
    fn open_cloud_runs(&self, limit: usize) -> Result<Vec<Run>, StoreError>;

    /// Says whether an agent works in a run that has not ended.
    fn has_open_run(&self, agent: &AgentId) -> Result<bool, StoreError>;

    /// Returns one run.
    fn one_run(&self, run: RunId) -> Result<Option<RunRow>, StoreError>;

    /// Returns the events of a run, oldest first.
    fn run_events(&self, run: RunId) -> Result<Vec<RunEvent>, StoreError>;

    /// Returns the runtime's own name for an agent's conversation, as it joined with.
    fn session_of_agent(&self, agent: &AgentId) -> Result<Option<String>, StoreError>;
}
