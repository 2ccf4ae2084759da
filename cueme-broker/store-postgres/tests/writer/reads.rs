//! Reads beside the writer.

use std::future::Future;
use std::path::Path;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use cueme_store::{CheckReport, Storage, StoreError, Upload};
use cueme_store_postgres::{CopyTransaction, PostgresStorage};
use cueme_test_kit::eventually;
use cueme_test_kit::postgres_proxy::{Cut, Proxy};

use super::{Broker, NOW, server};

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

#[test]
fn the_bytes_of_a_large_file_are_sent_without_the_lock() {
    const LARGE: usize = 2_000_000;
    let Some(server) = server() else { return };
    let url = server.database();
    let proxy = Proxy::start(server.port());
    let mut broker = Broker::open(&proxy.url(&url));
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("picture.png");
    std::fs::write(&path, "x".repeat(LARGE)).unwrap();
    let mut other = server.session(&url);
    other.run("BEGIN; SELECT 1 FROM head FOR UPDATE");
    broker.storage.reader().send_ahead(&path).unwrap();
    other.run("COMMIT");
    // In the transaction, no message is as large as the file.
    proxy.cut(Cut::Large(LARGE));
    let upload = Upload {
        upload_id: "one".into(),
        path: path.display().to_string(),
        name: "picture.png".into(),
        media_type: "image/png".into(),
        bytes: LARGE as u64,
        cue_ids: Vec::new(),
    };
    broker.transact(|store| store.add_upload(&upload, NOW.wall).unwrap());
    assert!(proxy.spare(), "the transaction sent the file");
    assert_eq!(
        server.run(
            &url,
            "SELECT length(blobs.bytes) FROM blobs JOIN uploads USING (hash)"
        ),
        LARGE.to_string()
    );
}
