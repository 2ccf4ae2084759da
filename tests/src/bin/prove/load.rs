//! Well-behaved agents and humans, and how long they wait for one another.

use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use cueme_tests::{Home, Random, Wire};
use protocol_spec::message::Reply;

use crate::trial::Trial;
use cueme_test_kit::request::{ack, answer, ask};

/// The shortest pause of each agent between two questions.
const REST_MIN: Duration = Duration::from_millis(100);
/// And at most: by chance, or all who once had to wait would come together ever after.
const REST_MAX: Duration = Duration::from_millis(200);
/// Delays below this are the scheduler's, where an optimised program has the machine to itself.
const NOISE_WHEN_STRICT: Duration = Duration::from_millis(5);

/// Says whether times are held against their limits: only an optimised program is measured, and only in the larger
/// tiers, which have the machine to themselves. Elsewhere times are told.
pub(crate) fn is_strict(trial: &Trial) -> bool {
    !cfg!(debug_assertions) && trial.is_thorough()
}

/// Returns the delay below which times are not compared.
pub(crate) fn noise(trial: &Trial) -> Duration {
    if is_strict(trial) {
        NOISE_WHEN_STRICT
    } else {
        trial.noise()
    }
}

/// Picks by how this program was built: unoptimised, or to be quick.
pub(crate) fn by_build<T>(unoptimised: T, optimised: T) -> T {
    if cfg!(debug_assertions) {
        unoptimised
    } else {
        optimised
    }
}

/// Returns a limit of time as it is, or, for an unoptimised program among other work, so many times as long.
pub(crate) fn within(trial: &Trial, limit: Duration, lenience: u32) -> Duration {
    if is_strict(trial) { limit } else { limit * lenience }
}

/// Runs something, and meanwhile writes a little to its disk now and then; returns how long that took to be durable.
pub(crate) fn watching_disk<T>(directory: &Path, run: impl FnOnce() -> T) -> (T, std::io::Result<Times>) {
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let watch = scope.spawn(|| write_until(&is_over, &directory.join("disk")));
        let done = run();
        is_over.store(true, Ordering::Relaxed);
        let times = watch
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        (done, times)
    })
}

fn write_until(is_over: &AtomicBool, path: &Path) -> std::io::Result<Times> {
    const EVERY: Duration = Duration::from_millis(20);
    let file = std::fs::File::create(path)?;
    let mut times = Vec::new();
    while !is_over.load(Ordering::Relaxed) {
        let started = Instant::now();
        // Always the same place: nothing but the bytes has to be written.
        file.write_all_at(&[1; 4096], 0)?;
        file.sync_data()?;
        times.push(started.elapsed());
        std::thread::sleep(EVERY);
    }
    std::fs::remove_file(path)?;
    Ok(Times::new(times))
}

/// Measured times, shortest first.
#[derive(Debug, Clone, Default)]
pub(crate) struct Times(Vec<Duration>);

impl Times {
    pub(crate) fn new(mut times: Vec<Duration>) -> Self {
        times.sort_unstable();
        Self(times)
    }

    /// Returns how many there are.
    pub(crate) fn count(&self) -> usize {
        self.0.len()
    }

    /// Returns the time that so many of a hundred did not exceed.
    pub(crate) fn percentile(&self, percent: usize) -> Duration {
        let last = self.0.len().saturating_sub(1);
        self.0.get(last * percent / 100).copied().unwrap_or_default()
    }
}

/// Writes a time in milliseconds.
pub(crate) fn millis(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1000.0)
}

/// Writes a longer time in seconds.
pub(crate) fn seconds(time: Duration) -> String {
    format!("{:.0} s", time.as_secs_f64())
}

/// Joins so many agents.
pub(crate) fn join_all(home: &Home, count: usize) -> Vec<String> {
    home.join();
    let mut wire = home.wire();
    (0..count)
        .map(|_| wire.join("patient", "/prove").to_string())
        .collect()
}

/// Lets agents ask and be answered while `meanwhile` runs, and returns how long each whole round took.
///
/// Every reply is checked: an answer that is not the one given is a panic.
pub(crate) fn under_load<T>(home: &Home, agents: &[String], meanwhile: impl FnOnce() -> T) -> (T, Times) {
    let stop = AtomicBool::new(false);
    let number = AtomicU64::new(0);
    let socket = home.socket();
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..)
            .zip(agents)
            .map(|(seed, agent)| {
                let (stop, number, socket) = (&stop, &number, &socket);
                scope.spawn(move || ask_until(stop, number, socket, agent, Random::new(seed)))
            })
            .collect();
        let done = meanwhile();
        stop.store(true, Ordering::Relaxed);
        let mut times = Vec::new();
        for thread in threads {
            times.append(
                &mut thread
                    .join()
                    .unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            );
        }
        (done, Times::new(times))
    })
}

fn ask_until(
    stop: &AtomicBool,
    number: &AtomicU64,
    socket: &Path,
    agent: &str,
    mut random: Random,
) -> Vec<Duration> {
    let connect = || Wire::connect(socket).unwrap_or_else(|| panic!("a good client cannot connect"));
    let (mut client, mut human) = (connect(), connect());
    let mut times = Vec::new();
    while !stop.load(Ordering::Relaxed) {
        let number = number.fetch_add(1, Ordering::Relaxed);
        let started = Instant::now();
        one_round(&mut client, &mut human, agent, number);
        times.push(started.elapsed());
        let spare = random.below(u64::try_from((REST_MAX - REST_MIN).as_micros()).unwrap_or(u64::MAX));
        std::thread::sleep(REST_MIN + Duration::from_micros(spare));
    }
    times
}

/// Asks, answers, hears and acknowledges.
pub(crate) fn one_round(client: &mut Wire, human: &mut Wire, agent: &str, number: u64) {
    let cue = match client.call(&ask(agent, &format!("{agent}: question {number}?"))) {
        Some(Reply::Asked(asked)) => asked.cue_id,
        other => panic!("not asked: {other:?}"),
    };
    let text = format!("answer {number}");
    match human.call(&answer(cue.as_str(), &text)) {
        Some(Reply::Decided(_)) => {}
        other => panic!("not decided: {other:?}"),
    }
    match client.hear() {
        Some(Reply::Outcome(told)) if told.text == text && told.cue_id == cue => {}
        other => panic!("not the answer {text:?}: {other:?}"),
    }
    match client.call(&ack(cue)) {
        Some(Reply::Acked(_)) => {}
        other => panic!("not acknowledged: {other:?}"),
    }
}
