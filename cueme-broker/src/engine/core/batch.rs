//! Orders that share a commit: each is carried out when it comes, and nothing is said before all of them are on disk.

use protocol_spec::message::{EventKind, EventView, Reply};

use super::{Core, Spoken, storage_failure};
use crate::engine::order::Order;
use crate::machine::{Change, Effect, Now};
use crate::store::StoreError;

/// Orders that were carried out and wait for their commit.
#[derive(Debug, Default)]
pub struct Batch {
    orders: Vec<Order>,
    /// The transaction they share, unless one of them failed; there is none before the first.
    transaction: Option<Result<Transaction, StoreError>>,
}

/// What is not committed yet.
#[derive(Debug, Default)]
struct Transaction {
    /// What may be said when it is.
    spoken: Spoken,
    /// Whether anything was written.
    has_begun: bool,
}

impl Batch {
    /// Returns how many orders there are.
    pub fn len(&self) -> usize {
        self.orders.len()
    }

    /// Says whether there is none.
    pub fn is_empty(&self) -> bool {
        self.orders.is_empty()
    }

    /// Says whether an order failed, so that there is no sense in adding more.
    pub fn has_failed(&self) -> bool {
        matches!(self.transaction, Some(Err(_)))
    }

    /// Takes out the orders, once they were committed.
    pub fn drain(&mut self) -> impl Iterator<Item = Order> {
        self.orders.drain(..)
    }
}

impl Core {
    /// Carries out orders in one transaction, and returns what may be said.
    pub fn carry_out(&mut self, now: Now, orders: impl IntoIterator<Item = Order>) -> Spoken {
        let mut batch = Batch::default();
        for order in orders {
            self.add(now, order, &mut batch);
        }
        self.commit(now, &mut batch)
    }

    /// Carries out an order that shares its commit with the others of a batch.
    pub fn add(&mut self, now: Now, order: Order, batch: &mut Batch) {
        let transaction = batch
            .transaction
            .take()
            .unwrap_or_else(|| self.open_transaction(now));
        batch.transaction = Some(transaction.and_then(|mut transaction| {
            self.carry_out_one(now, &order, &mut transaction)?;
            Ok(transaction)
        }));
        batch.orders.push(order);
    }

    /// Commits a batch, and returns what may be said.
    ///
    /// When that fails, each order is tried alone, so that one that cannot be written does not take others with it.
    pub fn commit(&mut self, now: Now, batch: &mut Batch) -> Spoken {
        let Some(transaction) = batch.transaction.take() else {
            return Spoken::default();
        };
        match transaction.and_then(|transaction| self.commit_transaction(transaction)) {
            Ok(spoken) => spoken,
            Err(error) => self.try_again(now, &batch.orders, &error),
        }
    }

    fn try_again(&mut self, now: Now, orders: &[Order], error: &StoreError) -> Spoken {
        tracing::error!(%error, orders = orders.len(), "a transaction failed and was undone");
        let has_made_room = error.is_full() && self.make_room();
        self.recover(now, orders, error);
        if has_made_room {
            match self.attempt(now, orders) {
                Ok(spoken) => return spoken,
                Err(error) => self.recover(now, orders, &error),
            }
        }
        self.one_by_one(now, orders, error)
    }

    fn one_by_one(&mut self, now: Now, orders: &[Order], error: &StoreError) -> Spoken {
        let mut spoken = Spoken {
            failed: Some(error.to_string()),
            ..Spoken::default()
        };
        if let [order] = orders {
            spoken
                .replies
                .push((order.ticket, Box::new(Reply::Error(storage_failure(error)))));
            return spoken;
        }
        for order in orders {
            let one = std::slice::from_ref(order);
            let mut done = match self.attempt(now, one) {
                Ok(done) => done,
                Err(error) => {
                    self.recover(now, one, &error);
                    self.one_by_one(now, one, &error)
                }
            };
            spoken.replies.append(&mut done.replies);
            spoken.events.append(&mut done.events);
        }
        spoken
    }

    fn attempt(&mut self, now: Now, orders: &[Order]) -> Result<Spoken, StoreError> {
        let mut transaction = self.open_transaction(now)?;
        for order in orders {
            self.carry_out_one(now, order, &mut transaction)?;
        }
        self.commit_transaction(transaction)
    }

    fn open_transaction(&mut self, now: Now) -> Result<Transaction, StoreError> {
        self.reopen_if_failing(now)?;
        let mut transaction = Transaction::default();
        if !self.regain_room() {
            transaction.spoken.failed = Some(self.no_space().to_string());
        }
        Ok(transaction)
    }

    fn carry_out_one(
        &mut self,
        now: Now,
        order: &Order,
        transaction: &mut Transaction,
    ) -> Result<(), StoreError> {
        if self.is_full && self.takes_space(order) {
            let failure = storage_failure(&self.no_space());
            let refused = (order.ticket, Box::new(Reply::Error(failure)));
            transaction.spoken.replies.push(refused);
            return Ok(());
        }
        let input = match self.prepare(now, order, &mut transaction.spoken) {
            Ok(Some(input)) => input,
            Ok(None) => return Ok(()),
            // The caller is told; nobody else has anything to do with it.
            Err(error @ StoreError::DamagedQuestion { .. }) => {
                let refused = (order.ticket, Box::new(Reply::Error(storage_failure(&error))));
                transaction.spoken.replies.push(refused);
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        for effect in self.machine.handle(now, input) {
            self.has_erased |= effect.erases();
            self.perform(now, effect, transaction)?;
        }
        Ok(())
    }

    /// Performs one effect: writes now, and keeps what is to be said for after the commit.
    fn perform(&self, now: Now, effect: Effect, transaction: &mut Transaction) -> Result<(), StoreError> {
        let store = self.opened()?;
        let Transaction { spoken, has_begun } = transaction;
        let mut begin = || -> Result<(), StoreError> {
            if !*has_begun {
                store.begin()?;
                *has_begun = true;
            }
            Ok(())
        };
        match effect {
            // On a full disk nobody is kept from waiting because that cannot be noted.
            Effect::Store(Change::SetDetached { .. }) if self.is_full => {}
            Effect::Store(change) => {
                begin()?;
                store.apply(now.wall, &change)?;
            }
            Effect::Log { what, agent, cue } => {
                begin()?;
                let id = store.log(now.wall, what, &agent, cue)?;
                spoken.events.push(EventView {
                    id: Some(id),
                    at: now.wall,
                    what,
                    agent_id: agent,
                    cue_id: cue,
                });
            }
            Effect::Presence { agent, cue, waiting } => {
                let what = if waiting > 0 {
                    EventKind::Waiting
                } else {
                    EventKind::Detached
                };
                let event = EventView {
                    id: None,
                    at: now.wall,
                    what,
                    agent_id: agent,
                    cue_id: Some(cue),
                };
                spoken.events.push(event);
            }
            Effect::Reply { to, reply } => spoken.replies.push((to, reply)),
        }
        Ok(())
    }

    fn commit_transaction(&mut self, transaction: Transaction) -> Result<Spoken, StoreError> {
        if transaction.has_begun {
            self.opened()?.commit()?;
            self.is_behind = true;
            self.forget_erased();
        }
        Ok(transaction.spoken)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use protocol_spec::id::RequestId;
    use protocol_spec::time::Timestamp;
    use uuid::Uuid;

    use super::*;
    use crate::engine::order::Work;
    use crate::machine::Ticket;
    use crate::store::Synchronous;

    const NOW: Now = Now {
        wall: Timestamp::from_millis(1),
        steady: 0,
    };

    fn join(number: u64) -> Order {
        Order {
            ticket: Ticket(number),
            request: RequestId(Uuid::from_u128(number.into())),
            work: Work::Join {
                runtime: "terminal".parse().unwrap(),
                project_dir: "/p".into(),
                terminal: "sh".into(),
                session: None,
            },
        }
    }

    #[test]
    fn what_was_added_is_on_disk_when_the_batch_is_committed_and_not_before() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("cueme.db");
        let random = Box::new(|| Uuid::new_v4().as_u64_pair().0);
        let mut core = Core::open(path.clone(), Synchronous::Full, true, NOW, random).unwrap();
        let on_disk = || -> i64 {
            let other = rusqlite::Connection::open(&path).unwrap();
            other
                .query_row("SELECT count(*) FROM agents", [], |row| row.get(0))
                .unwrap()
        };
        let mut batch = Batch::default();
        for number in 1..=3 {
            core.add(NOW, join(number), &mut batch);
        }
        assert_eq!((batch.len(), on_disk()), (3, 0));
        let spoken = core.commit(NOW, &mut batch);
        let told: Vec<Ticket> = spoken.replies.iter().map(|(ticket, _)| *ticket).collect();
        assert_eq!(told, [Ticket(1), Ticket(2), Ticket(3)]);
        assert_eq!(on_disk(), 3);
        assert_eq!(batch.drain().count(), 3);
        assert!(core.commit(NOW, &mut batch).replies.is_empty());
    }
}
