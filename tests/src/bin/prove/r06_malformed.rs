//! R6: connections that say nonsense, too much, half of something or nothing, while well-behaved agents work.

use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use cueme_tests::{Home, Random, eventually, resident_kib};
use protocol_spec::frame::FRAME_BYTES_MAX;
use protocol_spec::message::encode_request;

use crate::load::{Times, join_all, millis, noise, under_load};
use crate::trial::{NotRun, Trial};
use cueme_test_kit::request::{answer, ask};

/// Well-behaved agents.
const GOOD_CLIENTS: usize = 64;
/// Bad connections begun in a second: enough to be seen, not so many that the two cores are simply used up.
const RATE_A_SECOND: u64 = 800;
/// The most slow connections at once.
const SLOW_MAX: usize = 64;
/// The broker's timeout for the end of a line.
const LINE_TIMEOUT: Duration = Duration::from_secs(30);
/// The longest delay after that timeout until a slow line must be closed.
const CLOSED_WITHIN: Duration = Duration::from_secs(5);
/// The limit on the growth of the broker's memory, in KiB.
const GROWTH_KIB_MAX: u64 = 16 * 1024;
/// The limit on the slowdown of the slowest hundredth of good rounds.
const SLOWDOWN_MAX: f64 = 2.0;

/// Sends nonsense, and watches the broker and everybody else.
pub(crate) fn run(trial: &mut Trial) -> Result<(), NotRun> {
    let total = trial.size(2_500, 100_000, 100_000);
    let oversize_every = trial.size(1_000, 5_000, 5_000);
    let home = Home::new();
    home.configure("listen = \"off\"\n");
    let agents = join_all(&home, GOOD_CLIENTS);
    let broker = home.broker_pid();
    let calm_for = Duration::from_secs(trial.size(3, 15, 15));
    let ((), _) = under_load(&home, &agents, || std::thread::sleep(calm_for / 3));
    let ((), calm) = under_load(&home, &agents, || std::thread::sleep(calm_for));
    let memory_before = resident_kib(broker);
    let mut attacker = Attacker::new(&home, trial.random.fork(), agents[0].clone());
    let socket = home.socket();
    let slow_line = trial
        .is_thorough()
        .then(|| std::thread::spawn(move || speak_slowly(&socket)));
    let (counts, attacked) = under_load(&home, &agents, || {
        let started = Instant::now();
        for number in 0..total {
            attacker.attack(number, oversize_every);
            trial.progress(number, total);
            let due = started + Duration::from_millis((number + 1) * 1000 / RATE_A_SECOND);
            std::thread::sleep(due.saturating_duration_since(Instant::now()));
        }
        attacker.count
    });
    drop(attacker);
    match slow_line.map(std::thread::JoinHandle::join) {
        Some(closed) => judge_slow_line(trial, closed.ok().flatten()),
        None => trial.leave_to_larger("a line that never ends"),
    }
    trial.check(counts.made == total, || {
        format!("only {} of {total} connections could be made", counts.made)
    });
    trial.check(counts.refused == counts.oversize && counts.oversize > 0, || {
        format!(
            "{} of {} lines beyond the limit were refused",
            counts.refused, counts.oversize
        )
    });
    let status = home.status();
    trial.check(status.pid == broker, || {
        "the broker ended and was started again".into()
    });
    let memory_after = eventually_settles(broker, memory_before);
    trial.check(memory_after <= memory_before + GROWTH_KIB_MAX, || {
        format!("the broker grew from {memory_before} to {memory_after} KiB")
    });
    let slowdown = compare(trial, &calm, &attacked);
    trial.figure("bad connections", counts.made);
    trial.figure("of them lines beyond the limit, refused", counts.refused);
    trial.figure("good rounds", calm.count() + attacked.count());
    trial.figure("p99 calm", millis(calm.percentile(99)));
    trial.figure("p99 attacked", millis(attacked.percentile(99)));
    trial.figure("ratio", format!("{slowdown:.2}"));
    trial.figure("memory", format!("{memory_before} → {memory_after} KiB"));
    Ok(())
}

fn compare(trial: &mut Trial, calm: &Times, attacked: &Times) -> f64 {
    let (before, during) = (calm.percentile(99), attacked.percentile(99));
    let slowdown = during.as_secs_f64() / before.as_secs_f64().max(f64::EPSILON);
    trial.check(slowdown <= SLOWDOWN_MAX || during <= noise(trial), || {
        format!("good clients became {slowdown:.2} times slower: {before:?} → {during:?}")
    });
    slowdown
}

/// Freed memory goes back to the system with a delay.
fn eventually_settles(broker: u32, before: u64) -> u64 {
    let deadline = Instant::now() + Duration::from_secs(5);
    eventually("memory is measured", || {
        let now = resident_kib(broker);
        (now <= before + GROWTH_KIB_MAX || Instant::now() > deadline).then_some(now)
    })
}

#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    /// Connections that were made.
    made: u64,
    /// Lines beyond the limit, and those of them that the broker closed.
    oversize: u64,
    refused: u64,
}

struct Attacker {
    socket: PathBuf,
    random: Random,
    agent: String,
    /// Connections that say one byte at a time.
    slow: Vec<UnixStream>,
    count: Counts,
}

impl Attacker {
    fn new(home: &Home, random: Random, agent: String) -> Self {
        Self {
            socket: home.socket(),
            random,
            agent,
            slow: Vec::new(),
            count: Counts::default(),
        }
    }

    fn attack(&mut self, number: u64, oversize_every: u64) {
        self.go_on_slowly();
        let Some(mut stream) = connect(&self.socket) else {
            return;
        };
        self.count.made += 1;
        if number % oversize_every == oversize_every / 2 {
            self.count.oversize += 1;
            self.count.refused += u64::from(is_refused_too_much(&mut stream));
            return;
        }
        let bytes = self.nonsense();
        // A broker that has seen enough closes before everything is written.
        let _ = stream.write_all(&bytes);
        match self.random.below(4) {
            0 => drop(stream),
            1 => {
                let _ = stream.shutdown(Shutdown::Write);
                let _ = stream.read(&mut [0; 512]);
            }
            2 if self.slow.len() < SLOW_MAX => self.slow.push(stream),
            _ => {
                let _ = stream.set_read_timeout(Some(Duration::from_millis(2)));
                let _ = stream.read(&mut [0; 512]);
            }
        }
    }

    /// Says one more byte on each slow line, and gives some up.
    fn go_on_slowly(&mut self) {
        let random = &mut self.random;
        self.slow
            .retain_mut(|stream| random.below(200) != 0 && stream.write_all(b"{").is_ok());
    }

    fn nonsense(&mut self) -> Vec<u8> {
        let length = self.random.index(2048);
        match self.random.below(10) {
            0 => self.random.bytes(length),
            1 => [self.random.bytes(length), b"\n".to_vec()].concat(),
            2 => {
                let line = self.message();
                let cut = self.random.index(line.len());
                line[..cut].to_vec()
            }
            3 => {
                let mut line = self.message();
                for _ in 0..=self.random.below(4) {
                    let place = self.random.index(line.len());
                    line[place] = self.random.next_number().to_le_bytes()[0];
                }
                line
            }
            4 => [vec![b'['; 100_000], b"\n".to_vec()].concat(),
            5 => b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n".to_vec(),
            6 => vec![b'\n'; length],
            7 => [b"\xff\xfe\x00".to_vec(), self.message()].concat(),
            8 => b"{\"v\":18446744073709551616,\"id\":0,\"op\":\"ask\",\"body\":[]}\n".repeat(4),
            _ => Vec::new(),
        }
    }

    /// Returns a message that could do something, if it were whole; never one that can disturb a good client.
    fn message(&mut self) -> Vec<u8> {
        let id = cueme_tests::Wire::mint();
        let request = if self.random.below(2) == 0 {
            ask(&self.agent, "nonsense")
        } else {
            answer("zzz-nothing", "nonsense")
        };
        encode_request(id, &request).unwrap_or_else(|error| panic!("{error}"))
    }
}

fn connect(socket: &Path) -> Option<UnixStream> {
    let stream = UnixStream::connect(socket).ok()?;
    stream.set_write_timeout(Some(Duration::from_secs(10))).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(10))).ok()?;
    Some(stream)
}

/// Writes more than a line may have; returns whether the broker closed.
fn is_refused_too_much(stream: &mut UnixStream) -> bool {
    let piece = vec![b'x'; 1024 * 1024];
    for _ in 0..=FRAME_BYTES_MAX / piece.len() {
        if let Err(error) = stream.write_all(&piece) {
            return is_closed(&error);
        }
    }
    // The broker's reply comes first, then the end of the stream.
    match stream.read_to_end(&mut Vec::new()) {
        Ok(_) => true,
        Err(error) => is_closed(&error),
    }
}

fn is_closed(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{BrokenPipe, ConnectionReset};
    matches!(error.kind(), BrokenPipe | ConnectionReset)
}

/// Says a line so slowly that it never ends; returns when the broker closed, if it did.
fn speak_slowly(socket: &Path) -> Option<Duration> {
    let mut stream = connect(socket)?;
    let started = Instant::now();
    stream.set_read_timeout(Some(Duration::from_millis(250))).ok()?;
    while started.elapsed() < 2 * LINE_TIMEOUT {
        if stream.write_all(b"x").is_err() {
            return Some(started.elapsed());
        }
        match stream.read(&mut [0; 512]) {
            Ok(0) => return Some(started.elapsed()),
            Ok(_) => {}
            Err(error) if is_closed(&error) => return Some(started.elapsed()),
            Err(_) => {}
        }
    }
    None
}

fn judge_slow_line(trial: &mut Trial, closed: Option<Duration>) {
    let limit = LINE_TIMEOUT + CLOSED_WITHIN;
    trial.check(closed.is_some_and(|after| after <= limit), || {
        format!("a line that never ends was closed after {closed:?}, not within {limit:?}")
    });
    if let Some(after) = closed {
        trial.figure("a line that never ends closed after", millis(after));
    }
}
