//! Replay of a long stream against bare parsing of the same lines, interleaved in one run.
//!
//! `cargo bench -p adapter-core --bench replay [-- MEGABYTES]`; the default is 200 MB. Each stream has two floors:
//! parsing every line to a flat struct that leaves the big parts raw and keeps nothing, which is the goal, and
//! parsing to a `serde_json::Value`, which is what is acceptable. The table is all that stdout gets.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::io;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use adapter_core::cursor::cli::{Ending, NormaliserOptions, ReplayOptions, replay};

use floor::{bare, parse_flat, parse_value};
use stream::{Mix, Source};
use table::{Limit, Row};

mod floor;
mod stream;
mod table;

const MEGABYTES_DEFAULT: usize = 200;
const ROUNDS: usize = 5;
const OF_VALUE: Limit = Limit::Acceptable(0.80);
const OF_FLAT: Limit = Limit::Goal(0.70);

fn main() -> ExitCode {
    let megabytes = std::env::args()
        .skip(1)
        .find_map(|arg| arg.parse().ok())
        .unwrap_or(MEGABYTES_DEFAULT);
    eprintln!("replay of {megabytes} MB, median of {ROUNDS} interleaved rounds");
    let streams = [
        ("deltas", Mix::Deltas, false),
        ("a mixed stream", Mix::Mixed, false),
        ("a mixed stream with activity", Mix::Mixed, true),
    ];
    let rows: Vec<Row> = streams
        .into_iter()
        .flat_map(|(name, mix, activity)| measure(name, mix, activity, megabytes))
        .collect();
    table::print(&rows);
    if rows.iter().any(Row::is_unacceptable) {
        eprintln!("slower than acceptable");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

/// Times the replay of one stream and both floors.
fn measure(name: &str, mix: Mix, activity: bool, megabytes: usize) -> [Row; 2] {
    let source = || Source::new(mix, megabytes * 1_000_000);
    let (mut values, mut flats, mut mine) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        values.push(bare(source(), parse_value));
        flats.push(bare(source(), parse_flat));
        mine.push(ours(source(), activity));
    }
    let [value, flat, mine] =
        [values, flats, mine].map(|times| megabytes as f64 / median(times).as_secs_f64());
    let row = |floor_name, floor, limit| Row {
        what: format!("replay of {name} ÷ {floor_name}"),
        ours: mine,
        floor,
        limit,
    };
    [
        row("flat parsing that keeps nothing", flat, OF_FLAT),
        row("parsing to `Value`", value, OF_VALUE),
    ]
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
