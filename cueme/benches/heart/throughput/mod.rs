//! Whole lives of questions per second, against loops that only serve and write the same rows.

mod bare;
mod load;

use std::time::Instant;

use protocol_spec::id::AgentId;

use crate::home::Home;
use crate::process::raise_descriptor_limit;
use crate::rows::{ANSWER, PROMPT, Rows};
use crate::table::{Goal, Row};
use bare::Bare;
use load::{HUMANS, lives_per_second};

pub(crate) use load::mint;

/// How many clients there are, how many lives each leads for each unit of scale, and how the result is told.
const LOADS: [(usize, usize, &str); 3] = [
    (1, 400, "the same with one client"),
    (
        64,
        200,
        "durable question lives per second, 64 clients ÷ a bare loop that serves them and group-commits the same rows",
    ),
    (1000, 12, "the same with 1,000 clients"),
];
/// The load that is compared with a loop without clients, too.
const ALONE: (usize, usize) = (64, 200);

pub(crate) fn measure(scale: usize) -> Vec<Row> {
    raise_descriptor_limit();
    let mut rows: Vec<Row> = LOADS
        .into_iter()
        .map(|(clients, lives, what)| {
            let (mut ours, mut floors) = (Vec::new(), Vec::new());
            for _ in 0..scale.min(3) {
                floors.push(served_per_second(clients, lives * scale));
                ours.push(ours_per_second(clients, lives * scale));
            }
            row(what, middle(ours), middle(floors))
        })
        .collect();
    // The load that has to land comes first.
    rows.swap(0, 1);
    rows[0].goal = Goal::AtLeast(0.6);
    let (clients, lives) = ALONE;
    let (mut ours, mut floors) = (Vec::new(), Vec::new());
    for _ in 0..scale.min(3) {
        floors.push(written_per_second(clients, lives * scale));
        ours.push(ours_per_second(clients, lives * scale));
    }
    rows.push(Row {
        aim: Goal::Told,
        ..row(
            "64 clients ÷ a loop without clients that only group-commits the same rows, 64 at a time",
            middle(ours),
            middle(floors),
        )
    });
    rows
}

fn row(what: &'static str, ours: f64, floor: f64) -> Row {
    Row {
        id: "P4",
        what,
        ours: format!("{ours:.0}/s"),
        floor: format!("{floor:.0}/s"),
        ratio: ours / floor,
        goal: Goal::Told,
        aim: Goal::AtLeast(0.7),
    }
}

fn middle(mut rates: Vec<f64>) -> f64 {
    rates.sort_by(f64::total_cmp);
    rates[rates.len() / 2]
}

fn ours_per_second(clients: usize, lives: usize) -> f64 {
    let home = Home::start();
    let mut wire = home.connect();
    let agents: Vec<AgentId> = (0..clients).map(|_| wire.join()).collect();
    drop(wire);
    lives_per_second(&home.socket(), agents, lives)
}

fn served_per_second(clients: usize, lives: usize) -> f64 {
    let bare = Bare::start(clients, clients + HUMANS);
    lives_per_second(&bare.socket(), bare.agents.clone(), lives)
}

/// The rows for one question of every agent at a time: asked, decided, acknowledged, each in one durable commit.
fn written_per_second(agents: usize, lives: usize) -> f64 {
    let directory = tempfile::tempdir().expect("a directory");
    let mut rows = Rows::open(&directory.path().join("floor.db"));
    let agents = rows.join(agents);
    let started = Instant::now();
    for _ in 0..lives {
        let mut cues = Vec::with_capacity(agents.len());
        rows.commit(|rows| {
            cues.extend(
                agents
                    .iter()
                    .map(|agent| (rows.ask(mint(), agent, PROMPT), agent)),
            );
        });
        rows.commit(|rows| {
            cues.iter()
                .for_each(|(cue, agent)| rows.decide(mint(), *cue, agent, ANSWER));
        });
        rows.commit(|rows| cues.iter().for_each(|(cue, agent)| rows.acknowledge(*cue, agent)));
    }
    (agents.len() * lives) as f64 / started.elapsed().as_secs_f64()
}
