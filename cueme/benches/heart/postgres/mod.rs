//! Brokers on PostgreSQL, against bare transactions with the same rows in a database of the same server.

mod bare;

use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::time::{Duration, Instant};

use cueme_test_kit::postgres::Server;
use protocol_spec::id::AgentId;

use crate::answer::waiting_cue;
use crate::home::{Home, give_prompt};
use crate::process::{raise_descriptor_limit, resident_kib};
use crate::table::{Goal, Row, median, ratio, show};
use crate::throughput::{Manner, lives_per_second, middle};
use bare::{Bare, Notified};

/// Lives of each measurement with one client, and with many.
const ALONE: usize = 200;
const CLIENTS: usize = 64;
const TOGETHER: usize = 40;

const BROKERS: usize = 3;
const WAITERS: usize = 10_000;
const WAITERS_PER_AGENT: usize = 200;

/// P14: lives of questions, and an answer at another broker.
pub(crate) fn measure(scale: usize) -> Vec<Row> {
    raise_descriptor_limit();
    let Some(server) = Server::own(&[]) else {
        return Vec::new();
    };
    let mut rows = vec![one_client(&server, scale), many_clients(&server, scale)];
    rows.extend(other_broker(&server, scale));
    rows
}

fn one_client(server: &Server, scale: usize) -> Row {
    let (mut ours, mut floors) = (Vec::new(), Vec::new());
    for _ in 0..scale {
        floors.push(Duration::from_secs_f64(1.0 / bare_per_second(server, 1, ALONE)));
        ours.push(Duration::from_secs_f64(1.0 / ours_per_second(server, 1, ALONE)));
    }
    let (ours, floor) = (median(&mut ours), median(&mut floors));
    Row {
        id: "P14",
        what: "PostgreSQL: one question's life, one client ÷ three bare transactions with the same rows"
            .into(),
        ours: show(ours),
        floor: show(floor),
        ratio: ratio(ours, floor),
        goal: Goal::Told,
        aim: Goal::AtMost(1.5),
    }
}

fn many_clients(server: &Server, scale: usize) -> Row {
    let (mut ours, mut floors) = (Vec::new(), Vec::new());
    for _ in 0..scale {
        floors.push(bare_per_second(server, CLIENTS, TOGETHER));
        ours.push(ours_per_second(server, CLIENTS, TOGETHER));
    }
    let (ours, floor) = (middle(ours), middle(floors));
    Row {
        id: "P14",
        what: "the same per second, 64 clients ÷ a bare loop without clients that commits 64 at a time"
            .into(),
        ours: format!("{ours:.0}/s"),
        floor: format!("{floor:.0}/s"),
        ratio: ours / floor,
        goal: Goal::Told,
        aim: Goal::AtLeast(0.7),
    }
}

/// Answers at one broker, and waits until the client of another has printed it, and then until it has ended.
fn other_broker(server: &Server, scale: usize) -> [Row; 2] {
    let url = server.database();
    let (agents, humans) = (on(&url), on(&url));
    let agent = agents.connect().join("terminal", "/");
    let mut human = humans.connect();
    let mut notified = Notified::open(&server.database());
    let (mut printed, mut exited, mut floors) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..20 * scale {
        floors.push(notified.commit_and_hear());
        let prompt = format!("question {round}");
        let mut command = agents.command();
        command.args(["cue", agent.as_str(), "-"]).stdout(Stdio::piped());
        let mut client = give_prompt(&mut command, &prompt);
        let mut output = BufReader::new(client.stdout.take().expect("its output"));
        let cue = waiting_cue(&mut human);
        // The client is in its read by now; a moment later it certainly is.
        std::thread::sleep(Duration::from_millis(20));
        let started = Instant::now();
        human.answer(cue, "yes");
        let mut line = String::new();
        output.read_line(&mut line).expect("its first line");
        printed.push(started.elapsed());
        assert!(!line.is_empty());
        std::io::copy(&mut output, &mut std::io::sink()).expect("the other lines");
        assert!(client.wait().expect("its end").success());
        exited.push(started.elapsed());
    }
    let floor = median(&mut floors);
    [("printed it", printed), ("exited", exited)].map(|(what, mut ours)| {
        let ours = median(&mut ours);
        Row {
            id: "P14",
            what: format!(
                "answered at one broker → the waiting client of another has {what} ÷ commit + NOTIFY heard"
            )
            .into(),
            ours: show(ours),
            floor: show(floor),
            ratio: ratio(ours, floor),
            goal: Goal::Told,
            aim: Goal::AtMost(2.0),
        }
    })
}

/// Ten thousand agents that wait at three brokers, and are answered at one of them.
pub(crate) fn measure_waiters(_scale: usize) -> Vec<Row> {
    raise_descriptor_limit();
    let Some(server) = Server::own(&[]) else {
        return Vec::new();
    };
    let url = server.database();
    let brokers: Vec<Home> = (0..BROKERS).map(|_| on(&url)).collect();
    let mut human = brokers[0].connect();
    let agents: Vec<AgentId> = (0..WAITERS / WAITERS_PER_AGENT)
        .map(|_| human.join("terminal", "/"))
        .collect();
    let resident = || {
        brokers
            .iter()
            .map(|broker| resident_kib(broker.pid()))
            .sum::<u64>()
    };
    let before = resident();
    let mut waiters = Vec::with_capacity(WAITERS);
    for number in 0..WAITERS {
        let mut wire = brokers[number % BROKERS].connect();
        let cue = wire.ask(&agents[number % agents.len()], &format!("question {number}"));
        waiters.push((wire, cue));
    }
    let each = resident().saturating_sub(before) as f64 / WAITERS as f64;
    let started = Instant::now();
    for (number, (_, cue)) in waiters.iter().enumerate() {
        human.answer(*cue, &format!("answer {number}"));
    }
    for (number, (wire, cue)) in waiters.iter_mut().enumerate() {
        let told = wire.outcome();
        assert_eq!(told.cue_id, *cue);
        assert!(
            told.text.starts_with(&format!("answer {number}")),
            "{}",
            told.text
        );
    }
    let took = started.elapsed();
    let sql = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'cueme'";
    let connections: f64 = server.run(&url, sql).parse().expect("a number");
    let most = 4.0 * BROKERS as f64;
    vec![
        Row {
            id: "P9",
            what: "PostgreSQL: memory of three brokers for each of 10,000 waiting connections, KiB".into(),
            ours: format!("{each:.1} KiB"),
            floor: "16 KiB".into(),
            ratio: each / 16.0,
            goal: Goal::AtMost(1.0),
            aim: Goal::Told,
        },
        Row {
            id: "P9",
            what: "… database connections of the three, after all were answered one by one at one of them"
                .into(),
            ours: format!("{connections}, {:.1} s", took.as_secs_f64()),
            floor: format!("{most}"),
            ratio: connections / most,
            goal: Goal::Told,
            aim: Goal::AtMost(1.0),
        },
    ]
}

/// Starts a broker of its own home on a database.
fn on(url: &str) -> Home {
    Home::start_with(&format!("store = \"{url}\"\n"))
}

fn ours_per_second(server: &Server, clients: usize, lives: usize) -> f64 {
    let home = on(&server.database());
    let mut wire = home.connect();
    let agents: Vec<AgentId> = (0..clients).map(|_| wire.join("terminal", "/")).collect();
    drop(wire);
    lives_per_second(&home.socket(), agents, lives, Manner::Stay)
}

fn bare_per_second(server: &Server, agents: usize, lives: usize) -> f64 {
    let mut bare = Bare::open(&server.database(), agents);
    let started = Instant::now();
    for _ in 0..lives {
        bare.lead_lives();
    }
    (agents * lives) as f64 / started.elapsed().as_secs_f64()
}
