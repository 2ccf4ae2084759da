//! Measures how long a chat of 10,000 messages takes to load, against a bare scan of the same blobs.
//!
//! Both sides run in turn, several times, and the medians are compared: a noisy machine disturbs both alike.
//! Ends with a failure if loading takes more than [`RATIO_MAX`] times the scan.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

#[path = "../tests/chat_store/mod.rs"]
mod chat_store;

use std::hint::black_box;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use adapter_core::cursor::chats::load_chat;
use chat_store::{StoreBuilder, assistant, shell, thinking, user};
use rusqlite::{Connection, OpenFlags};

const TURNS: usize = 2_500;
const MESSAGES: usize = TURNS * 4;
const ROUNDS: usize = 15;
const RATIO_MAX: f64 = 3.0;

fn main() -> ExitCode {
    let dir = tempfile::TempDir::new().expect("a temporary directory");
    let path = dir.path().join("store.db");
    drop(long_chat().write(&path));
    let (mut scans, mut loads) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        scans.push(timed(|| bare_scan(&path)));
        loads.push(timed(|| load_chat(&path).expect("the chat loads").messages.len()));
    }
    assert_eq!(load_chat(&path).expect("the chat loads").messages.len(), MESSAGES);
    let chat = load_chat(&path).expect("the chat loads");
    let json = timed(|| serde_json::to_string(&chat).expect("a chat is JSON").len());
    let (scan, load) = (median(scans), median(loads));
    let ratio = load.as_secs_f64() / scan.as_secs_f64();
    println!(
        "{MESSAGES} messages: bare scan {scan:?}, load {load:?}, ratio {ratio:.2} (at most {RATIO_MAX})"
    );
    println!("as JSON, with every tool decoded: {json:?} more");
    if ratio > RATIO_MAX {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    }
}

/// A chat of questions, thoughts, commands and answers, each with the length such things have.
fn long_chat() -> StoreBuilder {
    let mut builder = StoreBuilder::new("bench");
    for index in 0..TURNS {
        let question = format!("question {index}: {}", "why does this test fail? ".repeat(8));
        let steps = vec![
            thinking(
                &format!("{index} {}", "the lock is taken twice, so ".repeat(10)),
                900,
            ),
            shell(
                &format!("cargo test -p core case_{index}"),
                &"test result: ok. 1 passed\n".repeat(20),
                0,
            ),
            assistant(&format!("answer {index}: {}", "it waits for itself. ".repeat(20))),
        ];
        builder.turn(user(&question, &format!("m{index}")), steps);
    }
    builder
}

/// Reads every blob once and looks at each of its bytes.
fn bare_scan(path: &Path) -> usize {
    let connection =
        Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY).expect("the store opens");
    let mut statement = connection
        .prepare("SELECT id, data FROM blobs")
        .expect("a chat store");
    let mut rows = statement.query([]).expect("a scan");
    let mut sum = 0usize;
    while let Some(row) = rows.next().expect("a row") {
        let id = row.get_ref(0).and_then(|id| Ok(id.as_str()?)).expect("an id");
        let data = row
            .get_ref(1)
            .and_then(|data| Ok(data.as_blob()?))
            .expect("a blob");
        sum += id.len() + data.iter().map(|&byte| usize::from(byte)).sum::<usize>();
    }
    sum
}

fn timed<T>(work: impl FnOnce() -> T) -> Duration {
    let started = Instant::now();
    black_box(work());
    started.elapsed()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}
