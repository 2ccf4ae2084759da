//! Whole lives of questions per second, against loops that only serve and write the same rows.

mod bare;
mod engine;
mod load;
mod slow;

use std::time::Instant;

use cueme_store_sqlite::Synchronous;
use protocol_spec::id::AgentId;

use crate::home::Home;
use crate::process::raise_descriptor_limit;
use crate::rows::{ANSWER, PROMPT, Rows, mint};
use crate::table::{Goal, Row};
use bare::Bare;
pub(crate) use load::{Manner, lives_per_second};

pub(crate) use slow::{BARE_ENV, serve_bare};
use slow::{Slow, SlowDisk};

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
const SLOW: Load = Load {
    clients: 1000,
    lives: 12,
};

/// The most measurements of both sides.
const ROUNDS_MAX: usize = 3;

/// Lives per second of this many clients, with this many lives each.
type Rate = fn(usize, usize) -> f64;

/// The most lives, as a multiple of the least.
const SCALE_MAX: usize = 2;

/// P4: the broker against the bare loop.
pub(crate) fn measure(scale: usize) -> Vec<Row> {
    raise_descriptor_limit();
    let against = |what: &'static str, load: Load, ours: Rate, floor: Rate, goal, aim| {
        let (ours, floor) = compare(scale, load, ours, floor);
        Row {
            id: "P4",
            what: what.into(),
            ours: format!("{ours:.0}/s"),
            floor: format!("{floor:.0}/s"),
            ratio: ours / floor,
            goal,
            aim,
        }
    };
    let (stay, come): ((Rate, Rate), (Rate, Rate)) = (
        (
            |clients, lives| ours_per_second(clients, lives, Manner::Stay),
            |clients, lives| served_per_second(clients, lives, Manner::Stay),
        ),
        (
            |clients, lives| ours_per_second(clients, lives, Manner::Come),
            |clients, lives| served_per_second(clients, lives, Manner::Come),
        ),
    );
    let aim = Goal::AtLeast(0.7);
    vec![
        against(
            "durable question lives per second, 64 clients ÷ a bare loop that serves them and group-commits the same rows",
            SOME,
            stay.0,
            stay.1,
            Goal::AtLeast(0.6),
            aim,
        ),
        against("the same with one client", ONE, stay.0, stay.1, Goal::Told, aim),
        against(
            "the same with 1,000 clients",
            MANY,
            stay.0,
            stay.1,
            Goal::Told,
            aim,
        ),
        against(
            "64 clients, a connection for each question",
            SOME,
            come.0,
            come.1,
            Goal::Told,
            aim,
        ),
        against(
            "one client, a connection for each question",
            ONE,
            come.0,
            come.1,
            Goal::Told,
            aim,
        ),
        against(
            "1,000 clients, a connection for each question",
            MANY,
            come.0,
            come.1,
            Goal::Told,
            aim,
        ),
        against(
            "64 clients ÷ a loop without clients that only group-commits the same rows, 64 at a time",
            SOME,
            stay.0,
            written_per_second,
            Goal::Told,
            Goal::Told,
        ),
    ]
}

/// P6: waiting for the disk at each commit against waiting at checkpoints only.
pub(crate) fn measure_synchronous(scale: usize) -> Vec<Row> {
    let full: Rate = |clients, lives| engine::lives_per_second(Synchronous::Full, clients, lives);
    let normal: Rate = |clients, lives| engine::lives_per_second(Synchronous::Normal, clients, lives);
    let (full, normal) = compare(scale, SOME, full, normal);
    vec![Row {
        id: "P6",
        what: "lives per second of the engine, 64 callers: durable at each commit ÷ `synchronous=NORMAL`"
            .into(),
        ours: format!("{full:.0}/s"),
        floor: format!("{normal:.0}/s"),
        ratio: full / normal,
        goal: Goal::Told,
        aim: Goal::AtLeast(0.8),
    }]
}

/// P7: a disk that takes longer.
pub(crate) fn measure_slow_disk(scale: usize) -> Vec<Row> {
    raise_descriptor_limit();
    let Some(disk) = SlowDisk::build() else {
        eprintln!("not measured: a slow disk takes a C compiler");
        return Vec::new();
    };
    let lives = SLOW.lives * scale.min(SCALE_MAX);
    let (mut floors, mut ours) = (Vec::new(), Vec::new());
    for _ in 0..scale.min(ROUNDS_MAX) {
        floors.push(slow::floor(&disk, SLOW.clients, lives));
        ours.push(slow::ours(&disk, SLOW.clients, lives));
    }
    let (ours, floor) = (Slow::middle(&ours), Slow::middle(&floors));
    vec![
        Row {
            id: "P7",
            what: "1,000 clients on a disk that takes 5 ms longer ÷ the same bare loop".into(),
            ours: format!("{:.0}/s", ours.lives_per_second),
            floor: format!("{:.0}/s", floor.lives_per_second),
            ratio: ours.lives_per_second / floor.lives_per_second,
            goal: Goal::Told,
            aim: Goal::AtLeast(0.7),
        },
        Row {
            id: "P7",
            what: "rows that each wait for that disk makes durable; the floor is the bare loop, the goal 100 rows".into(),
            ours: format!("{:.0}", ours.rows_per_flush),
            floor: format!("{:.0}", floor.rows_per_flush),
            ratio: ours.rows_per_flush / 100.0,
            goal: Goal::Told,
            aim: Goal::AtLeast(1.0),
        },
    ]
}

/// Measures both sides in turn and returns the middle of each.
fn compare(scale: usize, load: Load, ours: Rate, floor: Rate) -> (f64, f64) {
    let (mut our_rates, mut floor_rates) = (Vec::new(), Vec::new());
    let lives = load.lives * scale.min(SCALE_MAX);
    for _ in 0..scale.min(ROUNDS_MAX) {
        floor_rates.push(floor(load.clients, lives));
        our_rates.push(ours(load.clients, lives));
    }
    (middle(our_rates), middle(floor_rates))
}

/// Returns the middle rate.
pub(crate) fn middle(mut rates: Vec<f64>) -> f64 {
    rates.sort_by(f64::total_cmp);
    rates[rates.len() / 2]
}

fn ours_per_second(clients: usize, lives: usize, manner: Manner) -> f64 {
    let home = Home::start();
    let mut wire = home.connect();
    let agents: Vec<AgentId> = (0..clients).map(|_| wire.join("terminal", "/")).collect();
    drop(wire);
    lives_per_second(&home.socket(), agents, lives, manner)
}

fn served_per_second(clients: usize, lives: usize, manner: Manner) -> f64 {
    let bare = Bare::start(clients, manner.connections(clients, lives));
    lives_per_second(&bare.socket(), bare.agents.clone(), lives, manner)
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
