//! The database is checked, copied, and purged of old questions.

use cueme_broker::engine::DiskReserve;
use cueme_store::StoreError;
use cueme_store_sqlite::{check_file, void_access};
use protocol_spec::id::CueId;
use protocol_spec::outcome::Outcome;
use protocol_spec::time::Timestamp;
use rusqlite::Connection;

use crate::restart::{answer_with_secret, is_on_disk};
use crate::{Little, WALL_MS};

use crate::place::{AnyPlace, on_every_store};

on_every_store!(only_what_was_acknowledged_long_ago_is_purged_batch_by_batch,);

fn only_what_was_acknowledged_long_ago_is_purged_batch_by_batch(database: &AnyPlace) {
    let mut broker = Little::open(database, WALL_MS).unwrap();
    let agent = broker.join();
    let open = broker.ask_this(&agent, "open kettle");
    let answered = broker.ask_this(&agent, "answered kettle");
    broker.answer(answered, "yes", 0);
    for _ in 0..501 {
        let old = broker.ask_this(&agent, "old kettle");
        broker.answer(old, "yes", 0);
        broker.acknowledge(old);
    }
    while broker.core.index_some() {}
    broker.pass(1000);
    let recent = broker.ask_this(&agent, "recent kettle");
    broker.answer(recent, "yes", 0);
    broker.acknowledge(recent);
    let reader = crate::open_reader(database);
    let before = Timestamp::from_millis(WALL_MS + 1000);
    let events_before = reader.events_after(0, 10_000).unwrap().len();
    let mut purge = || {
        let purged = broker.core.write(broker.now, DiskReserve::Keep, |store| {
            let count = store.count_purgeable(before)?;
            store.purge_some(before).map(|purged| (count, purged))
        });
        purged.unwrap()
    };
    assert_eq!(purge(), (501, (500, true)));
    assert_eq!(reader.events_after(0, 10_000).unwrap().len(), events_before);
    assert_eq!(purge(), (1, (1, false)));
    assert_eq!(purge(), (0, (0, false)));
    for cue in [open, answered, recent] {
        assert!(reader.cue(cue).unwrap().is_some());
    }
    let report = reader.check().unwrap();
    assert_eq!((report.cues, report.problems.len()), (3, 0));
    assert_eq!(reader.search_cues("old", None, None, 10).unwrap().len(), 0);
    let events = reader.events_after(0, 10_000).unwrap();
    assert!(events.iter().all(|event| event.at >= before), "{events:?}");
    assert_eq!(events.last().unwrap().id, Some(reader.newest_event().unwrap()));
}

#[test]
fn many_old_events_are_deleted_piece_by_piece() {
    const PIECE_MAX: u64 = 5_000;
    let Some(place) = AnyPlace::postgres() else { return };
    let mut broker = Little::open(&place, WALL_MS).unwrap();
    broker.join();
    place.run_beside(
        "INSERT INTO events (id, at, what, agent_id) SELECT id, 0, 0, agent_id FROM generate_series(2, 12001) AS id, agents;
         UPDATE head SET event = 12001",
    );
    let count = || {
        place
            .run_beside("SELECT count(*) FROM events")
            .parse::<u64>()
            .unwrap()
    };
    let before = Timestamp::from_millis(WALL_MS);
    let mut left = count();
    loop {
        let purged = broker
            .core
            .write(broker.now, DiskReserve::Keep, |store| store.purge_some(before));
        let (_, has_more) = purged.unwrap();
        let now = count();
        assert!(left - now <= PIECE_MAX, "{} at once", left - now);
        left = now;
        if !has_more {
            break;
        }
    }
    // The newest stays, because its number is the last one given, and so does a recent one.
    assert_eq!(left, 2);
}

/// Fills a database with questions of three megabytes, and deletes all but one of them.
fn mostly_empty(broker: &mut Little) -> CueId {
    let agent = broker.join();
    let kept = broker.ask_this(&agent, "kept kettle");
    for _ in 0..3 {
        let old = broker.ask_this(&agent, &"old kettle ".repeat(90_000));
        broker.answer(old, "yes", 0);
        broker.acknowledge(old);
    }
    while broker.core.index_some() {}
    let later = Timestamp::from_millis(WALL_MS + 1);
    let purged = broker
        .core
        .write(broker.now, DiskReserve::Keep, |store| store.purge_some(later));
    assert_eq!(purged.unwrap(), (3, false));
    kept
}

fn shrink(broker: &mut Little, empty_percent_max: u8) -> usize {
    let mut some = || {
        let shrunk = broker.core.write(broker.now, DiskReserve::Keep, |store| {
            store.shrink_some(empty_percent_max)
        });
        shrunk.unwrap()
    };
    1 + std::iter::from_fn(|| some().then_some(())).count()
}

#[test]
fn what_is_empty_beyond_its_share_goes_back_to_the_disk_piece_by_piece() {
    let directory = tempfile::tempdir().unwrap();
    let database = directory.path().join("cueme.db");
    let mut broker = Little::open(&database, WALL_MS).unwrap();
    let kept = mostly_empty(&mut broker);
    let reader = crate::open_reader(&database);
    let full = reader.check().unwrap().bytes;
    assert!(full > 3_000_000, "{full}");
    assert_eq!(shrink(&mut broker, 100), 1);
    assert_eq!(reader.check().unwrap().bytes, full);
    let pieces = shrink(&mut broker, 50);
    let half = reader.check().unwrap();
    assert!(pieces > 5 && half.problems.is_empty(), "{pieces}, {half:?}");
    assert!(
        half.bytes < full * 3 / 5 && half.bytes > full / 3,
        "{half:?} of {full}"
    );
    shrink(&mut broker, 0);
    let rest = reader.check().unwrap();
    assert!(rest.bytes < 1_500_000 && rest.problems.is_empty(), "{rest:?}");
    assert_eq!(reader.cue(kept).unwrap().unwrap().prompt, "kept kettle");
    broker.core.flush();
    assert_eq!(std::fs::metadata(&database).unwrap().len(), rest.bytes);
}

#[test]
fn a_database_from_before_keeps_its_space_and_its_copy_does_not() {
    let directory = tempfile::tempdir().unwrap();
    let database = directory.path().join("cueme.db");
    let before = Connection::open(&database).unwrap();
    before
        .execute_batch("PRAGMA journal_mode = wal; CREATE TABLE some (a); DROP TABLE some")
        .unwrap();
    drop(before);
    let mut broker = Little::open(&database, WALL_MS).unwrap();
    mostly_empty(&mut broker);
    let reader = crate::open_reader(&database);
    let full = reader.check().unwrap().bytes;
    assert_eq!(shrink(&mut broker, 0), 1);
    assert_eq!(reader.check().unwrap().bytes, full);
    let copy = directory.path().join("copy.db");
    let report = reader.back_up(&copy).unwrap();
    assert!(
        report.bytes < full / 3 && report.problems.is_empty(),
        "{report:?}"
    );
    let gives_back: u32 = Connection::open(&copy)
        .unwrap()
        .query_row("PRAGMA auto_vacuum", [], |row| row.get(0))
        .unwrap();
    assert_eq!(gives_back, 2);
}

#[test]
fn a_copy_is_whole_stands_alone_and_overwrites_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let database = directory.path().join("cueme.db");
    let mut broker = Little::open(&database, WALL_MS).unwrap();
    let agent = broker.join();
    let cue = broker.ask(&agent);
    let reader = crate::open_reader(&database);
    let copy = directory.path().join("copy.db");
    let report = reader.back_up(&copy).unwrap();
    assert_eq!((report.cues, report.problems.len()), (1, 0));
    assert_eq!(report.bytes, std::fs::metadata(&copy).unwrap().len());
    assert_eq!(check_file(&copy).unwrap(), report);
    assert_eq!(
        crate::open_reader(&copy).cue(cue).unwrap().unwrap().prompt,
        "Which port?"
    );
    assert!(matches!(reader.back_up(&copy), Err(StoreError::Io { .. })));
}

#[test]
fn what_is_wrong_with_a_file_is_said() {
    let directory = tempfile::tempdir().unwrap();
    let database = directory.path().join("cueme.db");
    let mut broker = Little::open(&database, WALL_MS).unwrap();
    let agent = broker.join();
    broker.ask(&agent);
    drop(broker);
    let other = rusqlite::Connection::open(&database).unwrap();
    other
        .execute_batch("PRAGMA foreign_keys = off; DELETE FROM agents;")
        .unwrap();
    let problems = check_file(&database).unwrap().problems;
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert!(
        problems[0].contains("refer to rows that do not exist"),
        "{problems:?}"
    );
    other.pragma_update(None, "user_version", 1000).unwrap();
    assert!(matches!(
        check_file(&database),
        Err(StoreError::Newer { found: 1000, .. })
    ));
    let foreign = directory.path().join("foreign.db");
    rusqlite::Connection::open(&foreign)
        .unwrap()
        .execute_batch("CREATE TABLE t (x)")
        .unwrap();
    assert!(matches!(check_file(&foreign), Err(StoreError::Damaged { .. })));
}

#[test]
fn deleting_a_question_looks_for_its_receipts_alone() {
    let directory = tempfile::tempdir().unwrap();
    let database = directory.path().join("cueme.db");
    let _broker = Little::open(&database, WALL_MS).unwrap();
    let plan: String = rusqlite::Connection::open(&database)
        .unwrap()
        .query_row(
            "EXPLAIN QUERY PLAN DELETE FROM receipts WHERE cue_id = (SELECT cue_id FROM cues WHERE seq = 1)",
            [],
            |row| row.get(3),
        )
        .unwrap();
    assert!(plan.contains("receipts_of_cue"), "{plan}");
}

#[test]
fn a_copy_holds_no_password_and_its_question_is_open_in_it() {
    let directory = tempfile::tempdir().unwrap();
    let database = directory.path().join("cueme.db");
    let mut broker = Little::open(&database, WALL_MS).unwrap();
    let cue = answer_with_secret(&mut broker);
    let elsewhere = tempfile::tempdir().unwrap();
    let copy = elsewhere.path().join("copy.db");
    let report = crate::open_reader(&database).back_up(&copy).unwrap();
    assert_eq!(report.problems, Vec::<String>::new());
    assert!(!is_on_disk(elsewhere.path()), "the copy holds the password");
    assert!(is_on_disk(directory.path()), "the agent still gets it here");
    let restored = Little::open(&copy, WALL_MS).unwrap();
    assert!(restored.core.machine().knows(cue));
    let shown = crate::open_reader(&copy).cue(cue).unwrap().unwrap();
    assert_eq!((shown.outcome, shown.text), (Outcome::Open, None));
}

#[test]
fn a_copy_signs_nobody_in() {
    let directory = tempfile::tempdir().unwrap();
    let database = directory.path().join("cueme.db");
    drop(Little::open(&database, WALL_MS).unwrap());
    let sign_in = "INSERT INTO devices VALUES ('d', x'01', 'phone', 0, 0);
         INSERT INTO links VALUES (x'02', NULL, 9999999999999);
         INSERT INTO tokens (token_id, token_hash, scope, created_at) VALUES ('t', x'03', 2, 0)";
    let signed_in = |path: &std::path::Path| -> u32 {
        let connection = Connection::open(path).unwrap();
        let sql = "SELECT (SELECT count(*) FROM devices) + (SELECT count(*) FROM links) + (SELECT count(*) FROM tokens)";
        connection.query_row(sql, [], |row| row.get(0)).unwrap()
    };
    Connection::open(&database)
        .unwrap()
        .execute_batch(sign_in)
        .unwrap();
    let copy = directory.path().join("copy.db");
    crate::open_reader(&database).back_up(&copy).unwrap();
    assert_eq!((signed_in(&database), signed_in(&copy)), (3, 0));
    // A file that came another way is made void when it is restored.
    void_access(&database).unwrap();
    assert_eq!(signed_in(&database), 0);
}
