//! Starting `cueme join`, and `cueme cue` until its question is on disk, against starting the smallest clap program.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use cueme_test_kit::Wire;
use protocol_spec::message::{EventKind, Reply, Request, Watch};

use crate::home::{CUEME, Home};
use crate::table::{Goal, Row, median, ratio, show};

pub(crate) fn measure(scale: usize) -> Vec<Row> {
    let home = Home::start();
    let floor = build_floor();
    // The broker's log has its room by then, as any that has run for a moment.
    std::thread::sleep(Duration::from_secs(2));
    let mut human = home.connect();
    human.send(&Request::Watch(Watch::default()));
    let (mut joins, mut questions, mut theirs) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..60 * scale {
        theirs.push(time(Command::new(&floor).args(["join", "terminal"])));
        joins.push(time(home.command().args(["join", "terminal"])));
        questions.push(time_to_disk(&home, &mut human));
    }
    let floor = median(&mut theirs);
    let row = |id, what: &'static str, ours: Duration, goal, aim| Row {
        id,
        what: what.into(),
        ours: show(ours),
        floor: show(floor),
        ratio: ratio(ours, floor),
        goal,
        aim,
    };
    vec![
        row(
            "P1",
            "`cueme join`, spawn to exit ÷ minimal clap binary",
            median(&mut joins),
            Goal::AtMost(2.0),
            Goal::AtMost(1.5),
        ),
        row(
            "P2",
            "`cueme cue`, spawn until its question is on disk ÷ minimal clap binary, spawn to exit",
            median(&mut questions),
            Goal::Told,
            Goal::Told,
        ),
    ]
}

/// Asks once, and says when somebody who watches was told; that is after the commit.
fn time_to_disk(home: &Home, human: &mut Wire) -> Duration {
    let agent = home.connect().join("terminal", "/");
    let started = Instant::now();
    let mut client = home.start_cue(&agent, "Which port?");
    loop {
        match human.receive() {
            Reply::Event(event) if event.what == EventKind::Asked => break,
            _ => {}
        }
    }
    let took = started.elapsed();
    client.kill().and_then(|()| client.wait()).expect("its end");
    took
}

fn time(command: &mut Command) -> Duration {
    let started = Instant::now();
    let status = command.stdout(Stdio::null()).status().expect("a program");
    assert!(status.success());
    started.elapsed()
}

/// Builds the floor with the profile of the binary under measurement and returns where it is.
fn build_floor() -> PathBuf {
    let mut cargo = Command::new(env!("CARGO"));
    // Cargo tells its children about their package in variables. Some build scripts would take them as changed input
    // and rebuild much.
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text == "OUT_DIR" || text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
            cargo.env_remove(&name);
        }
    }
    let built = cargo
        .args([
            "build",
            "--quiet",
            "--profile",
            "dist",
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
