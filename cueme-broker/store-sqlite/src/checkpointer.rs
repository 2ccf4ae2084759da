//! Checkpoints the store's write-ahead log on a thread of its own, so that no commit waits for it.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{Builder, JoinHandle};

use super::LogCheckpointer;

/// A handle of the thread, which ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Checkpointer {
    /// Has room for one message: a full inbox means that a checkpoint is going to run anyway.
    inbox: Option<SyncSender<()>>,
    has_run: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Checkpointer {
    /// Starts the thread for a database.
    pub(crate) fn start(database: &Path) -> io::Result<Self> {
        let (sender, inbox) = sync_channel(1);
        let database = PathBuf::from(database);
        let has_run = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&has_run);
        let thread = Builder::new()
            .name("checkpointer".into())
            .spawn(move || checkpoint_on_request(&database, &inbox, &told))?;
        Ok(Self {
            inbox: Some(sender),
            has_run,
            thread: Some(thread),
        })
    }

    /// Requests a checkpoint, and does not wait for it.
    pub(crate) fn request(&self) {
        if let Some(inbox) = &self.inbox {
            // Without the thread, a commit checkpoints.
            let _ = inbox.try_send(());
        }
    }

    /// Says whether a checkpoint ran since the last call.
    pub(crate) fn has_run(&self) -> bool {
        self.has_run.swap(false, Ordering::Relaxed)
    }
}

impl Drop for Checkpointer {
    fn drop(&mut self) {
        self.inbox = None;
        if let Some(thread) = self.thread.take() {
            // Join errors are ignored during shutdown.
            let _ = thread.join();
        }
    }
}

fn checkpoint_on_request(database: &Path, inbox: &Receiver<()>, has_run: &AtomicBool) {
    let checkpointer = match LogCheckpointer::open(database) {
        Ok(checkpointer) => checkpointer,
        Err(error) => return tracing::warn!(%error, "commits alone checkpoint the log"),
    };
    while inbox.recv().is_ok() {
        match checkpointer.checkpoint() {
            Ok(()) => has_run.store(true, Ordering::Relaxed),
            // The frames stay in the log until the next checkpoint.
            Err(error) => tracing::debug!(%error, "the checkpoint failed"),
        }
    }
}
