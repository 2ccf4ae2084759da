//! Where connections live: the store's callers are plain threads, and wait here for what a connection does.

use std::future::Future;

use tokio::task::JoinHandle;

/// A runtime of one thread for every connection of this store.
#[derive(Debug)]
pub struct Runtime(Option<tokio::runtime::Runtime>);

impl Runtime {
    /// Starts it.
    pub fn start() -> std::io::Result<Self> {
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        let built = builder
            .worker_threads(1)
            .thread_name("postgres")
            .enable_all()
            .build();
        built.map(|runtime| Self(Some(runtime)))
    }

    /// Waits for something. On a thread of another runtime that thread waits, as it does for a file.
    pub(crate) fn block_on<T>(&self, work: impl Future<Output = T>) -> T {
        match &self.0 {
            Some(runtime) => {
                let _context = runtime.enter();
                futures_executor::block_on(work)
            }
            None => unreachable!("it ends when it is dropped"),
        }
    }

    /// Lets something go on beside.
    pub(crate) fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) -> JoinHandle<()> {
        match &self.0 {
            Some(runtime) => runtime.spawn(work),
            None => unreachable!("it ends when it is dropped"),
        }
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            // The last owner may be a task of another runtime, which must not wait.
            runtime.shutdown_background();
        }
    }
}
