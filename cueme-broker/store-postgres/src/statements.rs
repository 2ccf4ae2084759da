//! Statements of the writer's connection: queued until a result is needed, and sent together.

use std::collections::{HashMap, VecDeque};
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::Poll;

use futures_util::TryStreamExt;
use futures_util::future::{MaybeDone, maybe_done};
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Error, Row, Statement};
use uuid::Uuid;

use crate::text::encode;

/// A value for a statement.
pub(crate) type Param = Box<dyn ToSql + Sync + Send>;

/// Makes the values of a statement.
macro_rules! params {
    ($($value:expr),* $(,)?) => {
        vec![$($crate::statements::IntoParam::into_param($value)),*]
    };
}
pub(crate) use params;

/// Something that is sent to the server.
pub(crate) enum Step {
    /// A statement without values, such as `BEGIN`.
    Plain(&'static str),
    /// A statement with values, which is prepared once.
    Prepared(&'static str, Vec<Param>),
}

/// The result of a statement.
#[derive(Debug, Default)]
pub(crate) struct Returned {
    /// Its rows.
    pub(crate) rows: Vec<Row>,
    /// The number of rows that it returned or changed.
    pub(crate) count: u64,
}

/// Sends statements over one connection, each kind prepared once.
pub(crate) struct Statements {
    client: Client,
    prepared: Mutex<HashMap<&'static str, Statement>>,
}

impl Statements {
    pub(crate) fn new(client: Client) -> Self {
        Self {
            client,
            prepared: Mutex::default(),
        }
    }

    /// Returns the connection.
    pub(crate) fn client(&self) -> &Client {
        &self.client
    }

    /// Sends statements in a pipeline, and returns the result of each, or the first error.
    ///
    /// A statement that cannot be sent stops those after it. One that the server refuses does not: inside a transaction
    /// the server refuses all that follow, and `COMMIT` undoes it.
    pub(crate) async fn send(&self, steps: Vec<Step>) -> Result<Vec<Returned>, Error> {
        self.prepare(&steps).await?;
        let mut sent = VecDeque::with_capacity(steps.len());
        for step in steps {
            let mut running: Pin<Box<MaybeDone<_>>> = Box::pin(maybe_done(self.run(step)));
            // Statements are sent in the order in which they are first polled.
            std::future::poll_fn(|context| {
                let _ = running.as_mut().poll(context);
                Poll::Ready(())
            })
            .await;
            if matches!(running.as_mut().output_mut(), Some(Err(_)))
                && let Some(Err(error)) = running.as_mut().take_output()
            {
                return Err(error);
            }
            sent.push_back(running);
        }
        let mut returned = Vec::with_capacity(sent.len());
        while let Some(mut running) = sent.pop_front() {
            running.as_mut().await;
            if let Some(result) = running.as_mut().take_output() {
                returned.push(result?);
            }
        }
        Ok(returned)
    }

    async fn run(&self, step: Step) -> Result<Returned, Error> {
        let (sql, params) = match step {
            Step::Plain(sql) => {
                self.client.batch_execute(sql).await?;
                return Ok(Returned::default());
            }
            Step::Prepared(sql, params) => (sql, params),
        };
        let statement = self.prepared().get(sql).cloned();
        let statement = match statement {
            Some(statement) => statement,
            None => self.client.prepare(sql).await?,
        };
        let mut stream = pin!(self.client.query_raw(&statement, params).await?);
        let mut rows = Vec::new();
        while let Some(row) = stream.try_next().await? {
            rows.push(row);
        }
        let count = stream.rows_affected().unwrap_or(rows.len() as u64);
        Ok(Returned { rows, count })
    }

    async fn prepare(&self, steps: &[Step]) -> Result<(), Error> {
        for step in steps {
            let Step::Prepared(sql, _) = step else { continue };
            if self.prepared().contains_key(sql) {
                continue;
            }
            let statement = self.client.prepare(sql).await?;
            self.prepared().insert(sql, statement);
        }
        Ok(())
    }

    fn prepared(&self) -> MutexGuard<'_, HashMap<&'static str, Statement>> {
        self.prepared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Statements {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Statements").finish_non_exhaustive()
    }
}

/// Turns a value into one that a statement can own. Texts are encoded here and nowhere else.
pub(crate) trait IntoParam {
    fn into_param(self) -> Param;
}

macro_rules! as_they_are {
    ($($type:ty),*) => {
        $(impl IntoParam for $type {
            fn into_param(self) -> Param {
                Box::new(self)
            }
        })*
    };
}

as_they_are!(
    Option<Vec<u8>>,
    f64,
    i16,
    i64,
    Option<i64>,
    bool,
    Uuid,
    Vec<u8>,
    Vec<i16>,
    Vec<i64>,
    Vec<Option<i64>>,
    Vec<bool>,
    Vec<Option<Vec<u8>>>,
    Vec<Uuid>,
    Vec<Option<Uuid>>,
    Option<Vec<String>>
);

impl IntoParam for &str {
    fn into_param(self) -> Param {
        Box::new(encode(self).into_owned())
    }
}

impl IntoParam for &String {
    fn into_param(self) -> Param {
        self.as_str().into_param()
    }
}

impl IntoParam for Option<&str> {
    fn into_param(self) -> Param {
        Box::new(self.map(|text| encode(text).into_owned()))
    }
}

impl IntoParam for &Option<String> {
    fn into_param(self) -> Param {
        self.as_deref().into_param()
    }
}

impl IntoParam for Vec<String> {
    fn into_param(self) -> Param {
        let encoded: Vec<String> = self.iter().map(|text| encode(text).into_owned()).collect();
        Box::new(encoded)
    }
}

impl IntoParam for Vec<Option<String>> {
    fn into_param(self) -> Param {
        let encoded = self
            .iter()
            .map(|text| Some(encode(text.as_deref()?).into_owned()));
        Box::new(encoded.collect::<Vec<Option<String>>>())
    }
}

impl<const N: usize> IntoParam for &[u8; N] {
    fn into_param(self) -> Param {
        Box::new(self.to_vec())
    }
}
