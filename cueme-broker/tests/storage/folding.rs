//! The log of an engine that has no rest.

use cueme_broker::engine::Engine;
use cueme_store_sqlite::{SqliteStorage, Synchronous};

#[tokio::test]
async fn the_log_begins_anew_while_one_commit_follows_the_other() {
    const COMMITS: usize = 1200;
    const COMMIT_BYTES: usize = 64 * 1024;
    let directory = tempfile::tempdir().unwrap();
    let database = directory.path().join("cueme.db");
    let engine = Engine::start(Box::new(SqliteStorage::at(&database, Synchronous::Full)), true).unwrap();
    let handle = engine.handle();
    for number in 0..COMMITS {
        let text = ['a', 'b'][number % 2].to_string().repeat(COMMIT_BYTES);
        let written = handle.write(move |store, _| store.set("some", &text)).await;
        written.unwrap().unwrap();
    }
    let log = std::fs::metadata(directory.path().join("cueme.db-wal")).unwrap();
    assert!(
        log.len() < (COMMITS * COMMIT_BYTES / 2) as u64,
        "{} bytes",
        log.len()
    );
    engine.stop();
}
