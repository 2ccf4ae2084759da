//! Starting a broker: until the first thing is on disk, and with much that is open.

use std::time::{Duration, Instant};

use crate::home::{Home, empty_home};
use crate::rows::{PROMPT, Rows, mint};
use crate::table::{Goal, Row, median, ratio, show};

const PENDING: usize = 10_000;
const AGENTS: usize = 50;

pub(crate) fn measure(scale: usize) -> Vec<Row> {
    let small = starts(Home::start(), 4 * scale);
    let large = starts(Home::start_in(with_pending()), scale);
    let row = |what: &'static str, ours, goal: Duration| Row {
        id: "P15",
        what: what.into(),
        ours: show(ours),
        floor: show(goal),
        ratio: ratio(ours, goal),
        goal: Goal::Told,
        aim: Goal::AtMost(1.0),
    };
    vec![
        row(
            "a broker is started and has written something durably",
            small,
            Duration::from_millis(10),
        ),
        row(
            "the same with 10,000 open questions",
            large,
            Duration::from_millis(200),
        ),
    ]
}

/// Starts the broker again and again, each time until it confirms that an agent has joined.
fn starts(mut home: Home, rounds: usize) -> Duration {
    let mut times = Vec::new();
    for _ in 0..rounds {
        home.stop();
        let started = Instant::now();
        home.start_again();
        home.connect().join("terminal", "/");
        times.push(started.elapsed());
    }
    median(&mut times)
}

fn with_pending() -> tempfile::TempDir {
    let (directory, database) = empty_home();
    let mut rows = Rows::open(&database);
    let agents = rows.join(AGENTS);
    rows.commit(|rows| {
        for number in 0..PENDING {
            rows.ask(mint(), &agents[number % AGENTS], &format!("{PROMPT} ({number})"));
        }
    });
    directory
}
