//! What somebody has begun to write, with a revision so that nobody overwrites what they have not seen.

use protocol_spec::id::{AgentId, CueId};
use protocol_spec::time::Timestamp;

use crate::StoreError;

/// A draft as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft {
    /// Grows by one with each change.
    pub rev: i64,
    /// JSON of the page's own making.
    pub body: String,
    /// Who wrote it.
    pub by: Option<String>,
    /// When.
    pub at: Timestamp,
}

/// What a draft is for.
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
    /// Keeps a draft that is based on revision `base`; another base returns the draft that is there instead.
    fn keep_draft(
        &self,
        place: &DraftPlace,
        base: i64,
        body: &str,
        by: Option<&str>,
        at: Timestamp,
    ) -> Result<Result<Draft, Draft>, StoreError>;

    /// Keeps what was sent as the draft it was, so that taking it back loses nothing.
    fn keep_sent(
        &self,
        place: &DraftPlace,
        body: &str,
        by: Option<&str>,
        at: Timestamp,
    ) -> Result<Draft, StoreError>;

    /// Throws a draft away.
    fn drop_draft(&self, place: &DraftPlace) -> Result<(), StoreError>;

    /// Throws away drafts for questions that are settled or gone.
    fn drop_settled_drafts(&self) -> Result<(), StoreError>;
}

/// Reads drafts.
pub trait DraftReads {
    /// Returns the draft for a place.
    fn draft(&self, place: &DraftPlace) -> Result<Option<Draft>, StoreError>;
}
