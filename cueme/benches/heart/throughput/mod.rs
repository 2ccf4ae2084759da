//! Whole lives of questions per second, against loops that only serve and write the same rows.

mod bare;
mod load;
mod rows;

use std::time::Instant;

use protocol_spec::id::AgentId;

use crate::home::Home;
use crate::table::{Goal, Row};
use bare::Bare;
use load::{HUMANS, lives_per_second, mint};
use rows::Rows;

const CLIENTS: usize = 64;
const PROMPT: &str = "Shall I go on with the migration of the orders table, or wait until tonight?";
const ANSWER: &str = "Go on, but keep the old table until tomorrow.";

pub(crate) fn measure(scale: usize) -> Vec<Row> {
    let (mut ours, mut served, mut written) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..scale.min(3) {
        written.push(written_per_second(CLIENTS, 200 * scale));
        served.push(served_per_second(CLIENTS, 200 * scale));
        ours.push(ours_per_second(CLIENTS, 200 * scale));
    }
    let middle = |rates: &mut Vec<f64>| {
        rates.sort_by(f64::total_cmp);
        rates[rates.len() / 2]
    };
    let (ours, served, written) = (middle(&mut ours), middle(&mut served), middle(&mut written));
    let row = |what, floor: f64, goal| Row {
        what,
        ours: format!("{ours:.0}/s"),
        floor: format!("{floor:.0}/s"),
        ratio: ours / floor,
        goal,
    };
    vec![
        row(
            "durable question lives per second, 64 clients ÷ a bare loop that serves them and group-commits the same rows",
            served,
            Goal::AtLeast(0.6),
        ),
        row(
            "the same ÷ a loop without clients that only group-commits the same rows, 64 at a time",
            written,
            Goal::Told,
        ),
    ]
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
    let mut rows = Rows::open(directory.path());
    let agents = rows.join(agents);
    let started = Instant::now();
    for _ in 0..lives {
        let mut cues = Vec::with_capacity(agents.len());
        rows.commit(|rows| {
            cues.extend(
                agents
                    .iter()
                    .map(|agent| (rows.ask(mint(), agent, PROMPT), agent)),
            )
        });
        rows.commit(|rows| {
            cues.iter()
                .for_each(|(cue, agent)| rows.decide(mint(), *cue, agent, ANSWER))
        });
        rows.commit(|rows| cues.iter().for_each(|(cue, agent)| rows.acknowledge(*cue, agent)));
    }
    (agents.len() * lives) as f64 / started.elapsed().as_secs_f64()
}
