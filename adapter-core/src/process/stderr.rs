//! The tail of a process's stderr, which says what went wrong.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::AsyncReadExt;
use tokio::process::ChildStderr;
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// The size of the read buffer, in bytes.
const READ_BYTES: usize = 64 * 1024;
/// The most bytes that are kept.
const STDERR_BYTES_MAX: usize = 64 * 1024;

/// Reads stderr to its end and keeps the last part of it.
#[derive(Debug)]
pub(crate) struct StderrTask {
    tail: Arc<Mutex<Vec<u8>>>,
    task: Option<JoinHandle<()>>,
}

impl StderrTask {
    pub(crate) fn start(stderr: Option<ChildStderr>) -> Self {
        let tail = Arc::new(Mutex::new(Vec::new()));
        let task = stderr.map(|stderr| tokio::spawn(keep_tail(stderr, Arc::clone(&tail))));
        Self { tail, task }
    }

    /// Returns what was kept; waits no longer than this for more.
    pub(crate) async fn end(&mut self, grace: Duration) -> String {
        if let Some(mut task) = self.task.take()
            && timeout(grace, &mut task).await.is_err()
        {
            task.abort();
        }
        let tail = self.tail.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&tail).into_owned()
    }
}

impl Drop for StderrTask {
    fn drop(&mut self) {
        if let Some(task) = self.task.take() {
            task.abort();
        }
    }
}

async fn keep_tail(mut stderr: ChildStderr, tail: Arc<Mutex<Vec<u8>>>) {
    let mut buffer = vec![0; READ_BYTES];
    while let Ok(count) = stderr.read(&mut buffer).await {
        if count == 0 {
            return;
        }
        let mut tail = tail.lock().unwrap_or_else(PoisonError::into_inner);
        tail.extend_from_slice(&buffer[..count]);
        let excess = tail.len().saturating_sub(STDERR_BYTES_MAX);
        tail.drain(..excess);
    }
}
