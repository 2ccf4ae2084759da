//! R5: everything that reads bytes of others is fed the kept corpora, and what chance makes of them.
//!
//! `tests/fuzz` drives the same readers with `cargo fuzz`, which finds more and needs a nightly toolchain; what it finds
//! is put into the corpora, and is found here ever after.

use std::io::{BufReader, Write};
use std::net::Shutdown;
use std::panic::catch_unwind;
use std::path::Path;
use std::time::{Duration, Instant};

use cueme_tests::{Answer, Home, Http, Random};

use crate::cases::{Extent, try_all};
use crate::raw::heap;
use crate::trial::{NotRun, Trial};

#[path = "../../hostile/readers.rs"]
pub(crate) mod readers;

/// The time limit of one input.
const HANG: Duration = Duration::from_secs(1);
/// The memory limit of one input, in bytes.
const MEMORY_MAX: usize = 512 * 1024 * 1024;
/// The number of inputs between two checks of the clock.
const INPUTS_A_CASE: u64 = 64;

/// Replays and mutates.
pub(crate) fn run(trial: &mut Trial) -> Result<(), NotRun> {
    let lasts = Duration::from_secs(trial.size(2, 35, 600));
    let mut total = 0;
    for (name, target) in readers::READERS {
        let corpus = corpus(name);
        assert!(!corpus.is_empty(), "the corpus of {name} is there");
        for input in &corpus {
            trial.violations(feed(name, target, input).into_iter().collect());
        }
        let executions = mutate(trial, name, target, &corpus, lasts)?;
        total += executions;
        trial.figure(name, format!("{} kept, {executions} made", corpus.len()));
    }
    if trial.is_thorough() {
        let names = readers::READERS.map(|(name, _)| name);
        total += crate::guided::run(trial, &names, Duration::from_secs(trial.size(0, 60, 3600)));
    }
    trial.figure("executions", total);
    at_the_page(trial);
    Ok(())
}

fn corpus(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fuzz/corpus")
        .join(target);
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    entries
        .flatten()
        .filter_map(|entry| std::fs::read(entry.path()).ok())
        .collect()
}

/// Makes inputs from the corpus by chance, for a while; returns how many.
fn mutate(
    trial: &mut Trial,
    name: &'static str,
    target: fn(&[u8]),
    corpus: &[Vec<u8>],
    lasts: Duration,
) -> Result<u64, NotRun> {
    let tried = try_all(
        trial,
        Extent::Time(lasts),
        |_, _, mut random| {
            let inputs = (0..INPUTS_A_CASE).map(|_| mutant(corpus, &mut random));
            inputs
                .filter_map(|input| feed(name, target, &input))
                .collect::<Vec<_>>()
        },
        |trial, _, violations| trial.violations(violations),
    )?;
    Ok(tried * INPUTS_A_CASE)
}

fn mutant(corpus: &[Vec<u8>], random: &mut Random) -> Vec<u8> {
    let mut input = random.pick(corpus).cloned().unwrap_or_default();
    for _ in 0..=random.below(5) {
        let place = random.index(input.len() + 1);
        match random.below(6) {
            0 if place < input.len() => input[place] = random.next_number().to_le_bytes()[0],
            1 if place < input.len() => drop(input.remove(place)),
            2 => {
                let count = random.index(8);
                input.splice(place..place, random.bytes(count));
            }
            3 => {
                let other = random.pick(corpus).cloned().unwrap_or_default();
                let begin = random.index(other.len() + 1);
                input.splice(place..place, other[begin..].iter().copied());
            }
            4 => input.truncate(place),
            _ => {
                let piece = *random.pick(PIECES).unwrap_or(&"");
                input.splice(place..place, piece.bytes());
            }
        }
    }
    input
}

/// Pieces that break grammars.
const PIECES: &[&str] = &[
    "<cueme_prompt>",
    "</cueme_prompt>\n",
    "<cueme_payload>\n",
    "</cueme_payload>",
    "\r\n",
    "\u{feff}",
    "\0",
    "{",
    "}",
    "[",
    "\"",
    "\\",
    "\\u0000",
    "\\ud800",
    "1e999",
    "-0",
    "null",
    "{\"type\":\"choice\"",
    "\u{202e}",
    "数据库",
];

/// Has one input read; returns what was wrong with that.
fn feed(name: &str, target: fn(&[u8]), input: &[u8]) -> Option<String> {
    let started = Instant::now();
    let (ended, peak) = heap::peak_of(|| catch_unwind(|| target(input)));
    let took = started.elapsed();
    let holds = ended.is_ok() && took < HANG && peak < MEMORY_MAX;
    (!holds).then(|| {
        format!(
            "{name}: {:?} took {took:?} and {peak} bytes, panicked: {}",
            String::from_utf8_lossy(input),
            ended.is_err()
        )
    })
}

/// Heads of requests that no browser would send, to the real page.
fn at_the_page(trial: &mut Trial) {
    let requests = trial.size(1_000, 50_000, 500_000);
    let home = Home::new();
    home.join();
    let (http, cookie) = crate::r07_slow::page(&home);
    let broker = home.broker_pid();
    let corpus = [
        format!("GET /api/v1/state HTTP/1.1\r\nhost: {}\r\ncookie: {cookie}\r\n\r\n", http.host()).into_bytes(),
        format!("GET /api/v1/search?q=%00%ff&limit=-1 HTTP/1.1\r\nhost: {}\r\ncookie: a=b; {cookie}; c\r\n\r\n", http.host())
            .into_bytes(),
        format!(
            "PATCH /api/v1/settings HTTP/1.1\r\nhost: {}\r\norigin: {}\r\ncookie: {cookie}\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{{}}",
            http.host(),
            http.origin()
        )
        .into_bytes(),
        format!("POST /api/v1/uploads?name=..%2f..%2fx HTTP/1.1\r\nhost: {}\r\norigin: {}\r\ncookie: {cookie}\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n", http.host(), http.origin())
            .into_bytes(),
    ];
    let mut answered = 0;
    for number in 0..requests {
        let input = mutant(&corpus, &mut trial.random);
        answered += u64::from(say(http, &input));
        trial.progress(number, requests);
    }
    trial.check(home.broker_pid() == broker, || {
        "a request ended the broker".into()
    });
    let state = http.get("/api/v1/state", Some(&cookie)).status;
    trial.check(state == 200, || {
        format!("the page does not work any more: {state}")
    });
    let panics = home.log().matches("panicked").count();
    trial.check(panics == 0, || format!("the broker panicked {panics} times"));
    trial.figure("requests to the page", format!("{requests}, answered {answered}"));
}

fn say(http: Http, bytes: &[u8]) -> bool {
    let mut stream = http.connect();
    let _ = stream.write_all(bytes);
    let _ = stream.shutdown(Shutdown::Write);
    // A stream of events does not end by itself.
    let _ = stream.set_read_timeout(Some(Duration::from_millis(500)));
    Answer::read(&mut BufReader::new(stream)).is_some()
}
