//! What the writer, the listener and a reopened store know in common.

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
    /// The newest event at that time, as far as it was seen.
    newest: Option<EventView>,
    /// What will have been told if the batch was committed.
    pending: Option<(BatchId, Head, Option<EventView>)>,
    /// The newest batch that is known to be committed. One that changed nothing leaves no trace in the database.
    committed: Option<BatchId>,
    /// Whether nobody was told yet that the database is another one, or has lost its newest part.
    is_replaced: bool,
}

impl Told {
    fn is_continued_by(&self, identity: Uuid, head: Head) -> bool {
        let is_same = self.identity.is_none_or(|known| known == identity);
        is_same
            && self
                .head
                .is_none_or(|known| head.event >= known.event && head.revision >= known.revision)
    }

    /// Says whether the event that was told last is another one by now: a history that lost its newest part has grown again.
    fn is_contradicted_by(&self, found: &EventView) -> bool {
        self.newest
            .as_ref()
            .is_some_and(|newest| newest.id == found.id && newest != found)
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
        if !self.told().is_continued_by(identity, head) {
            self.note_replaced(head);
        }
        let mut told = self.told();
        told.head.get_or_insert(head);
        told.identity = Some(identity);
    }

    /// Says whether the database is the one that was found, with everything that was in it; `newest` is its event of the number
    /// that was told last, unless that was deleted.
    pub(crate) fn is_continued_by(&self, identity: Uuid, head: Head, newest: Option<&EventView>) -> bool {
        let told = self.told();
        told.is_continued_by(identity, head) && !newest.is_some_and(|found| told.is_contradicted_by(found))
    }

    /// Forgets what was told, and says that answers may be missing.
    pub(crate) fn note_replaced(&self, found: Head) {
        let mut told = self.told();
        tracing::error!(
            database = %self.location.display(),
            known = told.head.unwrap_or_default().event,
            found = found.event,
            "the database is not the one it was, or has lost its newest part: answers that agents and humans have seen may be missing in it"
        );
        *told = Told {
            is_replaced: true,
            committed: told.committed,
            ..Told::default()
        };
    }

    /// Says whether nobody was told yet that the database is another one.
    pub(crate) fn is_replaced(&self) -> bool {
        self.told().is_replaced
    }

    /// Returns how far everybody was told.
    pub(crate) fn head(&self) -> Head {
        self.told().head.unwrap_or_default()
    }

    /// Notes what will have been told if this batch was committed.
    pub(crate) fn expect(&self, batch: BatchId, head: Head, newest: Option<EventView>) {
        self.told().pending = Some((batch, head, newest));
    }

    /// Notes that a batch is committed, and everybody is told what happened up to here.
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

    /// Notes that a batch in doubt was committed.
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

    fn told(&self) -> std::sync::MutexGuard<'_, Told> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
