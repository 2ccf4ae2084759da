//! Machine and store together on a real file: what is on the disk is told, or nothing is.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;

use cueme_broker::engine::{Core, Order, Work};
use cueme_broker::machine::{HOLD_MS_MAX, Now, Ticket};
use cueme_broker::store::{POLICY_PREFIX, Reader, StoreError, Synchronous};
use protocol_spec::answer::Answer;
use protocol_spec::id::{AgentId, CueId, RequestId};
use protocol_spec::message::{ErrorCode, Reply};
use protocol_spec::outcome::{Kind, Origin};
use protocol_spec::time::Timestamp;
use uuid::Uuid;

const WALL_MS: i64 = 1_800_000_000_000;
const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// A broker without a process.
struct Little {
    core: Core,
    tickets: u64,
    now: Now,
}

impl Little {
    fn open(database: &Path, wall_ms: i64) -> Result<Self, StoreError> {
        let now = Now {
            wall: Timestamp::from_millis(wall_ms),
            steady: 0,
        };
        let random = Box::new(|| Uuid::new_v4().as_u64_pair().0);
        Core::open(database.to_owned(), Synchronous::Full, false, now, random).map(|core| Self {
            core,
            tickets: 0,
            now,
        })
    }

    fn say(&mut self, work: Work) -> Vec<(Ticket, Box<Reply>)> {
        self.tickets += 1;
        let order = Order {
            ticket: Ticket(self.tickets),
            request: RequestId(Uuid::new_v4()),
            work,
        };
        self.core.carry_out(self.now, &[order]).replies
    }

    fn join(&mut self) -> AgentId {
        let work = Work::Join {
            runtime: "terminal".parse().unwrap(),
            project_dir: "/p".into(),
            terminal: "sh".into(),
            session: None,
        };
        match &*self.say(work)[0].1 {
            Reply::Joined(joined) => joined.agent_id.clone(),
            other => panic!("{other:?}"),
        }
    }

    fn ask(&mut self, agent: &AgentId) -> CueId {
        self.ask_this(agent, "Which port?")
    }

    fn ask_this(&mut self, agent: &AgentId, prompt: &str) -> CueId {
        let work = Work::ask(agent.clone(), Kind::Cue, prompt.into(), None, Origin::Agent);
        match &*self.say(work)[0].1 {
            Reply::Asked(asked) => asked.cue_id,
            other => panic!("{other:?}"),
        }
    }

    fn answer(&mut self, cue: CueId, text: &str, hold_ms: u64) {
        self.answer_by(cue, text, hold_ms, None);
    }

    fn answer_by(&mut self, cue: CueId, text: &str, hold_ms: u64, by: Option<String>) {
        let work = Work::Answer {
            cue,
            answer: Answer {
                text: Some(text.into()),
                ..Answer::default()
            },
            by,
            hold_ms,
        };
        let replies = self.say(work);
        assert!(
            replies
                .iter()
                .any(|(_, reply)| matches!(**reply, Reply::Decided(_))),
            "{replies:?}"
        );
    }
}

#[test]
fn an_answer_whose_bits_flipped_is_not_told() {
    let directory = tempfile::tempdir().unwrap();
    let database = directory.path().join("cueme.db");
    let mut little = Little::open(&database, WALL_MS).unwrap();
    let agent = little.join();
    let cue = little.ask(&agent);
    little.answer(cue, "delete nothing", 0);
    drop(little);
    let mut bytes = std::fs::read(&database).unwrap();
    let places: Vec<usize> = bytes
        .windows(14)
        .enumerate()
        .filter(|(_, window)| window == b"delete nothing")
        .map(|(place, _)| place)
        .collect();
    assert!(!places.is_empty(), "the answer is in the file");
    for place in places {
        bytes[place + 7] ^= 1;
    }
    std::fs::write(&database, bytes).unwrap();
    match Little::open(&database, WALL_MS) {
        Err(StoreError::Damaged { what, .. }) => assert!(what.contains(cue.as_str()), "{what}"),
        other => panic!("not noticed: {:?}", other.map(|little| little.tickets)),
    }
}

#[test]
fn a_clock_that_was_set_back_holds_no_answer_for_longer_than_it_may_be_held() {
    let directory = tempfile::tempdir().unwrap();
    let database = directory.path().join("cueme.db");
    let mut little = Little::open(&database, WALL_MS).unwrap();
    let agent = little.join();
    let cue = little.ask(&agent);
    little.answer(cue, "8080", 5_000);
    drop(little);
    let little = Little::open(&database, WALL_MS - DAY_MS).unwrap();
    let due = little.core.machine().next_due();
    assert!(due.is_some_and(|due| due <= HOLD_MS_MAX), "{due:?}");
}

#[test]
fn nothing_is_confirmed_once_the_database_is_another_file() {
    let directory = tempfile::tempdir().unwrap();
    let database = directory.path().join("cueme.db");
    let mut little = Little::open(&database, WALL_MS).unwrap();
    let agent = little.join();
    std::fs::rename(&database, directory.path().join("moved.db")).unwrap();
    let work = Work::ask(agent, Kind::Cue, "Which port?".into(), None, Origin::Agent);
    let replies = little.say(work);
    assert!(
        matches!(&*replies[0].1, Reply::Error(failure) if failure.code == ErrorCode::Storage),
        "{replies:?}"
    );
}

/// Leaves a file and its journal as a power loss in the middle of a transaction does.
fn interrupted_database(directory: &Path) -> std::path::PathBuf {
    let (whole, left) = (directory.join("whole.db"), directory.join("cueme.db"));
    let connection = rusqlite::Connection::open(&whole).unwrap();
    connection
        .execute_batch(
            "PRAGMA cache_size = 1; CREATE TABLE other (x); BEGIN;
             INSERT INTO other WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
             SELECT zeroblob(100) FROM n;",
        )
        .unwrap();
    std::fs::copy(&whole, &left).unwrap();
    std::fs::copy(
        directory.join("whole.db-journal"),
        directory.join("cueme.db-journal"),
    )
    .unwrap();
    left
}

#[test]
fn a_database_whose_making_was_interrupted_is_made_again() {
    let directory = tempfile::tempdir().unwrap();
    let database = interrupted_database(directory.path());
    let mut little = Little::open(&database, WALL_MS).unwrap();
    little.join();
}

#[test]
fn where_no_ballast_can_be_written_questions_are_still_taken() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::create_dir(directory.path().join("ballast")).unwrap();
    let mut little = Little::open(&directory.path().join("cueme.db"), WALL_MS).unwrap();
    let agent = little.join();
    little.ask(&agent);
}

#[test]
fn a_rare_word_recalls_better_than_a_common_one_and_the_beginning_of_a_word_is_enough() {
    let directory = tempfile::tempdir().unwrap();
    let database = directory.path().join("cueme.db");
    let mut broker = Little::open(&database, WALL_MS).unwrap();
    let (plain, special) = (broker.join(), broker.join());
    broker.ask_this(&special, "Shall the zeppelin land in the table?");
    for number in 0..40 {
        broker.ask_this(&plain, &format!("Shall I change the table in step {number}?"));
    }
    while broker.core.index_some() {}
    let reader = Reader::new(&database);
    let first = |hints: &str| reader.recall(hints, None).unwrap()[0].agent.agent_id.clone();
    assert_eq!(first("table"), plain);
    assert_eq!(first("table zeppelin"), special);
    assert_eq!(first("zepp"), special);
    assert_eq!(reader.recall("submarine", None).unwrap().len(), 0);
}

#[test]
fn open_questions_and_answers_of_rules_are_unread_until_they_were_seen_or_taken_back() {
    let directory = tempfile::tempdir().unwrap();
    let database = directory.path().join("cueme.db");
    let mut broker = Little::open(&database, WALL_MS).unwrap();
    let agent = broker.join();
    let reader = Reader::new(&database);
    let rule = format!("{POLICY_PREFIX}tests");
    let unread = || reader.agent_rows(Some(&agent)).unwrap()[0].unread;
    let [first, second, third] =
        ["first?", "second?", "third?"].map(|prompt| broker.ask_this(&agent, prompt));
    assert_eq!(unread(), 3);
    broker.answer(first, "by a human", 0);
    assert_eq!(unread(), 2);
    broker.answer_by(second, "by a rule", 5000, Some(rule.clone()));
    assert_eq!(unread(), 2);
    broker.say(Work::Undo(second));
    broker.answer(second, "by a human", 0);
    assert_eq!(unread(), 1);
    broker.answer_by(third, "by a rule", 0, Some(rule.clone()));
    assert_eq!(unread(), 1);
    broker
        .core
        .write(broker.now, |store| store.mark_read(&agent, i64::MAX))
        .unwrap();
    assert_eq!(unread(), 0);
}

#[test]
fn a_log_that_was_left_behind_is_emptied_and_one_of_our_own_is_kept() {
    let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let length = |directory: &tempfile::TempDir| {
        std::fs::metadata(directory.path().join("cueme.db-wal"))
            .unwrap()
            .len()
    };
    let mut dying = Little::open(&first.path().join("cueme.db"), WALL_MS).unwrap();
    dying.join();
    assert!(length(&first) > 0);
    for name in ["cueme.db", "cueme.db-wal"] {
        std::fs::copy(first.path().join(name), second.path().join(name)).unwrap();
    }
    let mut next = Little::open(&second.path().join("cueme.db"), WALL_MS).unwrap();
    next.join();
    assert_eq!(length(&second), 0);
}
