//! A durable write outside the rules, such as a draft or a setting. It shares the commit of its batch.

use cueme_store::{Records, StoreError};
use protocol_spec::time::Timestamp;

/// The disk space that a write may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiskReserve {
    /// The reserve is for answers; on a full disk the write is refused.
    Keep,
    /// The write may use the reserve: it is small, and no human could answer without it.
    Use,
}

/// A write with the receiver of its result.
pub struct Write<'a> {
    pub(super) reserve: DiskReserve,
    job: Box<dyn Job + Send + 'a>,
}

/// The type of the result is known only to the caller.
trait Job {
    fn run(&mut self, records: &dyn Records, at: Timestamp) -> Result<(), StoreError>;
    fn fail(&mut self, error: StoreError);
    fn finish(self: Box<Self>);
}

struct Pending<T, W, R> {
    write: W,
    result: Option<Result<T, StoreError>>,
    report: R,
}

impl<T, W, R> Job for Pending<T, W, R>
where
    W: Fn(&dyn Records, Timestamp) -> Result<T, StoreError>,
    R: FnOnce(Result<T, StoreError>),
{
    fn run(&mut self, records: &dyn Records, at: Timestamp) -> Result<(), StoreError> {
        self.result = Some(Ok((self.write)(records, at)?));
        Ok(())
    }

    fn fail(&mut self, error: StoreError) {
        self.result = Some(Err(error));
    }

    fn finish(self: Box<Self>) {
        if let Some(result) = self.result {
            (self.report)(result);
        }
    }
}

impl<'a> Write<'a> {
    /// Describes a write; `report` gets its result once that is on disk. It runs again when the commit of its batch failed.
    pub fn new<T: Send + 'a>(
        reserve: DiskReserve,
        write: impl Fn(&dyn Records, Timestamp) -> Result<T, StoreError> + Send + 'a,
        report: impl FnOnce(Result<T, StoreError>) + Send + 'a,
    ) -> Self {
        let job = Box::new(Pending {
            write,
            result: None,
            report,
        });
        Self { reserve, job }
    }

    /// Runs it in the transaction that is open.
    pub(super) fn run(&mut self, records: &dyn Records, at: Timestamp) -> Result<(), StoreError> {
        self.job.run(records, at)
    }

    /// Notes that nothing was written.
    pub(super) fn fail(&mut self, error: StoreError) {
        self.job.fail(error);
    }

    /// Reports the result, after the commit.
    pub(super) fn finish(self) {
        self.job.finish();
    }
}

impl std::fmt::Debug for Write<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Write")
            .field("reserve", &self.reserve)
            .finish_non_exhaustive()
    }
}
