//! R12: thousands of agents wait while others are answered all the time.

use std::time::{Duration, Instant};

use cueme_tests::{Home, Wire, resident_kib};
use protocol_spec::message::{Reply, Request};

use crate::load::{Times, join_all, millis};
use crate::talk::{ack, answer, ask};
use crate::trial::{NotRun, Trial};

/// How much memory of the broker a waiting connection may take, in bytes.
const BYTES_A_WAITER_MAX: u64 = 4 * 1024;
/// How much slower than the median of the beginning the slowest hundredth may be.
const TAIL_MAX: f64 = 5.0;
/// How many agents share the waiting connections.
const AGENTS: usize = 64;

/// Holds a load, and watches memory and delays.
pub(crate) fn run(trial: &mut Trial) -> Result<(), NotRun> {
    let waiters = trial.size(1_000, 10_000, 10_000);
    let rate = trial.size(100, 1_000, 1_000);
    let lasts = Duration::from_secs(trial.size(6, 120, 600));
    raise_descriptor_limit();
    let home = Home::new();
    home.configure("reminder = false\nlisten = \"off\"\n");
    let agents = join_all(&home, AGENTS + 1);
    let broker = home.broker_pid();
    warm_up(&home, &agents[AGENTS]);
    let base = resident_kib(broker);
    let Some(held) = wait_all(trial, &home, &agents[..AGENTS], waiters) else {
        return Err(NotRun(format!(
            "this machine does not allow {waiters} connections"
        )));
    };
    let full = resident_kib(broker);
    let per_waiter = full.saturating_sub(base) * 1024 / waiters as u64;
    let delays = be_answered(trial, &home, &agents[AGENTS], rate, lasts);
    let end = resident_kib(broker);
    let (first, last) = (halves(&delays, true), halves(&delays, false));
    let all = Times::new(delays.clone());
    let tail = all.percentile(99).as_secs_f64() / first.percentile(50).as_secs_f64().max(f64::EPSILON);
    let still_waiting = home.status().waiting as usize;
    trial.check(still_waiting == waiters, || {
        format!("{still_waiting} of {waiters} still wait")
    });
    let bytes_max = if cfg!(debug_assertions) {
        2 * BYTES_A_WAITER_MAX
    } else {
        BYTES_A_WAITER_MAX
    };
    trial.check(per_waiter <= bytes_max, || {
        format!("a waiter takes {per_waiter} bytes")
    });
    trial.check(tail <= TAIL_MAX || all.percentile(99) <= trial.noise(), || {
        format!("the slowest hundredth is {tail:.1} times the median")
    });
    let drift = last.percentile(50).as_secs_f64() / first.percentile(50).as_secs_f64().max(f64::EPSILON);
    trial.check(drift <= 1.1 || last.percentile(50) <= trial.noise(), || {
        format!("the median grew by {drift:.2} from the first half to the second")
    });
    drop(held);
    trial.figure("waiting", waiters);
    trial.figure("answers", all.count());
    trial.figure("bytes of the broker a waiter", per_waiter);
    trial.figure(
        "answer to client p50, p99",
        format!("{}, {}", millis(all.percentile(50)), millis(all.percentile(99))),
    );
    trial.figure("drift of the median", format!("{drift:.2}"));
    trial.figure(
        "memory at the beginning, full, at the end",
        format!("{base}, {full}, {end} KiB"),
    );
    Ok(())
}

/// Lets the broker allocate what it needs once, such as the database's cache.
fn warm_up(home: &Home, agent: &str) {
    let (mut client, mut human) = (home.wire(), home.wire());
    for number in 0..300 {
        one_answer(&mut client, &mut human, agent, 1_000_000 + number);
    }
}

/// Every connection needs a descriptor here too.
pub(crate) fn raise_descriptor_limit() {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    // Whoever needs more than there is says so.
    let _ = setrlimit(Resource::Nofile, limit);
}

/// Lets so many questions wait; each agent has its share of them.
pub(crate) fn wait_all(trial: &mut Trial, home: &Home, agents: &[String], count: usize) -> Option<Vec<Wire>> {
    let mut held = Vec::with_capacity(count);
    for number in 0..count {
        let mut wire = Wire::connect(&home.socket())?;
        let agent = &agents[number % agents.len()];
        match wire.call(&ask(agent, &format!("question {number} waits"))) {
            Some(Reply::Asked(_)) => held.push(wire),
            Some(Reply::Error(failure)) => panic!("question {number} was refused: {failure}"),
            other => panic!("not asked: {other:?}"),
        }
        trial.progress(number as u64, count as u64);
    }
    Some(held)
}

/// Asks and answers at a steady rate; returns how long each answer took to its client.
fn be_answered(trial: &mut Trial, home: &Home, agent: &str, rate: u64, lasts: Duration) -> Vec<Duration> {
    let (mut client, mut human) = (home.wire(), home.wire());
    let mut delays = Vec::new();
    let started = Instant::now();
    let mut number = 0;
    while started.elapsed() < lasts {
        delays.push(one_answer(&mut client, &mut human, agent, number));
        number += 1;
        trial.progress(started.elapsed().as_secs(), lasts.as_secs());
        let due = started + Duration::from_micros(number * 1_000_000 / rate);
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
    }
    delays
}

fn one_answer(client: &mut Wire, human: &mut Wire, agent: &str, number: u64) -> Duration {
    let Some(Reply::Asked(asked)) = client.call(&ask(agent, &format!("answered {number}?"))) else {
        panic!("not asked");
    };
    let text = format!("answer {number}");
    let started = Instant::now();
    human.send(&answer(asked.cue_id.as_str(), &text));
    match client.hear() {
        Some(Reply::Outcome(told)) if told.text == text => {}
        other => panic!("not the answer {text:?}: {other:?}"),
    }
    let took = started.elapsed();
    assert!(matches!(human.hear(), Some(Reply::Decided(_))));
    let acked: Request = ack(asked.cue_id);
    assert!(matches!(client.call(&acked), Some(Reply::Acked(_))));
    took
}

fn halves(delays: &[Duration], is_first: bool) -> Times {
    let (first, second) = delays.split_at(delays.len() / 2);
    Times::new(if is_first { first.to_vec() } else { second.to_vec() })
}
