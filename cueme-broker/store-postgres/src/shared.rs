//! The state that the writer, the listener and a reopened store share.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use cueme_store::{BatchId, Leadership};
use protocol_spec::message::EventView;
use tokio::sync::Notify;
use uuid::Uuid;

use crate::lease::Broker;

/// The one row that every transaction locks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Head {
    pub(crate) revision: i64,
    pub(crate) event: i64,
    pub(crate) records: i64,
}

/// The state that outlives a connection.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) broker: Broker,
    pub(crate) location: PathBuf,
    /// The file that has the inbox of this machine when no database is configured.
    pub(crate) file: Option<PathBuf>,
    pub(crate) leadership: Leadership,
    /// Asks the listener to notify the other brokers of a commit. Pending requests are merged.
    pub(crate) bell: Notify,
    /// Whether the broker has left, so that its lease is not to be renewed.
    has_left: AtomicBool,
    told: Mutex<PublishedUpTo>,
}

/// The point up to which this broker has published events to its own clients.
#[derive(Debug, Default)]
struct PublishedUpTo {
    /// The head at that time; none before the first connection.
    head: Option<Head>,
    /// The identity of the database.
    identity: Option<Uuid>,
    /// The newest event at that time, as far as it was seen.
    newest: Option<EventView>,
    /// The point after the commit of this batch, if it was committed.
    pending: Option<(BatchId, Head, Option<EventView>)>,
    /// The newest batch that is known to be committed. One that changed nothing leaves no trace in the database.
    committed: Option<BatchId>,
    /// Whether the database was replaced or lost its newest part, and the engine does not know it yet.
    is_replaced: bool,
}

impl PublishedUpTo {
    fn is_continued_by(&self, identity: Uuid, head: Head) -> bool {
        let is_same = self.identity.is_none_or(|known| known == identity);
        is_same
            && self.head.is_none_or(|known| {
                head.event >= known.event && head.revision >= known.revision && head.records >= known.records
            })
    }

    /// Says whether the last published event has changed: a history that lost its newest part has grown again.
    fn is_contradicted_by(&self, found: &EventView) -> bool {
        self.newest
            .as_ref()
            .is_some_and(|newest| newest.id == found.id && newest != found)
    }
}

impl Shared {
    pub(crate) fn new(location: PathBuf, file: Option<PathBuf>) -> Arc<Self> {
        Arc::new(Self {
            broker: Broker::of_this_process(),
            location,
            file,
            leadership: Leadership::shared(),
            bell: Notify::new(),
            has_left: AtomicBool::new(false),
            told: Mutex::default(),
        })
    }

    /// Starts from the current head at the first connection; later it compares. Reports a loss, also one before this broker started.
    pub(crate) fn find(&self, identity: Uuid, has_failed_over: bool, head: Head) {
        if has_failed_over || !self.told().is_continued_by(identity, head) {
            self.note_replaced(head);
        }
        let mut told = self.told();
        told.head.get_or_insert(head);
        told.identity = Some(identity);
    }

    /// Says whether the database is the known one, with everything that was in it; `newest` is its event with the
    /// number of the last published one, unless that was deleted.
    pub(crate) fn is_continued_by(&self, identity: Uuid, head: Head, newest: Option<&EventView>) -> bool {
        let told = self.told();
        told.is_continued_by(identity, head) && !newest.is_some_and(|found| told.is_contradicted_by(found))
    }

    /// Resets the published point, and reports that answers may be missing.
    pub(crate) fn note_replaced(&self, found: Head) {
        let mut told = self.told();
        tracing::error!(
            database = %self.location.display(),
            known = told.head.unwrap_or_default().event,
            found = found.event,
            "the database was replaced, has failed over to another server, or has lost its newest part: answers that agents and humans have seen may be missing in it, and revoked tokens may be valid again"
        );
        *told = PublishedUpTo {
            is_replaced: true,
            committed: told.committed,
            ..PublishedUpTo::default()
        };
    }

    /// Says whether the database was replaced and the engine does not know it yet.
    pub(crate) fn is_replaced(&self) -> bool {
        self.told().is_replaced
    }

    /// Returns the published point.
    pub(crate) fn head(&self) -> Head {
        self.told().head.unwrap_or_default()
    }

    /// Records the published point for the case that this batch is committed.
    pub(crate) fn expect(&self, batch: BatchId, head: Head, newest: Option<EventView>) {
        self.told().pending = Some((batch, head, newest));
    }

    /// Records that a batch is committed, and that the events up to here are published.
    pub(crate) fn tell(&self, batch: BatchId, head: Head, newest: Option<EventView>) {
        let mut told = self.told();
        told.head = Some(head);
        told.newest = newest;
        told.pending = None;
        told.committed = Some(batch);
        told.is_replaced = false;
    }

    /// Says whether a batch is known to be the newest one that is committed.
    pub(crate) fn knows_committed(&self, batch: BatchId) -> bool {
        self.told().committed == Some(batch)
    }

    /// Records that a batch in doubt was committed.
    pub(crate) fn confirm(&self, batch: BatchId) {
        let mut told = self.told();
        if let Some((expected, head, newest)) = told.pending.take()
            && expected == batch
        {
            told.head = Some(head);
            told.newest = newest;
            told.is_replaced = false;
        }
    }

    pub(crate) fn has_left(&self) -> bool {
        self.has_left.load(Ordering::Relaxed)
    }

    pub(crate) fn set_left(&self, has_left: bool) {
        self.has_left.store(has_left, Ordering::Relaxed);
    }

    fn told(&self) -> std::sync::MutexGuard<'_, PublishedUpTo> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
