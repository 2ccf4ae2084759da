//! Reads beside the writer.

use std::future::Future;
use std::path::Path;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use cueme_store::{CheckReport, Storage, StoreError};
use cueme_store_postgres::{CopyTransaction, PostgresStorage};
use cueme_test_kit::eventually;

use super::server;

/// The number of backups that were started …
static STARTED: AtomicU32 = AtomicU32::new(0);
/// … and whether they may end.
static MAY_END: AtomicBool = AtomicBool::new(false);

/// A backup that takes long.
fn back_up_slowly<'a>(
    source: CopyTransaction<'a>,
    to: &'a Path,
) -> Pin<Box<dyn Future<Output = Result<CheckReport, StoreError>> + 'a>> {
    Box::pin(async move {
        STARTED.fetch_add(1, Ordering::SeqCst);
        while !MAY_END.load(Ordering::SeqCst) {
            std::thread::sleep(Duration::from_millis(5));
        }
        drop(source);
        Err(StoreError::Gone { path: to.to_owned() })
    })
}

#[test]
fn two_backups_at_once_leave_a_connection_to_the_other_reads() {
    const READ_MAX: Duration = Duration::from_secs(5);
    let Some(server) = server() else { return };
    let mut storage = PostgresStorage::at(&server.database(), back_up_slowly).unwrap();
    let _store = storage.open(true).unwrap();
    let reader = storage.reader();
    let place = tempfile::tempdir().unwrap();
    let files = ["one", "two"].map(|name| place.path().join(name));
    std::thread::scope(|scope| {
        for file in &files {
            scope.spawn(|| reader.back_up(file));
        }
        eventually("a backup is being made", || {
            (STARTED.load(Ordering::SeqCst) > 0).then_some(())
        });
        // The second one has had the time to begin.
        std::thread::sleep(Duration::from_millis(500));
        let started = Instant::now();
        let read = reader.newest_event();
        MAY_END.store(true, Ordering::SeqCst);
        assert!(
            read.is_ok() && started.elapsed() < READ_MAX,
            "{read:?} after {:?}",
            started.elapsed()
        );
    });
}
