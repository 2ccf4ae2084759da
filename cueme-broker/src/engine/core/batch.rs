//! Orders and writes that share a commit: each is carried out when it arrives, and its output is sent after all are on
//! disk.

use cueme_rules::{Change, Effect, Now, Ticket, unknown_cue};
use cueme_store::{BatchId, Foreign, Pass, Store, StoreError};
use protocol_spec::id::CueId;
use protocol_spec::message::{ErrorCode, EventKind, EventView, Failure, Reply};

use super::{Clock, CommitOutput, Core, storage_failure};
use crate::engine::order::{Order, Work};
use crate::engine::write::{DiskReserve, Write};

/// Orders and writes that were carried out and wait for their commit.
#[derive(Debug, Default)]
pub struct Batch<'a> {
    entries: Vec<Entry<'a>>,
    /// The transaction they share, unless one of them failed; there is none before the first.
    transaction: Option<Result<Transaction, StoreError>>,
}

/// One entry of a batch.
#[derive(Debug)]
pub enum Entry<'a> {
    /// An order for the machine, with the pass of its caller if that may have been revoked since.
    Order(Order, Option<Pass>),
    /// A write outside the rules.
    Write(Write<'a>),
}

/// A transaction that is not committed yet.
#[derive(Debug, Default)]
pub(super) struct Transaction {
    /// Its output, sent after the commit.
    output: CommitOutput,
    /// Whether anything was written.
    has_begun: bool,
}

/// The reason why a transaction is not known to be committed.
#[derive(Debug)]
pub(super) struct Failed {
    pub(super) error: StoreError,
    /// Its output, in case it was committed all the same; `None` if it was certainly undone.
    pub(super) doubt: Option<Box<(BatchId, CommitOutput)>>,
}

impl From<StoreError> for Failed {
    fn from(error: StoreError) -> Self {
        Self { error, doubt: None }
    }
}

impl Batch<'_> {
    /// Returns how many entries there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Says whether there is none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Says whether an entry failed, so that adding more is useless.
    pub fn has_failed(&self) -> bool {
        matches!(self.transaction, Some(Err(_)))
    }
}

impl<'a> Batch<'a> {
    /// Takes out the entries, once they were committed.
    pub fn drain(&mut self) -> impl Iterator<Item = Entry<'a>> {
        self.entries.drain(..)
    }
}

impl Entry<'_> {
    /// Returns the ticket of the order's caller.
    pub(super) fn ticket(&self) -> Option<Ticket> {
        match self {
            Self::Order(order, _) => Some(order.ticket),
            Self::Write(_) => None,
        }
    }

    /// Reports the result of a write, after the commit.
    pub(super) fn finish(self) {
        if let Self::Write(write) = self {
            write.finish();
        }
    }

    /// Reports to the caller that the entry failed and changed nothing.
    pub(super) fn fail(&mut self, error: StoreError, output: &mut CommitOutput) {
        match self {
            Self::Order(order, _) => {
                let failed = Reply::Error(storage_failure(&error));
                output.replies.push((order.ticket, Box::new(failed)));
            }
            Self::Write(write) => write.fail(error),
        }
    }
}

impl Core {
    /// Carries out orders in one transaction, and returns its output.
    pub fn carry_out(&mut self, clock: impl Clock, orders: impl IntoIterator<Item = Order>) -> CommitOutput {
        let orders: Vec<Order> = orders.into_iter().collect();
        self.expect(orders.iter().map(|order| (order, None)));
        let mut batch = Batch::default();
        for order in orders {
            self.add(&clock, order, &mut batch);
        }
        self.commit(&clock, &mut batch)
    }

    /// Carries out an order that shares its commit with the others of a batch.
    pub fn add(&mut self, clock: impl Clock, order: Order, batch: &mut Batch<'_>) {
        self.add_for(clock, None, order, batch);
    }

    /// The same for a caller with a pass. A revoked pass refuses the order.
    pub fn add_for(&mut self, clock: impl Clock, pass: Option<Pass>, order: Order, batch: &mut Batch<'_>) {
        self.add_entry(&clock, Entry::Order(order, pass), batch);
    }

    /// Runs a write that shares its commit with the others of a batch.
    pub fn add_write<'a>(&mut self, clock: impl Clock, write: Write<'a>, batch: &mut Batch<'a>) {
        self.add_entry(&clock, Entry::Write(write), batch);
    }

    fn add_entry<'a>(&mut self, clock: &dyn Clock, mut entry: Entry<'a>, batch: &mut Batch<'a>) {
        let transaction = batch
            .transaction
            .take()
            .unwrap_or_else(|| self.open_transaction(clock));
        batch.transaction = Some(transaction.and_then(|mut transaction| {
            self.carry_out_one(clock.now(), &mut entry, &mut transaction)?;
            Ok(transaction)
        }));
        batch.entries.push(entry);
    }

    /// Commits a batch, and returns its output.
    ///
    /// When that fails, each entry is retried alone, so that one that cannot be written does not fail the others.
    pub fn commit(&mut self, clock: impl Clock, batch: &mut Batch<'_>) -> CommitOutput {
        let Some(transaction) = batch.transaction.take() else {
            return CommitOutput::default();
        };
        let committed = transaction
            .map_err(Failed::from)
            .and_then(|transaction| self.commit_transaction(transaction));
        committed.unwrap_or_else(|failed| self.try_again(&clock, &mut batch.entries, failed))
    }

    pub(super) fn open_transaction(&mut self, clock: &dyn Clock) -> Result<Transaction, StoreError> {
        self.reopen_if_failing(clock)?;
        let mut transaction = Transaction::default();
        for (ticket, cue) in &self.orphaned {
            let gone = Reply::Error(unknown_cue(*cue));
            transaction.output.replies.push((*ticket, Box::new(gone)));
        }
        if self.storage.is_shared() {
            self.take_in_foreign(clock, &mut transaction)?;
        }
        if !self.regain_room() {
            transaction.output.failed = Some(self.no_space().to_string());
        }
        Ok(transaction)
    }

    /// Begins, and applies the changes of other brokers to the machine: under the store's lock no other broker changes
    /// the state.
    fn take_in_foreign(
        &mut self,
        clock: &dyn Clock,
        transaction: &mut Transaction,
    ) -> Result<(), StoreError> {
        let store = self.opened()?;
        let Foreign {
            agents,
            events,
            has_records,
            is_expelled,
        } = store.begin()?;
        // The lock of the store may have been waited for.
        let now = clock.now();
        transaction.has_begun = true;
        transaction.output.events = events;
        transaction.output.has_foreign_records = has_records;
        if !agents.is_empty() {
            let mut loaded = store.load_agents(now, &agents)?;
            for cue in self.machine.waited_for(&agents) {
                // A question that was acknowledged at another broker is not live any more, but its callers here still
                // have to get the outcome.
                if !loaded.knows(cue)
                    && let Some(found) = store.cue(now, cue)?
                {
                    loaded.remember(found.id, found.cue);
                }
            }
            for effect in self.machine.replace(now, &agents, loaded) {
                self.perform(now, effect, transaction)?;
            }
        }
        if std::mem::take(&mut self.owes) {
            for effect in self.machine.deliver_to_all(now) {
                self.perform(now, effect, transaction)?;
            }
        }
        if is_expelled {
            self.publish_presence()?;
        }
        Ok(())
    }

    pub(super) fn carry_out_one(
        &mut self,
        now: Now,
        entry: &mut Entry<'_>,
        transaction: &mut Transaction,
    ) -> Result<(), StoreError> {
        match entry {
            Entry::Order(order, Some(pass)) if !self.opened()?.is_valid(pass, now.wall)? => {
                let refused = (order.ticket, Box::new(Reply::Error(locked_out())));
                transaction.output.replies.push(refused);
                Ok(())
            }
            Entry::Order(order, pass) => {
                self.carry_out_order(now, order, transaction)?;
                match (&order.work, pass) {
                    (Work::Join { .. }, Some(Pass::Token(token))) => self.note_owner(token, transaction),
                    _ => Ok(()),
                }
            }
            Entry::Write(write) if self.storage.is_full() && write.reserve == DiskReserve::Keep => {
                write.fail(self.no_space());
                Ok(())
            }
            Entry::Write(write) => {
                let store = self.opened()?;
                transaction.begin(store)?;
                write.run(store, now.wall)
            }
        }
    }

    fn carry_out_order(
        &mut self,
        now: Now,
        order: &Order,
        transaction: &mut Transaction,
    ) -> Result<(), StoreError> {
        if self.storage.is_full() && self.takes_space(order)? {
            let failure = storage_failure(&self.no_space());
            let refused = (order.ticket, Box::new(Reply::Error(failure)));
            transaction.output.replies.push(refused);
            return Ok(());
        }
        let mut prepared = self.prepare(now, order, &mut transaction.output);
        if let Err(StoreError::DamagedQuestion { .. }) = &prepared
            && let Some((cue, closing)) = order.closing_of_damaged()
            && self.reopen_damaged(cue, transaction)?
        {
            prepared = self.prepare(now, &closing, &mut transaction.output);
        }
        match prepared {
            Ok(Some(input)) => {
                for effect in self.machine.handle(now, input) {
                    self.perform(now, effect, transaction)?;
                }
            }
            // It is answered already.
            Ok(None) => {}
            // Only the caller gets the error.
            Err(error @ StoreError::DamagedQuestion { .. }) => {
                let refused = (order.ticket, Box::new(Reply::Error(storage_failure(&error))));
                transaction.output.replies.push(refused);
                return Ok(());
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Records that the agent which the last reply names belongs to the token it joined with.
    fn note_owner(&self, token: &str, transaction: &mut Transaction) -> Result<(), StoreError> {
        let agent = match transaction.output.replies.last().map(|(_, reply)| &**reply) {
            Some(Reply::Joined(joined)) => joined.agent_id.clone(),
            _ => return Ok(()),
        };
        let store = self.opened()?;
        transaction.begin(store)?;
        store.note_joined_with(&agent, token)
    }

    /// Opens a question whose decision is damaged, so that it can be closed; says whether it did.
    fn reopen_damaged(&mut self, cue: CueId, transaction: &mut Transaction) -> Result<bool, StoreError> {
        let store = self.opened()?;
        transaction.begin(store)?;
        let Some(agent) = store.agent_of_cue(cue)? else {
            return Ok(false);
        };
        let Some(notes) = store.remove_damaged_decision(cue)? else {
            return Ok(false);
        };
        for note in notes {
            self.machine.remember_message(&agent, note);
        }
        Ok(true)
    }

    /// Performs one effect: writes now, and keeps replies and events until after the commit.
    fn perform(&self, now: Now, effect: Effect, transaction: &mut Transaction) -> Result<(), StoreError> {
        let store = self.opened()?;
        match effect {
            // On a full disk, callers may still wait although that cannot be recorded.
            Effect::Store(Change::SetDetached { .. }) if self.storage.is_full() => {}
            Effect::Store(change) => {
                transaction.begin(store)?;
                store.apply(now.wall, &change)?;
            }
            Effect::Log { what, agent, cue } => {
                transaction.begin(store)?;
                let id = store.log(now.wall, what, &agent, cue)?;
                transaction.output.events.push(EventView {
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
                transaction.output.events.push(event);
            }
            Effect::Reply { to, reply } => transaction.output.replies.push((to, reply)),
        }
        Ok(())
    }

    pub(super) fn commit_transaction(&mut self, transaction: Transaction) -> Result<CommitOutput, Failed> {
        let Transaction { output, has_begun } = transaction;
        if has_begun {
            let batch = BatchId(self.next_batch);
            self.next_batch = self.next_batch.wrapping_add(1);
            if let Err(error) = self.opened()?.commit(batch) {
                let doubt = Some(Box::new((batch, output)));
                return Err(Failed { error, doubt });
            }
        }
        self.orphaned.clear();
        Ok(output)
    }
}

impl Transaction {
    fn begin(&mut self, store: &dyn Store) -> Result<(), StoreError> {
        if !self.has_begun {
            store.begin()?;
            self.has_begun = true;
        }
        Ok(())
    }
}

fn locked_out() -> Failure {
    Failure::new(
        ErrorCode::Forbidden,
        "you were signed out, or your token was revoked",
    )
    .with_hint("sign in again, or run `cueme link` again")
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use std::path::Path;
    use std::sync::Mutex;

    use cueme_store::{Records, Storage};
    use cueme_store_sqlite::{SqliteStorage, Synchronous};
    use protocol_spec::id::RequestId;
    use protocol_spec::time::Timestamp;
    use uuid::Uuid;

    use super::*;

    const NOW: Now = Now {
        wall: Timestamp::from_millis(1),
        steady: 0,
    };

    fn storage(path: &Path) -> Box<dyn Storage> {
        Box::new(SqliteStorage::at(path, Synchronous::Full))
    }

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
        let mut core = Core::open(storage(&path), true, NOW, random).unwrap();
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
        let output = core.commit(NOW, &mut batch);
        let told: Vec<Ticket> = output.replies.iter().map(|(ticket, _)| *ticket).collect();
        assert_eq!(told, [Ticket(1), Ticket(2), Ticket(3)]);
        assert_eq!(on_disk(), 3);
        assert_eq!(batch.drain().count(), 3);
        assert!(core.commit(NOW, &mut batch).replies.is_empty());
    }

    #[test]
    fn a_write_shares_the_commit_of_its_batch_and_is_reported_after_it() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("cueme.db");
        let random = Box::new(|| Uuid::new_v4().as_u64_pair().0);
        let mut core = Core::open(storage(&path), true, NOW, random).unwrap();
        let on_disk = || -> (i64, i64) {
            let count =
                "SELECT (SELECT count(*) FROM agents), (SELECT count(*) FROM settings WHERE name = 'x')";
            let other = rusqlite::Connection::open(&path).unwrap();
            other
                .query_row(count, [], |row| Ok((row.get(0)?, row.get(1)?)))
                .unwrap()
        };
        let reported = &Mutex::new(Vec::new());
        let set = |value: &'static str| {
            let report =
                move |result: Result<(), StoreError>| reported.lock().unwrap().push((value, result.is_ok()));
            Write::new(DiskReserve::Keep, move |store, _| store.set("x", value), report)
        };
        let mut batch = Batch::default();
        core.add(NOW, join(1), &mut batch);
        core.add_write(NOW, set("1"), &mut batch);
        core.add(NOW, join(2), &mut batch);
        assert_eq!(on_disk(), (0, 0));
        assert_eq!(core.commit(NOW, &mut batch).replies.len(), 2);
        assert_eq!(on_disk(), (2, 1));
        assert!(reported.lock().unwrap().is_empty());
        batch.drain().for_each(Entry::finish);
        // One that fails takes none of the others with it.
        let refuse = |_: &dyn Records, _| -> Result<(), StoreError> {
            Err(StoreError::BadValue {
                what: "a value",
                value: "none".into(),
            })
        };
        let report =
            |result: Result<(), StoreError>| reported.lock().unwrap().push(("refused", result.is_ok()));
        core.add(NOW, join(3), &mut batch);
        core.add_write(NOW, Write::new(DiskReserve::Keep, refuse, report), &mut batch);
        core.add_write(NOW, set("2"), &mut batch);
        let output = core.commit(NOW, &mut batch);
        assert!(
            matches!(&output.replies[..], [(Ticket(3), reply)] if matches!(**reply, Reply::Joined(_))),
            "{output:?}"
        );
        batch.drain().for_each(Entry::finish);
        assert_eq!(on_disk(), (3, 1));
        assert_eq!(
            *reported.lock().unwrap(),
            [("1", true), ("refused", false), ("2", true)]
        );
    }
}
