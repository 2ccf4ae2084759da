//! Replay of a long stream against bare parsing of the same lines, interleaved in one run.
//!
//! `cargo bench -p cueme-adapter --bench replay [-- MEGABYTES]`; the default is 200 MB. Each stream has two floors:
//! parsing every line to a flat struct that leaves the big parts raw and keeps nothing, which is the goal, and
//! parsing to a `serde_json::Value`, which is what is acceptable. The table is all that stdout gets.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::io;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use adapter_core::cursor::cli::{NormaliserOptions, ReplayOptions, replay};

use adapter_core::contract::Ending;
use floor::{bare, parse_flat, parse_value};
use stream::{Mix, Source};
use table::{Goal, Row, median};

mod floor;
mod stream;
#[path = "../../../cueme/benches/heart/table.rs"]
#[allow(dead_code, reason = "others tell times")]
mod table;

const MEGABYTES_DEFAULT: usize = 200;
const ROUNDS: usize = 5;
/// The acceptable share of the speed of parsing to `Value`, and the wanted share of the speed of flat parsing.
const OF_VALUE: f64 = 0.80;
const OF_FLAT: f64 = 0.70;

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
    let is_unacceptable = |row: &Row| matches!(row.goal, Goal::AtLeast(least) if row.ratio < least);
    if rows.iter().any(is_unacceptable) {
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
        [values, flats, mine].map(|mut times| megabytes as f64 / median(&mut times).as_secs_f64());
    let row = |floor_name, floor, goal, aim| Row {
        id: "P11",
        what: format!("replay of {name} ÷ {floor_name}").into(),
        ours: format!("{mine:.0} MB/s"),
        floor: format!("{floor:.0} MB/s"),
        ratio: mine / floor,
        goal,
        aim,
    };
    [
        row(
            "flat parsing that keeps nothing",
            flat,
            Goal::Told,
            Goal::AtLeast(OF_FLAT),
        ),
        row("parsing to `Value`", value, Goal::AtLeast(OF_VALUE), Goal::Told),
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
