//! From a question to the proof that it is on disk, over a connection of its own.

use std::time::{Duration, Instant};

use crate::floor::{Door, RawDisk};
use crate::home::Home;
use crate::table::{Goal, Row, median, ratio, show};

pub(crate) fn measure(scale: usize) -> Vec<Row> {
    let home = Home::start();
    let agent = home.connect().join("terminal", "/");
    let directory = tempfile::tempdir().expect("a directory");
    let (mut disk, door) = (RawDisk::open(directory.path()), Door::open(directory.path()));
    // The broker's log has its room by then, as any that has run for a moment.
    std::thread::sleep(Duration::from_secs(2));
    let (mut ours, mut floors) = (Vec::new(), Vec::new());
    for round in 0..40 * scale {
        floors.push(disk.overwrite() + door.round_trip());
        let started = Instant::now();
        home.connect().ask(&agent, &format!("question {round}"));
        ours.push(started.elapsed());
    }
    let (ours, floor) = (median(&mut ours), median(&mut floors));
    vec![Row {
        id: "P5",
        what: "one client connects, asks and is told that it is on disk, p50 ÷ overwriting 4 KiB durably + connecting to an echo".into(),
        ours: show(ours),
        floor: show(floor),
        ratio: ratio(ours, floor),
        goal: Goal::Told,
        aim: Goal::AtMost(2.2),
    }]
}
