//! Machine and store together, on a real file and on a real server: output is sent only for what is stored.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod automatic;
mod brokers;
mod folding;
mod keeping;
mod opening;
mod past;
mod place;
mod reading;
mod recall;
mod restart;
mod runs;
mod search;
mod upkeep;

use std::path::Path;
use std::sync::Arc;

use cueme_broker::engine::{Core, Order, Work};
use cueme_rules::{HOLD_MS_MAX, Now, Ticket};
use cueme_store::{Reader, Storage, StoreError};
use place::{AnyPlace, Place, on_every_store};
use protocol_spec::answer::Answer;
use protocol_spec::id::{AgentId, CueId, RequestId};
use protocol_spec::message::{ErrorCode, Reply};
use protocol_spec::outcome::{Kind, Origin};
use protocol_spec::time::Timestamp;
use uuid::Uuid;

const WALL_MS: i64 = 1_800_000_000_000;
const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// Reads a database beside its writer.
fn open_reader(database: &(impl Place + ?Sized)) -> Arc<dyn Reader> {
    database.reader()
}

/// A broker without a process.
struct Little {
    core: Core,
    tickets: u64,
    now: Now,
}

impl Little {
    fn open(database: &(impl Place + ?Sized), wall_ms: i64) -> Result<Self, StoreError> {
        Self::open_on(database.storage(), wall_ms)
    }

    fn open_on(storage: Box<dyn Storage>, wall_ms: i64) -> Result<Self, StoreError> {
        let now = Now {
            wall: Timestamp::from_millis(wall_ms),
            steady: 0,
        };
        let random = Box::new(|| Uuid::new_v4().as_u64_pair().0);
        Core::open(storage, false, now, random).map(|core| Self {
            core,
            tickets: 0,
            now,
        })
    }

    fn say(&mut self, work: Work) -> Vec<(Ticket, Box<Reply>)> {
        self.say_as(RequestId(Uuid::new_v4()), work)
    }

    /// Says something with a key of the caller's, as one who repeats a call does.
    fn say_as(&mut self, request: RequestId, work: Work) -> Vec<(Ticket, Box<Reply>)> {
        self.tickets += 1;
        let order = Order {
            ticket: Ticket(self.tickets),
            request,
            work,
        };
        self.core.carry_out(self.now, [order]).replies
    }

    fn join(&mut self) -> AgentId {
        self.join_in("/p")
    }

    fn join_in(&mut self, project_dir: &str) -> AgentId {
        self.join_as("terminal", project_dir)
    }

    fn join_as(&mut self, runtime: &str, project_dir: &str) -> AgentId {
        let work = Work::Join {
            runtime: runtime.parse().unwrap(),
            project_dir: project_dir.into(),
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

    /// Says for the agent that it has the answer.
    fn acknowledge(&mut self, cue: CueId) {
        let acked = self.say(Work::Ack {
            cues: vec![cue],
            nonce: None,
        });
        assert!(matches!(*acked[0].1, Reply::Acked(_)), "{acked:?}");
    }

    fn pass(&mut self, milliseconds: u64) {
        self.now.steady += milliseconds;
        let wall = self.now.wall.as_millis() + i64::try_from(milliseconds).unwrap();
        self.now.wall = Timestamp::from_millis(wall);
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
    let mut little = Little::open(&database, WALL_MS).unwrap();
    let replies = little.say(Work::Attach(cue));
    let [(_, reply)] = &replies[..] else {
        panic!("{replies:?}")
    };
    let Reply::Error(failure) = &**reply else {
        panic!("not noticed: {reply:?}")
    };
    assert!(
        failure.code == ErrorCode::Storage && failure.message.contains(cue.as_str()),
        "{failure:?}"
    );
    // The inbox and a check name it, without the words that nobody wrote.
    let reader = crate::open_reader(&database);
    let mut shown = Vec::new();
    reader
        .inbox(&mut |cue| {
            shown.push((cue.cue_id, cue.damaged, cue.text, cue.answer.is_some()));
            true
        })
        .unwrap();
    assert_eq!(shown, [(cue, true, None, false)]);
    let problems = reader.check().unwrap().problems;
    assert!(
        problems.len() == 1 && problems[0].contains(cue.as_str()),
        "{problems:?}"
    );
    // Everything else goes on: the same words are a new question.
    let again = little.ask(&agent);
    assert_ne!(again, cue);
    little.answer(again, "delete nothing", 0);
    little.acknowledge(again);
    assert_eq!(reader.check().unwrap().problems.len(), 1);
}

/// How long a row's parts are, and its keys, stand before its text.
#[test]
fn a_bit_that_flips_before_an_answer_takes_no_other_question_out_of_service() {
    let directory = tempfile::tempdir().unwrap();
    let database = directory.path().join("cueme.db");
    let mut little = Little::open(&database, WALL_MS).unwrap();
    let agent = little.join();
    let cue = little.ask(&agent);
    little.answer(cue, "delete nothing", 0);
    let other = little.join();
    let open = little.ask(&other);
    drop(little);
    // As if the queue had answered it: it is in the list of those answers, too.
    let connection = rusqlite::Connection::open(&database).unwrap();
    let from_queue = "UPDATE cues SET automatic = 1 WHERE outcome = 1; UPDATE decisions SET from_queue = 1;
        PRAGMA wal_checkpoint(TRUNCATE)";
    connection.execute_batch(from_queue).unwrap();
    drop(connection);
    let bytes = std::fs::read(&database).unwrap();
    let place = bytes
        .windows(14)
        .rposition(|window| window == b"delete nothing")
        .unwrap();
    let flipped = directory.path().join("flipped.db");
    for bit in 0..48 * 8 {
        let mut bytes = bytes.clone();
        bytes[place - 1 - bit / 8] ^= 1 << (bit % 8);
        std::fs::write(&flipped, bytes).unwrap();
        let reader = crate::open_reader(&flipped);
        let mut shown = Vec::new();
        let read = reader.inbox(&mut |cue| {
            shown.push((cue.cue_id, cue.damaged));
            true
        });
        read.unwrap_or_else(|error| panic!("bit {bit}: {error}"));
        assert!(shown.contains(&(open, false)), "bit {bit}: {shown:?}");
        let pending = reader.pending(None).unwrap();
        assert_eq!(pending.answerable.len(), 1, "bit {bit}: {pending:?}");
        let unseen = reader.unseen(&mut |_| true);
        unseen.unwrap_or_else(|error| panic!("bit {bit}: {error}"));
        let is_damaged = shown.contains(&(cue, true));
        assert_eq!(pending.damaged.len(), usize::from(is_damaged), "bit {bit}");
        let text = reader.cue(cue).unwrap().unwrap().text;
        let is_whole = text
            .as_deref()
            .is_some_and(|text| text.contains("delete nothing"));
        assert!(is_damaged || is_whole, "bit {bit}: {text:?}");
    }
}

on_every_store!(
    an_answer_whose_row_is_gone_is_not_lost_in_silence,
    a_clock_that_was_set_back_holds_no_answer_for_longer_than_it_may_be_held,
);

fn an_answer_whose_row_is_gone_is_not_lost_in_silence(database: &AnyPlace) {
    let mut little = Little::open(database, WALL_MS).unwrap();
    let agent = little.join();
    let cue = little.ask(&agent);
    little.answer(cue, "8080", 0);
    drop(little);
    // As after a flipped bit in the row's header, by which all of its values are gone.
    database.run_beside("DELETE FROM decisions");
    let mut little = Little::open(database, WALL_MS).unwrap();
    let reader = database.reader();
    let mut shown = Vec::new();
    reader
        .inbox(&mut |cue| {
            shown.push((cue.cue_id, cue.damaged));
            true
        })
        .unwrap();
    assert_eq!(shown, [(cue, true)]);
    let damaged: Vec<CueId> = reader
        .pending(None)
        .unwrap()
        .damaged
        .iter()
        .map(|row| row.cue_id)
        .collect();
    assert_eq!(damaged, [cue]);
    let problems = reader.check().unwrap().problems;
    assert!(
        problems.iter().any(|problem| problem.contains(cue.as_str())),
        "{problems:?}"
    );
    assert_ne!(little.ask(&agent), cue);
}

fn a_clock_that_was_set_back_holds_no_answer_for_longer_than_it_may_be_held(database: &AnyPlace) {
    let mut little = Little::open(database, WALL_MS).unwrap();
    let agent = little.join();
    let cue = little.ask(&agent);
    little.answer(cue, "8080", 5_000);
    drop(little);
    let little = Little::open(database, WALL_MS - DAY_MS).unwrap();
    let due = little.core.machine().next_due();
    if database.is_shared() {
        // The database's clock counts, which was not set.
        assert!(due.is_some_and(|due| due <= 5_000), "{due:?}");
    } else {
        assert_eq!(due, Some(HOLD_MS_MAX));
    }
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
