//! Whole lives of questions per second, against loops that only serve and write the same rows.

mod bare;
mod load;

use std::time::Instant;

use protocol_spec::id::AgentId;

use crate::home::Home;
use crate::process::raise_descriptor_limit;
use crate::rows::{ANSWER, PROMPT, Rows, mint};
use crate::table::{Goal, Row};
use bare::Bare;
use load::{HUMANS, lives_per_second};

/// Clients, and how many lives each of them leads for each unit of scale.
#[derive(Clone, Copy)]
struct Load {
    clients: usize,
    lives: usize,
}

const ONE: Load = Load {
    clients: 1,
    lives: 400,
};
const SOME: Load = Load {
    clients: 64,
    lives: 200,
};
const MANY: Load = Load {
    clients: 1000,
    lives: 12,
};

pub(crate) fn measure(scale: usize) -> Vec<Row> {
    raise_descriptor_limit();
    let against = |what, load: Load, floor: fn(usize, usize) -> f64, goal, aim| {
        let (mut ours, mut floors) = (Vec::new(), Vec::new());
        for _ in 0..scale.min(3) {
            floors.push(floor(load.clients, load.lives * scale));
            ours.push(ours_per_second(load.clients, load.lives * scale));
        }
        let (ours, floor) = (middle(ours), middle(floors));
        Row {
            id: "P4",
            what,
            ours: format!("{ours:.0}/s"),
            floor: format!("{floor:.0}/s"),
            ratio: ours / floor,
            goal,
            aim,
        }
    };
    let aim = Goal::AtLeast(0.7);
    vec![
        against(
            "durable question lives per second, 64 clients ÷ a bare loop that serves them and group-commits the same rows",
            SOME,
            served_per_second,
            Goal::AtLeast(0.6),
            aim,
        ),
        against(
            "the same with one client",
            ONE,
            served_per_second,
            Goal::Told,
            aim,
        ),
        against(
            "the same with 1,000 clients",
            MANY,
            served_per_second,
            Goal::Told,
            aim,
        ),
        against(
            "64 clients ÷ a loop without clients that only group-commits the same rows, 64 at a time",
            SOME,
            written_per_second,
            Goal::Told,
            Goal::Told,
        ),
    ]
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
