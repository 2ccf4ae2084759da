//! R12: thousands of agents wait while others are answered all the time.

use std::time::{Duration, Instant};

use cueme_tests::{Home, Wire, resident_kib};
use protocol_spec::message::{Reply, Request};

use crate::load::{Times, is_strict, join_all, millis, noise, watching_disk};
use crate::trial::{NotRun, Trial};
use cueme_test_kit::request::{ack, answer, ask};

/// The limit on the broker's memory for a waiting connection, in bytes.
const BYTES_A_WAITER_MAX: u64 = 4 * 1024;
/// The limit on the slowest hundredth, as a multiple of the median at the beginning.
const TAIL_MAX: f64 = 5.0;
/// The limit on a slower disk, as a multiple of the slowest hundredth of bare writes to it at the same time. An
/// answer waits for the commit that is under way, and for its own.
const DISK_TAILS_MAX: u32 = 2;
/// The limit on the median of the second half, as a multiple of that of the first.
const DRIFT_MAX: f64 = 1.1;
/// A median that differs by less than this has not moved: waking a thread takes as long.
const DRIFT_NOISE: Duration = Duration::from_micros(300);
/// The limit on the broker's memory growth from the moment when all wait to the end, in percent.
const GROWTH_PERCENT_MAX: u64 = 10;
/// The least share of the rate that must be reached, in percent.
const RATE_PERCENT_MIN: u64 = 95;
/// The number of agents that share the waiting connections.
const AGENTS: usize = 64;
/// The number of agents that are answered all the time, each on a thread of its own.
const ANSWERED: usize = 8;
/// Descriptors for everything but the waiting connections.
const DESCRIPTORS_BESIDE: u64 = 200;

/// Holds a load, and watches memory and delays.
pub(crate) fn run(trial: &mut Trial) -> Result<(), NotRun> {
    let load = Load {
        waiters: trial.size(1_000, 10_000, 10_000),
        rate: trial.size(100, 1_000, 1_000),
        lasts: Duration::from_secs(trial.size(6, 120, 600)),
    };
    // The broker is started from here and has the same limit.
    if raise_descriptor_limit() < load.waiters as u64 + DESCRIPTORS_BESIDE {
        let why = format!("this machine does not allow {} connections", load.waiters);
        return Err(NotRun(why));
    }
    let home = Home::new();
    home.configure("reminder = false\nlisten = \"off\"\n");
    let agents = join_all(&home, AGENTS + ANSWERED);
    let broker = home.broker_pid();
    warm_up(&home, &agents[AGENTS]);
    let base = resident_kib(broker);
    let Some(held) = wait_all(trial, &home, &agents[..AGENTS], load.waiters) else {
        return Ok(());
    };
    let full = resident_kib(broker);
    let (delays, disk) = watching_disk(home.path(), || {
        be_answered(trial, &home, &agents[AGENTS..], &load)
    });
    let disk = disk.map_err(|error| NotRun(format!("the disk cannot be measured: {error}")))?;
    let end = resident_kib(broker);
    let status = home.status();
    trial.check(status.pid == broker, || "the broker was started again".into());
    trial.check(status.waiting as usize == load.waiters, || {
        format!("{} of {} still wait", status.waiting, load.waiters)
    });
    drop(held);
    judge_rate(trial, &load, delays.len());
    judge_delays(trial, &load, &delays, &disk);
    judge_memory(trial, &load, [base, full, end]);
    trial.figure("waiting", load.waiters);
    trial.figure("answers", delays.len());
    Ok(())
}

/// The load.
struct Load {
    waiters: usize,
    /// Answers in a second.
    rate: u64,
    lasts: Duration,
}

/// One answer: when it was given, since the beginning, and how long it took to its client.
struct Delay {
    at: Duration,
    took: Duration,
}

fn judge_rate(trial: &mut Trial, load: &Load, answers: usize) {
    let wanted = load.rate * load.lasts.as_secs();
    let is_reached = answers as u64 * 100 >= wanted * RATE_PERCENT_MIN;
    trial.check(is_reached || !is_strict(trial), || {
        format!("{answers} answers were given, {wanted} were to be")
    });
    let reached = answers as f64 / load.lasts.as_secs_f64();
    trial.figure("answers a second", format!("{reached:.0} of {}", load.rate));
}

fn judge_delays(trial: &mut Trial, load: &Load, delays: &[Delay], disk: &Times) {
    let times = |is_wanted: &dyn Fn(&Delay) -> bool| {
        let wanted = delays.iter().filter(|delay| is_wanted(delay));
        Times::new(wanted.map(|delay| delay.took).collect())
    };
    let all = times(&|_| true);
    let first = times(&|delay| delay.at < load.lasts / 2).percentile(50);
    let last = times(&|delay| delay.at >= load.lasts / 2).percentile(50);
    let ratio = |time: Duration| time.as_secs_f64() / first.as_secs_f64().max(f64::EPSILON);
    let (tail, drift) = (ratio(all.percentile(99)), ratio(last));
    let excused = noise(trial).max(disk.percentile(99) * DISK_TAILS_MAX);
    trial.check(tail <= TAIL_MAX || all.percentile(99) <= excused, || {
        format!("the slowest hundredth is {tail:.1} times the median")
    });
    let drift_noise = if is_strict(trial) {
        DRIFT_NOISE
    } else {
        trial.noise()
    };
    trial.check(drift <= DRIFT_MAX || last <= first + drift_noise, || {
        format!("the median grew by {drift:.2} from the first half to the second")
    });
    trial.figure(
        "answer to client p50, p99",
        format!("{}, {}", millis(all.percentile(50)), millis(all.percentile(99))),
    );
    trial.figure(
        "a bare durable write meanwhile p50, p99",
        format!("{}, {}", millis(disk.percentile(50)), millis(disk.percentile(99))),
    );
    trial.figure("drift of the median", format!("{drift:.2}"));
}

fn judge_memory(trial: &mut Trial, load: &Load, [base, full, end]: [u64; 3]) {
    let per_waiter = full.saturating_sub(base) * 1024 / load.waiters as u64;
    let bytes_max = if cfg!(debug_assertions) {
        2 * BYTES_A_WAITER_MAX
    } else {
        BYTES_A_WAITER_MAX
    };
    trial.check(per_waiter <= bytes_max, || {
        format!("a waiter takes {per_waiter} bytes")
    });
    trial.check(end * 100 <= full * (100 + GROWTH_PERCENT_MAX), || {
        format!("{full} KiB became {end} while they were answered")
    });
    trial.figure("bytes of the broker a waiter", per_waiter);
    trial.figure(
        "memory at the beginning, full, at the end",
        format!("{base}, {full}, {end} KiB"),
    );
}

/// Lets the broker allocate what it needs once, such as the database's cache.
fn warm_up(home: &Home, agent: &str) {
    let (mut client, mut human) = (home.wire(), home.wire());
    for number in 0..300 {
        one_answer(&mut client, &mut human, agent, 1_000_000 + number);
    }
}

/// Every connection needs a descriptor here too; returns how many there can be.
pub(crate) fn raise_descriptor_limit() -> u64 {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    // A failure shows in the limit that is returned.
    let _ = setrlimit(Resource::Nofile, limit);
    getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)
}

/// Lets so many questions wait; each agent has its share of them. `None`, and a violation, when one is not let in.
fn wait_all(trial: &mut Trial, home: &Home, agents: &[String], count: usize) -> Option<Vec<Wire>> {
    let mut held = Vec::with_capacity(count);
    for number in 0..count {
        let words = format!("question {number} waits");
        let asked = Wire::connect(&home.socket())
            .and_then(|mut wire| Some((wire.call(&ask(&agents[number % agents.len()], &words))?, wire)));
        match asked {
            Some((Reply::Asked(_), wire)) => held.push(wire),
            other => {
                let reply = other.map(|(reply, _)| reply);
                trial.violation(format!("question {number} was not let in: {reply:?}"));
                return None;
            }
        }
        trial.progress(number as u64, count as u64);
    }
    Some(held)
}

/// Asks and answers at a steady rate, with a thread for each agent.
fn be_answered(trial: &mut Trial, home: &Home, agents: &[String], load: &Load) -> Vec<Delay> {
    let started = Instant::now();
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..)
            .zip(agents)
            .map(|(first, agent)| scope.spawn(move || answer_every(home, agent, load, started, first)))
            .collect();
        while started.elapsed() < load.lasts && !threads.iter().any(|thread| thread.is_finished()) {
            trial.progress(started.elapsed().as_secs(), load.lasts.as_secs());
            std::thread::sleep(Duration::from_millis(50));
        }
        let ended = threads.into_iter().map(|thread| thread.join());
        ended
            .flat_map(|ended| ended.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    })
}

/// Takes the answers with this number and every so-manieth after it, each when it is due.
fn answer_every(home: &Home, agent: &str, load: &Load, started: Instant, first: u64) -> Vec<Delay> {
    let (mut client, mut human) = (home.wire(), home.wire());
    let mut delays = Vec::new();
    for number in (first..).step_by(ANSWERED) {
        let due = started + Duration::from_micros(number * 1_000_000 / load.rate);
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
        let at = started.elapsed();
        if at >= load.lasts {
            break;
        }
        let took = one_answer(&mut client, &mut human, agent, number);
        delays.push(Delay { at, took });
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
