//! From the committed answer to the end of the waiting client.

use std::time::{Duration, Instant};

use cueme_test_kit::Wire;
use protocol_spec::id::CueId;
use protocol_spec::message::{Nothing, Reply, Request};

use crate::floor::{Disk, Echo};
use crate::home::Home;
use crate::table::{Goal, Row, median, ratio, show};

pub(crate) fn measure(scale: usize) -> Vec<Row> {
    let home = Home::start();
    let mut human = home.connect();
    let agent = home.connect().join("terminal", "/");
    let directory = tempfile::tempdir().expect("a directory");
    let (mut echo, mut disk) = (Echo::start(), Disk::open(directory.path()));
    let (mut ours, mut floors) = (Vec::new(), Vec::new());
    for round in 0..20 * scale {
        floors.push(echo.round_trip() + disk.commit());
        let mut client = home.start_cue(&agent, &format!("question {round}"));
        let cue = waiting_cue(&mut human);
        // The client is in its read by now; a moment later it certainly is.
        std::thread::sleep(Duration::from_millis(5));
        human.answer(cue, "yes");
        let committed = Instant::now();
        assert!(client.wait().expect("its end").success());
        ours.push(committed.elapsed());
    }
    let (ours, floor) = (median(&mut ours), median(&mut floors));
    vec![Row {
        id: "P3",
        what: "answer committed → waiting client has exited, p50 ÷ socket round trip + durable commit".into(),
        ours: show(ours),
        floor: show(floor),
        ratio: ratio(ours, floor),
        goal: Goal::AtMost(3.0),
        aim: Goal::Told,
    }]
}

/// Waits until a question has a waiting client, and returns it.
pub(crate) fn waiting_cue(human: &mut Wire) -> CueId {
    loop {
        human.send(&Request::Inbox(Nothing {}));
        let mut found = None;
        loop {
            match human.receive() {
                Reply::Cue(cue) if cue.waiting > 0 => found = Some(cue.cue_id),
                Reply::Cue(_) => {}
                Reply::End(_) => break,
                other => panic!("{other:?}"),
            }
        }
        if let Some(cue) = found {
            return cue;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}
