//! The place of the state, and the lead among brokers.

use std::any::Any;
use std::fmt::Debug;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use crate::{Changes, Loads, Reader, Records, Repairs, StoreError, Transactions, Upkeep};

/// A place that keeps the state of a broker. It outlives a [`Store`], which is opened again after a failure.
pub trait Storage: Debug + Send {
    /// Opens the store for the engine, creating or migrating it as needed.
    ///
    /// `was_clean` says that the last broker stopped in an orderly way; otherwise the store checks itself first.
    fn open(&mut self, was_clean: bool) -> Result<Box<dyn Store>, StoreError>;

    /// Returns the reads beside the engine.
    fn reader(&self) -> Arc<dyn Reader>;

    /// Says whether other brokers may change the state, too. Then nothing is decided outside a transaction.
    fn is_shared(&self) -> bool {
        false
    }

    /// Calls `wake` whenever other brokers may have changed something. A lost call only delays the change.
    fn listen(&mut self, _wake: Box<dyn Fn() + Send + Sync>) {}

    /// Returns the leadership of this broker: only the leader notifies, answers by rule and deletes old questions.
    fn leadership(&self) -> Leadership {
        Leadership::default()
    }

    /// Returns the number of the newest schema that this program knows, which the store has once it is open.
    fn schema(&self) -> u32;

    /// Returns the name of the place in errors.
    fn location(&self) -> PathBuf;

    /// Says whether the remaining space is reserved for answers.
    fn is_full(&self) -> bool;

    /// Releases the space reserved for answers; returns whether there was some.
    fn use_reserve(&mut self) -> bool;

    /// Reserves space for answers again, once there is enough; returns whether it did.
    fn regain_reserve(&mut self) -> bool;
}

/// The leadership of a broker among those that share its state. A broker alone always leads.
#[derive(Debug, Clone, Default)]
pub struct Leadership(Option<Arc<Mutex<Option<Deadline>>>>);

/// The end of a lease, by the clock that only runs forwards and by that of the wall: the first stands still while the machine
/// sleeps, and the second can be set back.
#[derive(Debug, Clone, Copy)]
struct Deadline(Instant, SystemTime);

impl Leadership {
    /// Begins without the leadership, beside other brokers.
    pub fn shared() -> Self {
        Self(Some(Arc::default()))
    }

    /// Leads until so long after a moment.
    pub fn lead(&self, since: (Instant, SystemTime), lease: Duration) {
        self.set(Some(Deadline(since.0 + lease, since.1 + lease)));
    }

    /// Leads no more.
    pub fn stop(&self) {
        self.set(None);
    }

    /// Says whether this broker leads.
    pub fn leads(&self) -> bool {
        let Some(deadline) = &self.0 else { return true };
        let deadline = *deadline.lock().unwrap_or_else(PoisonError::into_inner);
        deadline.is_some_and(|Deadline(steady, wall)| Instant::now() < steady && SystemTime::now() < wall)
    }

    fn set(&self, until: Option<Deadline>) {
        if let Some(deadline) = &self.0 {
            *deadline.lock().unwrap_or_else(PoisonError::into_inner) = until;
        }
    }
}

/// The store as the engine holds it: the only writer of this broker.
pub trait Store: Transactions + Changes + Loads + Repairs + Records + Upkeep + Any + Debug + Send {}

impl<T: Transactions + Changes + Loads + Repairs + Records + Upkeep + Any + Debug + Send> Store for T {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leadership_ends_by_either_clock() {
        let lease = Duration::from_secs(5);
        let (steady, wall) = (Instant::now(), SystemTime::now());
        let leadership = Leadership::shared();
        assert!(!leadership.leads());
        leadership.lead((steady, wall), lease);
        assert!(leadership.clone().leads());
        // The machine slept: the steady clock stood still.
        leadership.lead((steady, wall - 2 * lease), lease);
        assert!(!leadership.leads());
        // The wall's clock was set back.
        leadership.lead((steady - 2 * lease, wall), lease);
        assert!(!leadership.leads());
        leadership.lead((steady, wall), lease);
        leadership.stop();
        assert!(!leadership.leads());
        let alone = Leadership::default();
        alone.stop();
        assert!(alone.leads());
    }
}
