//! Ten thousand agents that wait: what each costs the broker in memory, and all of them in processor time.

use std::time::Duration;

use cueme_test_kit::Wire;
use protocol_spec::message::{Recall, Reply, Request};

use crate::home::Home;
use crate::process::{raise_descriptor_limit, resident_kib, ticks};
use crate::table::{Goal, Row};

const WAITERS: usize = 10_000;
const WAITERS_PER_AGENT: usize = 200;
/// The time after which an idle broker has done its deferred work.
const SETTLED_AFTER: Duration = Duration::from_secs(5);

pub(crate) fn measure(scale: usize) -> Vec<Row> {
    raise_descriptor_limit();
    let home = Home::start();
    let mut first = home.connect();
    let agents: Vec<_> = (0..WAITERS / WAITERS_PER_AGENT)
        .map(|_| first.join("terminal", "/"))
        .collect();
    let before = resident_kib(home.pid());
    let mut waiters: Vec<Wire> = Vec::with_capacity(WAITERS);
    for number in 0..WAITERS {
        let mut wire = home.connect();
        wire.ask(&agents[number % agents.len()], &format!("question {number}"));
        waiters.push(wire);
    }
    // The search index follows a moment behind; recalling waits for it.
    first.send(&Request::Recall(Recall {
        hints: "question".to_owned(),
        project_dir: None,
    }));
    assert!(matches!(first.receive(), Reply::Recalled(_)));
    let each = resident_kib(home.pid()).saturating_sub(before) as f64 / WAITERS as f64;
    // So does the room that the log is given while nothing else is to be done.
    std::thread::sleep(SETTLED_AFTER);
    let ticks_before = ticks(home.pid());
    let watched = Duration::from_secs(4 * scale as u64);
    std::thread::sleep(watched);
    let ticks = ticks(home.pid()) - ticks_before;
    vec![
        Row {
            id: "P9",
            what: "broker memory for each of 10,000 waiting connections, KiB".into(),
            ours: format!("{each:.1} KiB"),
            floor: "16 KiB".into(),
            ratio: each / 16.0,
            goal: Goal::AtMost(1.0),
            aim: Goal::AtMost(0.25),
        },
        Row {
            id: "P9",
            what: "processor ticks of the broker while 10,000 wait and nothing happens".into(),
            ours: format!("{ticks} in {} s", watched.as_secs()),
            floor: "0".into(),
            ratio: ticks as f64,
            goal: Goal::AtMost(1.0),
            aim: Goal::AtMost(1.0),
        },
    ]
}
