//! The runtime of the connections: the store's callers are plain threads, and block here until a connection is done.

use std::future::Future;

use tokio::task::JoinHandle;

/// A single-threaded runtime for every connection of this store.
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

    /// Blocks on a future. A thread of another runtime is blocked, too, as it is for a file.
    pub fn block_on<T>(&self, work: impl Future<Output = T>) -> T {
        match &self.0 {
            Some(runtime) => {
                let _context = runtime.enter();
                futures_executor::block_on(work)
            }
            None => unreachable!("it ends when it is dropped"),
        }
    }

    /// Spawns a task.
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
            // The last owner may be a task of another runtime, which must not block.
            runtime.shutdown_background();
        }
    }
}
