//! Writes beside questions: run reports of many callers, against as many joins in the same broker.

use std::time::{Duration, Instant};

use cueme_test_kit::Wire;
use protocol_spec::id::RunId;
use protocol_spec::message::{Reply, Request, Run, RunKind, RunReport};
use uuid::Uuid;

use crate::home::Home;
use crate::table::{Goal, Row};
use crate::throughput::middle;

const CALLERS: usize = 32;
/// The number of writes of each kind that a caller does in one sample.
const EACH: usize = 60;

pub(crate) fn measure(scale: usize) -> Vec<Row> {
    let home = Home::start();
    let mut reports = Vec::new();
    let mut joins = Vec::new();
    let mut beside = Vec::new();
    for _ in 0..2 * scale {
        joins.push(per_second(&home, |wire| drop(wire.join("terminal", "/"))));
        reports.push(per_second(&home, report));
        beside.push(join_beside_reports(&home));
    }
    let (reports, joins) = (middle(reports), middle(joins));
    let beside = middle(beside);
    vec![
        Row {
            id: "P16",
            what: "run reports per second, 32 callers ÷ joins per second".into(),
            ours: format!("{reports:.0}/s"),
            floor: format!("{joins:.0}/s"),
            ratio: reports / joins,
            goal: Goal::Told,
            aim: Goal::AtLeast(0.7),
        },
        Row {
            id: "P16",
            what: "a join beside 31 callers that report runs, p50 ÷ one of 32 callers that join".into(),
            ours: format!("{:.2} ms", beside * 1e3),
            floor: format!("{:.2} ms", CALLERS as f64 / joins * 1e3),
            ratio: beside * joins / CALLERS as f64,
            goal: Goal::Told,
            aim: Goal::Told,
        },
    ]
}

/// Lets all callers do something as often as they can.
fn per_second(home: &Home, act: impl Fn(&mut Wire) + Sync) -> f64 {
    let mut wires: Vec<Wire> = (0..CALLERS).map(|_| home.connect()).collect();
    let started = Instant::now();
    std::thread::scope(|scope| {
        for wire in &mut wires {
            scope.spawn(|| (0..EACH).for_each(|_| act(wire)));
        }
    });
    (CALLERS * EACH) as f64 / started.elapsed().as_secs_f64()
}

/// Returns how many seconds a join takes while the others report.
fn join_beside_reports(home: &Home) -> f64 {
    let mut wires: Vec<Wire> = (1..CALLERS).map(|_| home.connect()).collect();
    let mut joining = home.connect();
    let mut times: Vec<Duration> = Vec::new();
    std::thread::scope(|scope| {
        for wire in &mut wires {
            scope.spawn(|| (0..EACH).for_each(|_| report(wire)));
        }
        for _ in 0..EACH {
            let started = Instant::now();
            joining.join("terminal", "/");
            times.push(started.elapsed());
        }
    });
    crate::table::median(&mut times).as_secs_f64()
}

fn report(wire: &mut Wire) {
    let run = Run {
        run_id: RunId(Uuid::now_v7()),
        kind: RunKind::Local,
        agent_id: None,
        project: "/".into(),
        title: "Move the orders".into(),
        status: "working".into(),
        end: None,
        error: None,
        session: None,
        session_params: None,
        model: None,
        branch: None,
        pr_url: None,
        url: None,
    };
    wire.send(&Request::RunReport(Box::new(RunReport {
        run,
        events: Vec::new(),
    })));
    assert!(matches!(wire.receive(), Reply::RunNoted(_)));
}
