//! What the writer, the listener and a reopened store know in common.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use cueme_store::{BatchId, Leadership};
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

/// What outlives a connection.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) broker: Broker,
    pub(crate) location: PathBuf,
    pub(crate) leadership: Leadership,
    /// Asks the listener to tell the other brokers that something was committed. Requests in between are one.
    pub(crate) bell: Notify,
    /// Whether the broker has left, so that its lease is not to be renewed.
    has_left: AtomicBool,
    told: Mutex<Told>,
}

/// How far this broker has told its own clients what happened.
#[derive(Debug, Default)]
struct Told {
    /// The head at that time; none before the first connection.
    head: Option<Head>,
    /// Which database it is.
    identity: Option<Uuid>,
    /// What will have been told if the batch was committed.
    pending: Option<(BatchId, Head)>,
    /// The newest batch that is known to be committed. One that changed nothing leaves no trace in the database.
    committed: Option<BatchId>,
}

impl Told {
    fn is_continued_by(&self, identity: Uuid, head: Head) -> bool {
        let is_same = self.identity.is_none_or(|known| known == identity);
        is_same
            && self
                .head
                .is_none_or(|known| head.event >= known.event && head.revision >= known.revision)
    }
}

impl Shared {
    pub(crate) fn new(location: PathBuf) -> Arc<Self> {
        Arc::new(Self {
            broker: Broker::of_this_process(),
            location,
            leadership: Leadership::new(false),
            bell: Notify::new(),
            has_left: AtomicBool::new(false),
            told: Mutex::default(),
        })
    }

    /// Begins with what is there, at the first connection; later it compares, and says what was lost.
    pub(crate) fn find(&self, identity: Uuid, head: Head) {
        let mut told = self.told();
        let is_continued = told.is_continued_by(identity, head);
        if !is_continued {
            let known = told.head.unwrap_or_default();
            tracing::error!(
                database = %self.location.display(),
                known = known.event,
                found = head.event,
                "the database is not the one it was, or has lost its newest part: answers that agents and humans have seen may be missing in it"
            );
        }
        if told.head.is_none() || !is_continued {
            told.head = Some(head);
            told.pending = None;
        }
        told.identity = Some(identity);
    }

    /// Says whether the database is the one that was found, with everything that was in it.
    pub(crate) fn is_continued_by(&self, identity: Uuid, head: Head) -> bool {
        self.told().is_continued_by(identity, head)
    }

    /// Returns how far everybody was told.
    pub(crate) fn head(&self) -> Head {
        self.told().head.unwrap_or_default()
    }

    /// Notes what will have been told if this batch was committed.
    pub(crate) fn expect(&self, batch: BatchId, head: Head) {
        self.told().pending = Some((batch, head));
    }

    /// Notes that a batch is committed, and everybody is told what happened up to here.
    pub(crate) fn tell(&self, batch: BatchId, head: Head) {
        let mut told = self.told();
        told.head = Some(head);
        told.pending = None;
        told.committed = Some(batch);
    }

    /// Says whether a batch is known to be the newest one that is committed.
    pub(crate) fn knows_committed(&self, batch: BatchId) -> bool {
        self.told().committed == Some(batch)
    }

    /// Notes that a batch in doubt was committed.
    pub(crate) fn confirm(&self, batch: BatchId) {
        let mut told = self.told();
        if let Some((expected, head)) = told.pending.take()
            && expected == batch
        {
            told.head = Some(head);
        }
    }

    pub(crate) fn has_left(&self) -> bool {
        self.has_left.load(Ordering::Relaxed)
    }

    pub(crate) fn set_left(&self, has_left: bool) {
        self.has_left.store(has_left, Ordering::Relaxed);
    }

    fn told(&self) -> std::sync::MutexGuard<'_, Told> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
