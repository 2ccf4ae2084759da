//! Folds the store's log into the database on a thread of its own, so that nobody waits for it.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{Builder, JoinHandle};

use crate::store::Folder;

/// The thread that does it; it ends when this is dropped.
#[derive(Debug)]
pub(super) struct Folding {
    /// Has room for one message: whoever finds it full knows that the log will be folded in once more.
    inbox: Option<SyncSender<()>>,
    has_folded: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Folding {
    /// Starts the thread for a database.
    pub(super) fn start(database: &Path) -> io::Result<Self> {
        let (sender, inbox) = sync_channel(1);
        let database = PathBuf::from(database);
        let has_folded = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&has_folded);
        let thread = Builder::new()
            .name("folding".into())
            .spawn(move || fold_when_asked(&database, &inbox, &told))?;
        Ok(Self {
            inbox: Some(sender),
            has_folded,
            thread: Some(thread),
        })
    }

    /// Asks for the log to be folded in, and does not wait for it.
    pub(super) fn ask(&self) {
        if let Some(inbox) = &self.inbox {
            // Where it cannot be done beside the commits, one of them does it.
            let _ = inbox.try_send(());
        }
    }

    /// Says whether it was done since this was last asked.
    pub(super) fn has_folded(&self) -> bool {
        self.has_folded.swap(false, Ordering::Relaxed)
    }
}

impl Drop for Folding {
    fn drop(&mut self) {
        self.inbox = None;
        if let Some(thread) = self.thread.take() {
            // It has nothing left to say.
            let _ = thread.join();
        }
    }
}

fn fold_when_asked(database: &Path, inbox: &Receiver<()>, has_folded: &AtomicBool) {
    let folder = match Folder::open(database) {
        Ok(folder) => folder,
        Err(error) => return tracing::warn!(%error, "the log is folded in by commits alone"),
    };
    while inbox.recv().is_ok() {
        match folder.fold() {
            Ok(()) => has_folded.store(true, Ordering::Relaxed),
            // What was not folded in stays in the log, and is the next time.
            Err(error) => tracing::debug!(%error, "the log could not be folded in"),
        }
    }
}
