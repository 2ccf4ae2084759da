//! Replay of a long stream against bare parsing of the same lines, interleaved in one run.
//!
//! `cargo bench -p adapter-core --bench replay [-- MEGABYTES]`; the default is 200 MB. The stream is made by chunks
//! and never held as a whole. Each row has two floors: parsing every line to a `serde_json::Value`, of which at least 0.80
//! is to be reached, and parsing to a flat struct that leaves the big parts raw and keeps nothing, with 0.70.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::io::{self, Read, Write};
use std::time::{Duration, Instant};

use adapter_core::cursor::cli::{Ending, NormaliserOptions, ReplayOptions, replay};
use serde::Deserialize;
use serde_json::value::RawValue;

const MEGABYTES_DEFAULT: usize = 200;
const ROUNDS: usize = 5;
const GOAL_VALUE: f64 = 0.80;
const GOAL_FLAT: f64 = 0.70;
const CHUNK_BYTES: usize = 4 * 1024 * 1024;

/// What flat parsing reads: the big parts are left raw.
#[derive(Deserialize)]
#[expect(dead_code, reason = "the fields are only parsed")]
struct Flat<'a> {
    #[serde(borrow, rename = "type")]
    kind: &'a str,
    #[serde(borrow, default)]
    subtype: Option<&'a str>,
    #[serde(borrow, default)]
    session_id: Option<&'a str>,
    #[serde(borrow, default)]
    model_call_id: Option<&'a str>,
    #[serde(default)]
    timestamp_ms: Option<u64>,
    #[serde(borrow, default)]
    message: Option<&'a RawValue>,
    #[serde(borrow, default)]
    tool_call: Option<&'a RawValue>,
}

/// What stands in the stream.
#[derive(Clone, Copy)]
enum Mix {
    /// Nothing but small deltas.
    Deltas,
    /// Deltas, and a 200 KB tool result after every thousand.
    Mixed,
}

/// Makes the stream as it is read.
struct Source {
    chunk: Vec<u8>,
    at: usize,
    left: usize,
}

impl Source {
    fn new(mix: Mix, bytes: usize) -> Self {
        Self {
            chunk: chunk(mix),
            at: 0,
            left: bytes,
        }
    }
}

impl Read for Source {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.at == self.chunk.len() {
            if self.left < self.chunk.len() {
                return Ok(0);
            }
            self.left -= self.chunk.len();
            self.at = 0;
        }
        let count = buffer.len().min(self.chunk.len() - self.at);
        buffer[..count].copy_from_slice(&self.chunk[self.at..self.at + count]);
        self.at += count;
        Ok(count)
    }
}

/// Returns whole lines of about the chunk's size.
fn chunk(mix: Mix) -> Vec<u8> {
    let session = "5d11ee85-1660-4fa7-95d5-125423fa2371";
    let mut chunk = Vec::with_capacity(CHUNK_BYTES + 512 * 1024);
    let mut count = 0_u64;
    while chunk.len() < CHUNK_BYTES {
        count += 1;
        let word = ["the", " quick", " brown", " fox\\n", " jumps ", "über "][count as usize % 6];
        let _ = writeln!(
            chunk,
            r#"{{"type":"assistant","message":{{"role":"assistant","content":[{{"type":"text","text":"{word}{count}"}}]}},"session_id":"{session}","timestamp_ms":{}}}"#,
            1_790_000_000_000 + count
        );
        if matches!(mix, Mix::Mixed) && count.is_multiple_of(1_000) {
            tool(&mut chunk, session, count);
        }
    }
    chunk
}

fn tool(chunk: &mut Vec<u8>, session: &str, count: u64) {
    let content = "fn main() { println!(\\\"hello\\\"); }\\n".repeat(5_400);
    let args = r#""args":{"path":"/w/src/main.rs"}"#;
    let tail =
        format!(r#""toolCallId":"c{count}","startedAtMs":"1"}},"session_id":"{session}","timestamp_ms":2}}"#);
    let _ = writeln!(
        chunk,
        r#"{{"type":"tool_call","subtype":"started","call_id":"c{count}","tool_call":{{"readToolCall":{{{args}}},{tail}"#
    );
    let _ = writeln!(
        chunk,
        r#"{{"type":"tool_call","subtype":"completed","call_id":"c{count}","tool_call":{{"readToolCall":{{{args},"result":{{"success":{{"content":"{content}","path":"/w"}}}}}},{tail}"#
    );
}

fn bare(mut source: Source, parse: impl Fn(&[u8])) -> Duration {
    let mut buffer = vec![0; 256 * 1024];
    let mut carry: Vec<u8> = Vec::new();
    let start = Instant::now();
    while let Ok(count @ 1..) = source.read(&mut buffer) {
        let mut rest = &buffer[..count];
        while let Some(end) = memchr::memchr(b'\n', rest) {
            if carry.is_empty() {
                parse(&rest[..end]);
            } else {
                carry.extend_from_slice(&rest[..end]);
                parse(&carry);
                carry.clear();
            }
            rest = &rest[end + 1..];
        }
        carry.extend_from_slice(rest);
    }
    start.elapsed()
}

fn parse_value(line: &[u8]) {
    let parsed: serde_json::Value = serde_json::from_slice(line).expect("the lines are JSON");
    std::hint::black_box(&parsed);
}

fn parse_flat(line: &[u8]) {
    let parsed: Flat<'_> = serde_json::from_slice(line).expect("the lines are JSON");
    std::hint::black_box(&parsed);
}

fn ours(source: Source, activity: bool) -> Duration {
    let normaliser = NormaliserOptions {
        partial: true,
        activity,
        ..NormaliserOptions::default()
    };
    let options = ReplayOptions {
        normaliser,
        ..ReplayOptions::default()
    };
    let start = Instant::now();
    let ending = replay(source, io::sink(), options).expect("a sink takes everything");
    assert!(matches!(ending, Ending::Done(_)), "{ending:?}");
    start.elapsed()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

fn main() {
    let megabytes = std::env::args()
        .skip(1)
        .find_map(|arg| arg.parse().ok())
        .unwrap_or(MEGABYTES_DEFAULT);
    let bytes = megabytes * 1_000_000;
    println!("replay of {megabytes} MB, median of {ROUNDS} interleaved rounds");
    println!("| stream | replay MB/s | `Value` MB/s | ratio | goal | flat MB/s | ratio | goal |");
    println!("|---|---|---|---|---|---|---|---|");
    let rows = [
        ("deltas", Mix::Deltas, false),
        ("mixed", Mix::Mixed, false),
        ("mixed, with activity", Mix::Mixed, true),
    ];
    let mut met = true;
    for (name, mix, activity) in rows {
        let (mut values, mut flats, mut mine) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            values.push(bare(Source::new(mix, bytes), parse_value));
            flats.push(bare(Source::new(mix, bytes), parse_flat));
            mine.push(ours(Source::new(mix, bytes), activity));
        }
        let [value, flat, mine] =
            [values, flats, mine].map(|times| megabytes as f64 / median(times).as_secs_f64());
        let (by_value, by_flat) = (mine / value, mine / flat);
        println!(
            "| {name} | {mine:.0} | {value:.0} | {by_value:.2} | ≥ {GOAL_VALUE:.2} | {flat:.0} | {by_flat:.2} | ≥ {GOAL_FLAT:.2} |"
        );
        met &= by_value >= GOAL_VALUE && by_flat >= GOAL_FLAT;
    }
    if !met {
        println!("below a goal");
        std::process::exit(1);
    }
}
