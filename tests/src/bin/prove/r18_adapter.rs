//! R18: an agent's process that writes anything, too much of it, or stops in the middle.

use std::io::Read;

use adapter_core::contract::{Ending, LINE_BYTES_MAX};
use adapter_core::cursor::cli::{ReplayOptions, replay};
use cueme_tests::Random;

use crate::load::by_build;
use crate::raw::heap;
use crate::trial::{NotRun, Trial};

const INIT: &str = r#"{"type":"system","subtype":"init","session_id":"s","model":"m","cwd":"/","apiKeySource":"login","permissionMode":"default"}"#;

/// Feeds streams of every bad kind.
pub(crate) fn run(trial: &mut Trial) -> Result<(), NotRun> {
    let events = trial.size(by_build(200_000, 1_000_000), 1_000_000, 10_000_000);
    bad_streams(trial);
    cut_anywhere(trial);
    many_events(trial, events);
    long_line(trial);
    random_bytes(trial);
    Ok(())
}

fn delta(text: &str) -> String {
    format!(
        r#"{{"type":"assistant","message":{{"role":"assistant","content":[{{"type":"text","text":"{text}"}}]}},"session_id":"s"}}"#
    )
}

fn result(text: &str) -> String {
    format!(
        r#"{{"type":"result","subtype":"success","is_error":false,"duration_ms":1,"result":"{text}","session_id":"s"}}"#
    )
}

/// Returns how the turn ended and the type of its last event.
fn outcome(stream: impl Read, exit: i32) -> (Ending, String) {
    let (ending, written) = written(stream, exit);
    (ending, written.last_type())
}

/// Returns how the turn ended and what was written of it.
fn written(stream: impl Read, exit: i32) -> (Ending, Tail) {
    let mut written = Tail::default();
    let options = ReplayOptions {
        exit: Some(exit),
        ..ReplayOptions::default()
    };
    let ending = replay(stream, &mut written, options).unwrap_or_else(|error| panic!("{error}"));
    (ending, written)
}

/// Keeps the end of what is written, so that measuring does not itself take memory.
#[derive(Debug, Default)]
struct Tail {
    bytes: Vec<u8>,
    lines: u64,
}

impl std::io::Write for Tail {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.lines += bytes.iter().filter(|byte| **byte == b'\n').count() as u64;
        self.bytes.extend_from_slice(bytes);
        let surplus = self.bytes.len().saturating_sub(64 * 1024);
        self.bytes.drain(..surplus);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Tail {
    fn last_type(&self) -> String {
        let text = String::from_utf8_lossy(&self.bytes);
        let last = text.lines().last().unwrap_or_default();
        let value: serde_json::Value = serde_json::from_str(last).unwrap_or_default();
        value["type"].as_str().unwrap_or("cut off").to_owned()
    }
}

/// Each of these ends with exactly one last event, whatever came before.
fn bad_streams(trial: &mut Trial) {
    let good = [INIT.to_owned(), delta("Hello."), result("Hello.")].join("\n");
    let cases: Vec<(&str, Vec<u8>, &str)> = vec![
        ("CRLF", good.replace('\n', "\r\n").into_bytes(), "done"),
        ("blank lines", good.replace('\n', "\n\n\n").into_bytes(), "done"),
        ("no last newline", good.clone().into_bytes(), "done"),
        (
            "unknown types",
            good.replace(
                &delta("Hello."),
                &format!("{{\"type\":\"novelty\",\"x\":[1]}}\n{}", delta("Hello.")),
            )
            .into_bytes(),
            "done",
        ),
        (
            "half a line at the end",
            good.as_bytes()[..good.len() - 20].to_vec(),
            "error",
        ),
        ("only words", b"Something went wrong\n".to_vec(), "error"),
        ("nothing", Vec::new(), "error"),
        (
            "broken JSON",
            format!("{INIT}\n{{\"type\": oops}}\n").into_bytes(),
            "error",
        ),
        (
            "not UTF-8",
            [
                INIT.as_bytes(),
                b"\n{\"type\":\"assistant\",\"x\":\"\xff\xfe\"}\n",
                result("x").as_bytes(),
            ]
            .concat(),
            "error",
        ),
        (
            "zero bytes",
            [INIT.as_bytes(), b"\n{\"a\":\"\0\"}\n", result("x").as_bytes()].concat(),
            "error",
        ),
    ];
    for (what, stream, expected) in &cases {
        let (ending, last) = outcome(&stream[..], 0);
        let is_done = matches!(ending, Ending::Done(_));
        trial.check(last == *expected && is_done == (*expected == "done"), || {
            format!("{what} ended with {last}, not {expected}: {ending:?}")
        });
    }
    trial.figure("bad streams", cases.len());
}

/// A process killed in the middle of anything leaves an error as its last event, never a success.
fn cut_anywhere(trial: &mut Trial) {
    let whole = [
        INIT.to_owned(),
        delta("Hello"),
        delta(" you."),
        result("Hello you."),
    ]
    .join("\n")
        + "\n";
    let end_of_result = whole.len() - 1;
    for cut in 0..whole.len() {
        let (ending, last) = outcome(&whole.as_bytes()[..cut], 137);
        let is_whole = cut >= end_of_result;
        trial.check(
            (last == "done") == is_whole && matches!(ending, Ending::Done(_)) == is_whole,
            || format!("killed after {cut} bytes it ended with {last}"),
        );
    }
    trial.figure("places to be killed at", whole.len());
}

/// A long turn takes no more memory than a short one.
fn many_events(trial: &mut Trial, count: u64) {
    let mut number = 0;
    let stream = Generated::new(move || {
        number += 1;
        match number {
            1 => Some(format!("{INIT}\n")),
            n if n <= count => Some(format!("{}\n", delta("word "))),
            n if n == count + 1 => Some(format!("{}\n", result("done"))),
            _ => None,
        }
    });
    let ((ending, tail), peak) = heap::peak_of(|| written(stream, 0));
    let last = tail.last_type();
    trial.check(last == "done" && matches!(ending, Ending::Done(_)), || {
        format!("the last event of {count} is {last}: {ending:?}")
    });
    // The line that says that it began becomes none; every delta becomes one, and the result the last.
    let deltas = count - 1;
    trial.check(tail.lines == deltas + 1, || {
        format!("{deltas} deltas and a result became {} events", tail.lines)
    });
    trial.check(peak <= 2 * LINE_BYTES_MAX, || {
        format!("{count} events took {peak} bytes")
    });
    trial.figure("events in one turn", count);
    trial.figure("memory for them", format!("{} KiB", peak / 1024));
}

/// A line beyond the limit ends the turn with an error, with no more than twice the limit in memory.
fn long_line(trial: &mut Trial) {
    let mut pieces = 0;
    let stream = Generated::new(move || {
        pieces += 1;
        (pieces <= 65).then(|| "x".repeat(1024 * 1024)).map(|text| {
            if pieces == 1 {
                format!("{{\"type\":\"{text}")
            } else {
                text
            }
        })
    });
    let ((ending, last), peak) = heap::peak_of(|| outcome(stream, 0));
    trial.check(last == "error" && matches!(ending, Ending::Error(_)), || {
        format!("a line of 64 MiB ended with {last}")
    });
    trial.check(peak <= 2 * LINE_BYTES_MAX + 4 * 1024 * 1024, || {
        format!("a line of 64 MiB took {peak} bytes; the limit of a line is {LINE_BYTES_MAX}")
    });
    trial.figure("memory for a line of 64 MiB", format!("{} KiB", peak / 1024));
}

/// Bytes at random never make it panic, and always end.
fn random_bytes(trial: &mut Trial) {
    let tries = trial.size(2_000, 100_000, 1_000_000);
    let lines = [INIT.to_owned(), delta("Hello"), result("Hello")];
    for _ in 0..tries {
        let mut stream = mutated(&lines, &mut trial.random);
        let length = stream.len();
        stream.truncate(trial.random.index(length + 1));
        let (_, last) = outcome(&stream[..], 0);
        trial.check(last == "done" || last == "error", || {
            format!("{stream:?} ended with {last}")
        });
    }
    trial.figure("streams with random damage", tries);
}

fn mutated(lines: &[String], random: &mut Random) -> Vec<u8> {
    let mut stream = lines.join("\n").into_bytes();
    stream.push(b'\n');
    for _ in 0..=random.below(6) {
        let place = random.index(stream.len());
        match random.below(3) {
            0 => stream[place] = random.next_number().to_le_bytes()[0],
            1 => drop(stream.remove(place)),
            _ => stream.insert(place, random.next_number().to_le_bytes()[0]),
        }
    }
    stream
}

/// A stream that is made while it is read.
struct Generated<F> {
    next: F,
    rest: Vec<u8>,
    taken: usize,
}

impl<F: FnMut() -> Option<String>> Generated<F> {
    fn new(next: F) -> Self {
        Self {
            next,
            rest: Vec::new(),
            taken: 0,
        }
    }
}

impl<F: FnMut() -> Option<String>> Read for Generated<F> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if self.taken == self.rest.len() {
            match (self.next)() {
                Some(text) => (self.rest, self.taken) = (text.into_bytes(), 0),
                None => return Ok(0),
            }
        }
        let count = buffer.len().min(self.rest.len() - self.taken);
        buffer[..count].copy_from_slice(&self.rest[self.taken..self.taken + count]);
        self.taken += count;
        Ok(count)
    }
}
