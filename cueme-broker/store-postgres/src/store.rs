//! The writer's connection.
//!
//! Statements whose results are not needed are queued, and sent with the next one whose result is, or with the commit.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::sync::Arc;

use cueme_store::StoreError;
use tokio_postgres::types::FromSql;
use tokio_postgres::{Client, Row};

use crate::fault::Fault;
use crate::look_ups::Found;
use crate::queue::{Queue, Row as QueuedRow};
use crate::runtime::Runtime;
use crate::shared::Shared;
use crate::statements::{Param, Returned, Statements, Step};
use crate::transactions::Open;

/// The one connection that writes.
pub struct PostgresStore {
    statements: Statements,
    pub(crate) runtime: Arc<Runtime>,
    pub(crate) shared: Arc<Shared>,
    pub(crate) transaction: RefCell<Option<Open>>,
    pub(crate) queue: RefCell<Queue>,
    pub(crate) look_ups: RefCell<Found>,
    /// The revision of the head that the engine's state is from.
    pub(crate) seen: Cell<i64>,
    /// Whether the waiting clients of this broker are not published yet.
    pub(crate) must_publish_waits: Cell<bool>,
    /// Whether there may be texts that are not indexed yet.
    pub(crate) is_unindexed: Cell<bool>,
    /// Whether the last batch of the indexer left some.
    pub(crate) has_backlog: Cell<bool>,
}

impl PostgresStore {
    pub(crate) fn new(client: Client, runtime: Arc<Runtime>, shared: Arc<Shared>) -> Self {
        Self {
            statements: Statements::new(client),
            runtime,
            shared,
            transaction: RefCell::default(),
            queue: RefCell::default(),
            look_ups: RefCell::default(),
            seen: Cell::new(0),
            must_publish_waits: Cell::new(true),
            is_unindexed: Cell::new(true),
            has_backlog: Cell::new(false),
        }
    }

    /// Sends statements together.
    pub(crate) fn send(&self, steps: Vec<Step>) -> Result<Vec<Returned>, StoreError> {
        let sent = self.runtime.block_on(self.statements.send(steps));
        sent.map_err(|error| Fault::Postgres(error).into())
    }

    /// Runs a statement without a result: inside a transaction, with the next one.
    pub(crate) fn run(&self, sql: &'static str, params: Vec<Param>) -> Result<(), StoreError> {
        let step = Step::Prepared(sql, params);
        match self.transaction.borrow_mut().as_mut() {
            Some(open) => {
                open.is_dirty = true;
                self.queue.borrow_mut().push(step);
                Ok(())
            }
            None => self.send(vec![step]).map(drop),
        }
    }

    /// Writes a row: inside a transaction, with others of the same kind; `shared` makes the parameters after its arrays.
    pub(crate) fn write_row(
        &self,
        row: QueuedRow,
        shared: impl FnOnce() -> Vec<Param>,
    ) -> Result<(), StoreError> {
        if self.is_in_transaction() {
            self.mark_dirty();
            self.queue.borrow_mut().push_row(row, shared);
            return Ok(());
        }
        let mut queue = Queue::default();
        queue.push_row(row, shared);
        self.send(queue.take()).map(drop)
    }

    /// Runs a statement and returns its rows, after all queued statements.
    pub(crate) fn query(&self, sql: &'static str, params: Vec<Param>) -> Result<Vec<Row>, StoreError> {
        self.returned(sql, params).map(|returned| returned.rows)
    }

    /// Runs a query and returns its first row.
    pub(crate) fn query_one(&self, sql: &'static str, params: Vec<Param>) -> Result<Option<Row>, StoreError> {
        Ok(self.query(sql, params)?.into_iter().next())
    }

    /// Runs a statement that changes rows, and returns their number.
    pub(crate) fn execute(&self, sql: &'static str, params: Vec<Param>) -> Result<u64, StoreError> {
        let returned = self.returned(sql, params)?;
        if let Some(open) = self.transaction.borrow_mut().as_mut() {
            open.is_dirty |= returned.count > 0;
        }
        Ok(returned.count)
    }

    /// Sends statements after all queued ones, and returns their results.
    pub(crate) fn send_after_queue(&self, mut last: Vec<Step>) -> Result<Vec<Returned>, StoreError> {
        let mut steps = self.queue.borrow_mut().take();
        let count = steps.len();
        steps.append(&mut last);
        Ok(self.send(steps)?.split_off(count))
    }

    fn returned(&self, sql: &'static str, params: Vec<Param>) -> Result<Returned, StoreError> {
        let mut returned = self.send_after_queue(vec![Step::Prepared(sql, params)])?;
        Ok(returned.pop().unwrap_or_default())
    }

    /// Says whether there is such a row.
    pub(crate) fn exists(&self, sql: &'static str, params: Vec<Param>) -> Result<bool, StoreError> {
        Ok(self.query_one(sql, params)?.is_some())
    }

    /// Returns the first value of the first row, if there is one.
    pub(crate) fn find_one<T: for<'a> FromSql<'a>>(
        &self,
        sql: &'static str,
        params: Vec<Param>,
    ) -> Result<Option<T>, StoreError> {
        let row = self.query_one(sql, params)?;
        Ok(row.map(|row| row.try_get(0)).transpose().map_err(Fault::from)?)
    }
}

/// Leaves out the queued statements, which hold texts of humans and agents.
impl fmt::Debug for PostgresStore {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("PostgresStore")
            .field("shared", &self.shared)
            .finish_non_exhaustive()
    }
}
