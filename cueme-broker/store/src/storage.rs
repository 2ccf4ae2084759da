//! Where the state is kept, and the one who may change it.

use std::any::Any;
use std::fmt::Debug;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

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

    /// Calls `wake` whenever other brokers may have changed something. A call that is lost delays, and changes nothing.
    fn listen(&mut self, _wake: Box<dyn Fn() + Send + Sync>) {}

    /// Says whether this broker does what only one of them may do: notify, answer by rule, delete what is old.
    fn leadership(&self) -> Leadership {
        Leadership::default()
    }

    /// Returns how errors call the place.
    fn location(&self) -> PathBuf;

    /// Says whether the space left is for answers alone.
    fn is_full(&self) -> bool;

    /// Gives up the space that was kept for answers; returns whether there was some.
    fn use_reserve(&mut self) -> bool;

    /// Keeps space for answers again, once there is enough; returns whether there is.
    fn regain_reserve(&mut self) -> bool;
}

/// Whether a broker leads the others; it always does where there are none.
#[derive(Debug, Clone)]
pub struct Leadership(Arc<AtomicBool>);

impl Default for Leadership {
    fn default() -> Self {
        Self::new(true)
    }
}

impl Leadership {
    /// Begins with or without it.
    pub fn new(leads: bool) -> Self {
        Self(Arc::new(AtomicBool::new(leads)))
    }

    /// Gains or loses it.
    pub fn set(&self, leads: bool) {
        self.0.store(leads, Ordering::Relaxed);
    }

    /// Says whether this broker leads.
    pub fn leads(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// The store as the engine holds it: the only writer of this broker.
pub trait Store: Transactions + Changes + Loads + Repairs + Records + Upkeep + Any + Debug + Send {}

impl<T: Transactions + Changes + Loads + Repairs + Records + Upkeep + Any + Debug + Send> Store for T {}
