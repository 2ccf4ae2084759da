//! Maintenance of a store: indexing, checks, backups, deletion of old questions.

use std::path::Path;

use protocol_spec::time::Timestamp;

use crate::StoreError;

/// The result of a check of the database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckReport {
    /// Empty when all is well.
    pub problems: Vec<String>,
    /// The schema's number.
    pub schema: u32,
    /// Stored questions.
    pub cues: u64,
    /// Size, in bytes.
    pub bytes: u64,
}

/// Maintenance that the engine gives its store time for.
pub trait Upkeep {
    /// Says whether there is deferred work, such as indexing.
    fn is_behind(&self) -> bool;

    /// Indexes a batch of new texts, in a transaction of its own; returns whether there is more.
    fn index_some(&self) -> Result<bool, StoreError>;

    /// Does a piece of the other deferred work, and retries failed work later.
    fn prepare_for_more(&self);

    /// Does the work after a commit, once its replies and events are out.
    fn after_commit(&mut self);

    /// Enters or leaves the mode for little disk space.
    fn save_space(&self, is_saving: bool);

    /// Leaves the store in the form that opens fastest at the next start.
    fn flush(&mut self) -> Result<(), StoreError>;
}

/// Deletes old questions and returns space to the system, in a transaction of the engine.
pub trait UpkeepRecords {
    /// Deletes up to a batch of questions that were acknowledged before `before`.
    ///
    /// Returns how many there were and whether there may be more.
    fn purge_some(&self, before: Timestamp) -> Result<(u64, bool), StoreError>;

    /// Counts the questions [`purge_some`](Self::purge_some) would delete.
    fn count_purgeable(&self, before: Timestamp) -> Result<u64, StoreError>;

    /// Returns some space, if more than this share of it is empty; returns whether it is to be called again.
    fn shrink_some(&self, empty_percent_max: u8) -> Result<bool, StoreError>;
}

/// Maintenance that needs no writer.
pub trait UpkeepReads {
    /// Checks the whole store: contents, indexes, references.
    fn check(&self) -> Result<CheckReport, StoreError>;

    /// Writes a consistent copy while the broker works, and verifies it.
    fn back_up(&self, to: &Path) -> Result<CheckReport, StoreError>;
}
