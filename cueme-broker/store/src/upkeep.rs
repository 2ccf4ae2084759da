//! What keeps a store in order: indexes, checks, copies, deletion of what is old.

use std::path::Path;

use protocol_spec::time::Timestamp;

use crate::StoreError;

/// What a check of the database found.
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

/// Work that the engine gives its store time for.
pub trait Upkeep {
    /// Says whether there is work that can wait, such as indexing.
    fn is_behind(&self) -> bool;

    /// Indexes some of what was written, in a transaction of its own; returns whether there is more.
    fn index_some(&self) -> Result<bool, StoreError>;

    /// Does a piece of the other work that can wait, and tries again later what fails.
    fn prepare_for_more(&self);

    /// Does what follows a commit, once everybody has heard of it.
    fn after_commit(&mut self);

    /// Gets along with little space, or not any more.
    fn be_frugal(&self, is_frugal: bool);

    /// Leaves everything in the form that the next start opens fastest.
    fn flush(&mut self) -> Result<(), StoreError>;
}

/// Deletes what is old and gives space back, in a transaction of the engine.
pub trait UpkeepRecords {
    /// Deletes up to a batch of questions that were acknowledged before `before`.
    ///
    /// Returns how many there were and whether there may be more.
    fn purge_some(&self, before: Timestamp) -> Result<(u64, bool), StoreError>;

    /// Counts the questions [`purge_some`](Self::purge_some) would delete.
    fn count_purgeable(&self, before: Timestamp) -> Result<u64, StoreError>;

    /// Gives some space back, if more than this share of it is empty; returns whether it is to be called again.
    fn shrink_some(&self, empty_percent_max: u8) -> Result<bool, StoreError>;
}

/// Upkeep that needs no writer.
pub trait UpkeepReads {
    /// Checks the whole store: contents, indexes, references.
    fn check(&self) -> Result<CheckReport, StoreError>;

    /// Writes a consistent copy while the broker works, and verifies it.
    fn back_up(&self, to: &Path) -> Result<CheckReport, StoreError>;
}
