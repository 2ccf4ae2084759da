//! Drafts, with a revision so that no client overwrites a change that it has not seen.

use protocol_spec::id::{AgentId, CueId};
use protocol_spec::time::Timestamp;

use crate::StoreError;

/// A draft as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft {
    /// Grows by one with each change.
    pub rev: i64,
    /// JSON in the page's own format.
    pub body: String,
    /// The author.
    pub by: Option<String>,
    /// When.
    pub at: Timestamp,
}

/// The place that a draft belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DraftPlace(String);

impl DraftPlace {
    /// The answer to a question.
    pub fn cue(cue: CueId) -> Self {
        Self(format!("cue:{cue}"))
    }

    /// A message for an agent.
    pub fn agent(agent: &AgentId) -> Self {
        Self(format!("agent:{agent}"))
    }

    /// Returns the place's name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Keeps drafts.
pub trait DraftRecords {
    /// Stores a draft that is based on revision `base`; with another base, returns the stored draft instead.
    fn keep_draft(
        &self,
        place: &DraftPlace,
        base: i64,
        body: &str,
        by: Option<&str>,
        at: Timestamp,
    ) -> Result<Result<Draft, Draft>, StoreError>;

    /// Stores a sent draft as it was, so that an undo loses nothing.
    fn keep_sent(
        &self,
        place: &DraftPlace,
        body: &str,
        by: Option<&str>,
        at: Timestamp,
    ) -> Result<Draft, StoreError>;

    /// Deletes a draft.
    fn drop_draft(&self, place: &DraftPlace) -> Result<(), StoreError>;

    /// Deletes drafts for questions that are settled or gone.
    fn drop_settled_drafts(&self) -> Result<(), StoreError>;
}

/// Reads drafts.
pub trait DraftReads {
    /// Returns the draft for a place.
    fn draft(&self, place: &DraftPlace) -> Result<Option<Draft>, StoreError>;
}
