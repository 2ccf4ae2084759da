//! The handle that other parts have of the engine, and the messages of its inbox.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use cueme_rules::Ticket;
use cueme_store::{Leadership, Pass, Records, StoreError};
use protocol_spec::id::RequestId;
use protocol_spec::message::{ErrorCode, EventView, Failure};
use protocol_spec::time::Timestamp;
use thiserror::Error;
use tokio::sync::{broadcast, mpsc as caller, oneshot, watch};
use uuid::Uuid;

use super::core::Core;
use super::order::{Line, Order, Work};
use super::write::{DiskReserve, Write};

/// The most time that a human's search waits for the index.
const CATCH_UP_MAX: Duration = Duration::from_secs(2);

/// The handle that other parts have of the engine.
#[derive(Debug, Clone)]
pub struct EngineHandle {
    pub(super) inbox: Sender<Message>,
    pub(super) tickets: Arc<AtomicU64>,
    pub(super) events: broadcast::Sender<Events>,
    pub(super) foreign_records: watch::Sender<()>,
    pub(super) leadership: Leadership,
    pub(super) is_shared: bool,
    pub(super) trouble: Arc<Mutex<Option<String>>>,
}

/// The engine does not respond any more.
#[derive(Debug, Error)]
#[error("the broker is stopping")]
pub struct EngineError;

impl From<EngineError> for Failure {
    fn from(error: EngineError) -> Self {
        Self::new(ErrorCode::Busy, error.to_string()).with_hint("run the same command again")
    }
}

/// The events of one commit, published together so that a watcher is woken once.
pub type Events = Arc<[EventView]>;

/// Boxed lines: a channel has room for thirty-two from its first moment on, and everybody who waits has a channel.
pub(super) type Caller = caller::UnboundedSender<Box<Line>>;
pub(super) type EngineTask = Box<dyn FnOnce(&mut Core) + Send>;

/// A message to the engine.
pub(super) enum Message {
    Order {
        order: Order,
        caller: Option<Caller>,
        /// Runs before it, in the same commit.
        write: Option<Write<'static>>,
        /// The pass of the caller.
        pass: Option<Box<Pass>>,
    },
    Write(Write<'static>),
    Run(EngineTask),
    Stop(oneshot::Sender<()>),
}

impl Message {
    /// Returns the order and the pass of its caller, if this is an order.
    pub(super) fn order(&self) -> Option<(&Order, Option<&Pass>)> {
        match self {
            Self::Order { order, pass, .. } => Some((order, pass.as_deref())),
            Self::Write(_) | Self::Run(_) | Self::Stop(_) => None,
        }
    }
}

impl EngineHandle {
    /// Generates a ticket for a new call.
    pub fn ticket(&self) -> Ticket {
        Ticket(self.tickets.fetch_add(1, Ordering::Relaxed))
    }

    /// Submits an order whose replies go to `caller`; it is refused if the pass was revoked before the transaction.
    ///
    /// `write` runs before it, in the same commit. The order is carried out also when the write fails.
    pub fn order(
        &self,
        pass: Option<Pass>,
        write: Option<Write<'static>>,
        order: Order,
        caller: Caller,
    ) -> Result<(), EngineError> {
        let caller = Some(caller);
        self.send(Message::Order {
            order,
            caller,
            write,
            pass: pass.map(Box::new),
        })
    }

    /// Says that a caller is gone.
    pub fn gone(&self, ticket: Ticket) {
        self.tell(ticket, Work::Gone);
    }

    /// Says that a human was seen.
    pub fn human_seen(&self) {
        self.tell(Ticket(0), Work::HumanSeen);
    }

    /// Subscribes to the events from now on, commit by commit.
    pub fn events(&self) -> broadcast::Receiver<Events> {
        self.events.subscribe()
    }

    /// Subscribes to changes of records by other brokers, such as devices and settings.
    pub fn foreign_records(&self) -> watch::Receiver<()> {
        self.foreign_records.subscribe()
    }

    /// Says whether other brokers may change the state, too.
    pub fn is_shared(&self) -> bool {
        self.is_shared
    }

    /// Says whether this broker leads.
    pub fn leads(&self) -> bool {
        self.leadership.leads()
    }

    /// Returns the storage error, if there is one.
    pub fn trouble(&self) -> Option<String> {
        self.trouble
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Runs something on the engine's thread, after everything handed in before is committed.
    pub async fn run_on_engine<T: Send + 'static>(
        &self,
        task: impl FnOnce(&mut Core) -> T + Send + 'static,
    ) -> Result<T, EngineError> {
        let (sender, receiver) = oneshot::channel();
        // A caller that has left needs no result.
        let task: EngineTask = Box::new(move |core| drop(sender.send(task(core))));
        self.send(Message::Run(task))?;
        receiver.await.map_err(|_| EngineError)
    }

    /// Writes records outside the rules, unless the disk is full; returns once they are committed.
    ///
    /// A failure changes nothing.
    pub async fn write<T: Send + 'static>(
        &self,
        write: impl Fn(&dyn Records, Timestamp) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<Result<T, StoreError>, EngineError> {
        self.write_with(DiskReserve::Keep, write).await
    }

    /// The same for the small writes without which no human could answer: allowed on a full disk as well.
    pub async fn write_even_if_full<T: Send + 'static>(
        &self,
        write: impl Fn(&dyn Records, Timestamp) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<Result<T, StoreError>, EngineError> {
        self.write_with(DiskReserve::Use, write).await
    }

    async fn write_with<T: Send + 'static>(
        &self,
        reserve: DiskReserve,
        write: impl Fn(&dyn Records, Timestamp) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<Result<T, StoreError>, EngineError> {
        let (sender, receiver) = oneshot::channel();
        // A caller that has left needs no result.
        let write = Write::new(reserve, write, move |result| drop(sender.send(result)));
        self.send(Message::Write(write))?;
        receiver.await.map_err(|_| EngineError)
    }

    pub(super) fn send(&self, message: Message) -> Result<(), EngineError> {
        self.inbox.send(message).map_err(|_| EngineError)
    }

    /// Waits until everything written so far can be searched.
    pub async fn catch_up(&self) -> Result<(), EngineError> {
        while self.index_some().await? {}
        Ok(())
    }

    /// The same for somebody who would rather see a part than wait: after a move it takes minutes, and the newest come first.
    pub async fn catch_up_soon(&self) -> Result<(), EngineError> {
        let started = Instant::now();
        while self.index_some().await? {
            if started.elapsed() > CATCH_UP_MAX {
                tracing::info!("older texts are not indexed yet, and a search does not find them");
                break;
            }
        }
        Ok(())
    }

    /// Indexes a batch; says whether there is more.
    async fn index_some(&self) -> Result<bool, EngineError> {
        self.run_on_engine(|core| core.is_behind() && core.index_some())
            .await
    }

    fn tell(&self, ticket: Ticket, work: Work) {
        let order = Order {
            ticket,
            request: RequestId(Uuid::nil()),
            work,
        };
        // The send fails when the engine has ended, and then there is nothing to wait for.
        let _ = self.send(order_of_ours(order));
    }
}

/// Time passed.
pub(super) fn tick() -> Message {
    let order = Order {
        ticket: Ticket(0),
        request: RequestId(Uuid::nil()),
        work: Work::Tick,
    };
    order_of_ours(order)
}

/// An order without a receiver for its replies.
fn order_of_ours(order: Order) -> Message {
    Message::Order {
        order,
        caller: None,
        write: None,
        pass: None,
    }
}
