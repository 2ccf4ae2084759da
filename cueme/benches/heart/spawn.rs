//! Starting `cueme join` against starting the smallest clap program.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::home::{CUEME, Home};
use crate::table::{Goal, Row, median, ratio, show};

pub(crate) fn measure(scale: usize) -> Vec<Row> {
    let home = Home::start();
    let floor = build_floor();
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..60 * scale {
        theirs.push(time(Command::new(&floor).args(["join", "terminal"])));
        ours.push(time(home.command().args(["join", "terminal"])));
    }
    let (ours, floor) = (median(&mut ours), median(&mut theirs));
    vec![Row {
        id: "P1",
        what: "`cueme join`, spawn to exit ÷ minimal clap binary".into(),
        ours: show(ours),
        floor: show(floor),
        ratio: ratio(ours, floor),
        goal: Goal::AtMost(2.0),
        aim: Goal::AtMost(1.5),
    }]
}

fn time(command: &mut Command) -> Duration {
    let started = Instant::now();
    let status = command.stdout(Stdio::null()).status().expect("a program");
    assert!(status.success());
    started.elapsed()
}

/// Builds the floor with the profile of the binary under measurement and returns where it is.
fn build_floor() -> PathBuf {
    let built = Command::new(env!("CARGO"))
        .args([
            "build",
            "--quiet",
            "--release",
            "-p",
            "cueme",
            "--example",
            "floor_clap",
        ])
        .status()
        .expect("cargo");
    assert!(built.success());
    PathBuf::from(CUEME).with_file_name("examples/floor_clap")
}
