//! A database is opened by its owner alone, and only by a broker that knows it.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use cueme_store::StoreError;
use cueme_store_sqlite::SCHEMA;
use rusqlite::Connection;

use crate::{Little, WALL_MS};

fn with_schema(database: &Path, number: u32) -> Vec<u8> {
    drop(Little::open(database, WALL_MS).unwrap());
    let connection = Connection::open(database).unwrap();
    connection.pragma_update(None, "journal_mode", "delete").unwrap();
    connection.pragma_update(None, "user_version", number).unwrap();
    drop(connection);
    std::fs::read(database).unwrap()
}

#[test]
fn a_newer_database_is_refused_and_left_as_it_is() {
    let directory = tempfile::tempdir().unwrap();
    let database = directory.path().join("cueme.db");
    let written = with_schema(&database, SCHEMA + 1);
    let Err(StoreError::Newer { found, known, .. }) = Little::open(&database, WALL_MS) else {
        panic!("it was opened");
    };
    assert_eq!((found, known), (SCHEMA + 1, SCHEMA));
    assert!(std::fs::read(&database).unwrap() == written);
    // With a log beside it, the number in the file may not be the last word.
    std::fs::write(directory.path().join("cueme.db-wal"), "").unwrap();
    assert!(matches!(
        Little::open(&database, WALL_MS),
        Err(StoreError::Newer { .. })
    ));
    assert!(std::fs::read(&database).unwrap() == written);
}

#[test]
fn our_own_schema_is_opened_again() {
    let directory = tempfile::tempdir().unwrap();
    let database = directory.path().join("cueme.db");
    with_schema(&database, SCHEMA);
    Little::open(&database, WALL_MS).unwrap().join();
}

#[test]
fn nobody_else_can_read_it() {
    let directory = tempfile::tempdir().unwrap();
    let mut broker = Little::open(&directory.path().join("cueme.db"), WALL_MS).unwrap();
    broker.join();
    for name in ["cueme.db", "cueme.db-wal", "ballast"] {
        let mode = std::fs::metadata(directory.path().join(name))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
}

#[test]
fn what_is_no_database_is_said_to_be_damaged() {
    let directory = tempfile::tempdir().unwrap();
    let database = directory.path().join("cueme.db");
    std::fs::write(&database, "certainly no database ".repeat(100)).unwrap();
    let Err(error) = Little::open(&database, WALL_MS).map(drop) else {
        panic!("it was opened");
    };
    assert!(matches!(error, StoreError::Damaged { .. }), "{error:?}");
}

#[test]
fn a_damaged_page_is_noticed_after_a_broker_that_did_not_stop_in_order() {
    let directory = tempfile::tempdir().unwrap();
    let database = directory.path().join("cueme.db");
    let mut broker = Little::open(&database, WALL_MS).unwrap();
    let agent = broker.join();
    broker.ask(&agent);
    drop(broker);
    let connection = Connection::open(&database).unwrap();
    let page: u64 = connection
        .query_row(
            "SELECT rootpage FROM sqlite_schema WHERE name = 'events'",
            [],
            |row| row.get(0),
        )
        .unwrap();
    drop(connection);
    let mut bytes = std::fs::read(&database).unwrap();
    let start = usize::try_from((page - 1) * 4096).unwrap();
    bytes[start..start + 64].fill(0xff);
    std::fs::write(&database, bytes).unwrap();
    match Little::open(&database, WALL_MS) {
        Err(StoreError::Damaged { .. }) => {}
        other => panic!("not noticed: {:?}", other.map(|broker| broker.tickets)),
    }
}

#[test]
fn a_log_that_was_changed_is_refused_and_one_that_was_torn_is_not() {
    let directory = tempfile::tempdir().unwrap();
    let database = directory.path().join("cueme.db");
    let mut broker = Little::open(&database, WALL_MS).unwrap();
    let agent = broker.join();
    let asked = [1, 2, 3].map(|number| broker.ask_this(&agent, &format!("Question {number}?")));
    // As the files are after a crash.
    let files = ["cueme.db", "cueme.db-wal"];
    let [file, log] = files.map(|name| std::fs::read(directory.path().join(name)).unwrap());
    let after_crash = |log: &[u8]| {
        let copy = tempfile::tempdir().unwrap();
        let database = copy.path().join("cueme.db");
        std::fs::write(&database, &file).unwrap();
        std::fs::write(copy.path().join("cueme.db-wal"), log).unwrap();
        Little::open(&database, WALL_MS).map(|broker| {
            let waiting = asked.map(|cue| broker.core.machine().knows(cue));
            waiting.into_iter().filter(|known| *known).count()
        })
    };
    assert_eq!(after_crash(&log).unwrap(), 3);
    let mut flipped = log.clone();
    flipped[log.len() / 2] ^= 4;
    let Err(error) = after_crash(&flipped) else {
        panic!("it was opened");
    };
    assert!(matches!(error, StoreError::LogDamaged { .. }), "{error:?}");
    let hint = error.hint().unwrap();
    assert!(
        hint.contains("cueme restore") && hint.contains("cueme.db-wal"),
        "{hint}"
    );
    // The last write is torn.
    assert_eq!(after_crash(&log[..log.len() - 100]).unwrap(), 2);
}
