//! R1: whoever works for an answer is killed, again and again, at any moment.
//!
//! Agents are real processes that run `cueme cue`; humans are connections that list and answer. The victim is the
//! broker, an agent's process, a human's connection, or all of them at once. A killed agent runs its command again, a
//! cut human says the same again, and a broker is started by whoever needs it.

use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use cueme_tests::{Client, Home, PATIENCE, Random, Run, Wire, envelope, eventually};
use protocol_spec::id::RequestId;
use protocol_spec::message::{Ask, CueView, ErrorCode, Nothing, Reply, Request};
use protocol_spec::outcome::{Kind, Origin};

use crate::ledger::Ledger;
use crate::talk::answer;
use crate::trial::{NotRun, Trial};

/// Agents that ask at once.
const AGENTS: usize = 32;
/// Humans that answer at once.
const HUMANS: usize = 2;
/// The longest time between two kills, in milliseconds.
const PAUSE_MS: u64 = 30;
/// How many questions a human answers before looking again.
const ANSWERS_A_LOOK: usize = 3;
/// How long a human rests between two looks.
const REST: Duration = Duration::from_millis(5);
/// How long everything may take to come to rest after the last kill.
const DRAIN: Duration = Duration::from_secs(120);

/// Kills everybody, and judges.
pub(crate) fn run(trial: &mut Trial) -> Result<(), NotRun> {
    let cycles = trial.size(500, 10_000, 100_000);
    let home = Home::new();
    home.configure("reminder = false\nlisten = \"off\"\n");
    let ledger = Ledger::create(&home.scratch().join("ledger"));
    let town = Town::new(&home, &ledger);
    let mut crowd = Crowd::gather(&town);
    let started = Instant::now();
    let kills = std::thread::scope(|scope| {
        let humans: Vec<_> = (0..HUMANS)
            .map(|number| {
                let mut random = trial.random.fork();
                let town = &town;
                scope.spawn(move || Human::new(town, number).live(&mut random))
            })
            .collect();
        let kills = crowd.be_killed(trial, cycles);
        crowd.drain(trial);
        town.is_over.store(true, Ordering::Relaxed);
        for human in humans {
            if let Err(panic) = human.join() {
                std::panic::resume_unwind(panic);
            }
        }
        kills
    });
    let took = started.elapsed();
    killed_with_the_answer_in_hand(trial);
    home.kill_brokers(&home.brokers());
    trial.violations(ledger.judge(&home.database()));
    let totals = ledger.totals();
    trial.figure("cycles", cycles);
    trial.figure("of them broker, agent, human, all", format!("{kills:?}"));
    trial.figure(
        "cycles a minute",
        format!("{:.0}", cycles as f64 * 60.0 / took.as_secs_f64()),
    );
    trial.figure("questions", totals.acked);
    trial.figure("answers accepted", totals.accepted);
    trial.figure("prints", totals.printed);
    trial.figure("repeats", town.repeats.load(Ordering::Relaxed));
    trial.figure(
        "calls told to come again",
        town.come_again.load(Ordering::Relaxed),
    );
    trial.check(totals.accepted > 0 && totals.printed >= totals.accepted, || {
        format!("nothing happened: {totals:?}")
    });
    Ok(())
}

/// The moment that chance seldom meets: the answer is with the agent's process, which has not printed it yet.
fn killed_with_the_answer_in_hand(trial: &mut Trial) {
    const PROMPT: &str = "Whose answer is it?";
    let home = Home::new();
    home.configure("reminder = false\nlisten = \"off\"\n");
    let agent = home.join();
    let mut process = home.wire();
    let asked = process.call(&Request::Ask(Ask {
        agent_id: agent.parse().unwrap_or_else(|error| panic!("{error}")),
        kind: Kind::Cue,
        prompt: PROMPT.into(),
        payload: None,
        origin: Origin::Agent,
        nonce: None,
    }));
    let Some(Reply::Asked(asked)) = asked else {
        return trial.violation(format!("not asked: {asked:?}"));
    };
    home.ok(&["answer", asked.cue_id.as_str(), "mine"]);
    let told = process.hear();
    trial.check(matches!(told, Some(Reply::Outcome(_))), || {
        format!("not told: {told:?}")
    });
    home.kill_broker();
    drop(process);
    let mut again = home.command(&["cue", &agent, "-"]);
    again.env("CUEME_WAIT", "10s");
    let run = Client::start(&mut again, envelope(PROMPT, None).as_bytes()).finish();
    trial.check(run.stdout.ends_with("mine\n"), || {
        format!("what was in the hands of a killed process is lost: {run:?}")
    });
}

/// What everybody shares.
struct Town<'a> {
    home: &'a Home,
    ledger: &'a Ledger,
    /// The humans' connections, to be cut.
    lines: [Mutex<Option<UnixStream>>; HUMANS],
    is_over: AtomicBool,
    answers: AtomicU64,
    repeats: AtomicU64,
    come_again: AtomicU64,
}

impl<'a> Town<'a> {
    fn new(home: &'a Home, ledger: &'a Ledger) -> Self {
        Self {
            home,
            ledger,
            lines: [const { Mutex::new(None) }; HUMANS],
            is_over: AtomicBool::new(false),
            answers: AtomicU64::new(0),
            repeats: AtomicU64::new(0),
            come_again: AtomicU64::new(0),
        }
    }

    fn cut(&self, human: usize) {
        let line = self.lines[human].lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(line) = &*line {
            // It may be cut already.
            let _ = line.shutdown(Shutdown::Both);
        }
    }
}

/// One agent: what it asks now, and the process that waits for it.
struct Seat {
    agent: String,
    words: String,
    count: u64,
    client: Option<Client>,
}

struct Crowd<'a> {
    town: &'a Town<'a>,
    seats: Vec<Seat>,
}

impl<'a> Crowd<'a> {
    fn gather(town: &'a Town<'a>) -> Self {
        let seats = crate::load::join_all(town.home, AGENTS)
            .into_iter()
            .map(|agent| Seat {
                words: format!("{agent} asks question 0"),
                agent,
                count: 0,
                client: None,
            })
            .collect();
        Self { town, seats }
    }

    /// Kills somebody in each cycle; returns how many of each kind.
    fn be_killed(&mut self, trial: &mut Trial, cycles: u64) -> [u64; 4] {
        let mut kills = [0; 4];
        for cycle in 0..cycles {
            self.look(trial, true);
            std::thread::sleep(Duration::from_millis(trial.random.below(PAUSE_MS + 1)));
            match trial.random.below(100) {
                0..60 => {
                    kills[0] += 1;
                    self.kill_broker();
                }
                60..85 => {
                    kills[1] += 1;
                    let seat = trial.random.index(AGENTS);
                    self.kill_agent(seat);
                }
                85..95 => {
                    kills[2] += 1;
                    self.town.cut(trial.random.index(HUMANS));
                }
                _ => {
                    kills[3] += 1;
                    self.kill_broker();
                    (0..AGENTS).for_each(|seat| self.kill_agent(seat));
                    (0..HUMANS).for_each(|human| self.town.cut(human));
                }
            }
            trial.progress(cycle, cycles);
        }
        kills
    }

    fn kill_broker(&self) {
        self.town.home.kill_brokers(&self.town.home.brokers());
    }

    fn kill_agent(&mut self, seat: usize) {
        let seat = &mut self.seats[seat];
        if let Some(client) = seat.client.take() {
            let run = client.kill();
            // A line that is whole was read by the agent, and may have been acknowledged too.
            if run.stdout.ends_with('\n') && run.code != Some(75) {
                self.town.note_print(&seat.words, &run.stdout);
                self.town.ledger.may_renew(&seat.words);
            }
        }
    }

    /// Looks at every agent: whoever has its answer asks the next question, whoever is gone asks again.
    fn look(&mut self, trial: &mut Trial, asks_more: bool) {
        for seat in &mut self.seats {
            let ended = match &mut seat.client {
                Some(client) => match client.ended() {
                    Some(run) => run,
                    None => continue,
                },
                None if seat.words.is_empty() => continue,
                None => {
                    seat.ask(self.town.home);
                    continue;
                }
            };
            seat.client = None;
            seat.hear(trial, self.town, &ended, asks_more);
        }
    }

    /// Lets everything come to rest.
    fn drain(&mut self, trial: &mut Trial) {
        let deadline = Instant::now() + DRAIN;
        while self.seats.iter().any(|seat| !seat.words.is_empty()) {
            if Instant::now() > deadline {
                let left: Vec<&str> = self.seats.iter().map(|seat| seat.words.as_str()).collect();
                trial.violation(format!("I2: these still wait after {DRAIN:?}: {left:?}"));
                return;
            }
            self.look(trial, false);
            std::thread::sleep(REST);
        }
    }
}

impl Seat {
    fn ask(&mut self, home: &Home) {
        self.client = Some(home.start_cue(&self.agent, &self.words, None));
    }

    fn hear(&mut self, trial: &mut Trial, town: &Town<'_>, run: &Run, asks_more: bool) {
        match run.code {
            Some(0) => {
                town.note_print(&self.words, &run.stdout);
                self.count += 1;
                self.words = if asks_more {
                    format!("{} asks question {}", self.agent, self.count)
                } else {
                    String::new()
                };
            }
            // Nobody was there for long, or a broker could not be started in time: the same command goes on.
            Some(69 | 75) => {
                town.come_again.fetch_add(1, Ordering::Relaxed);
            }
            _ => trial.violation(format!("{:?} ended with {run:?}", self.words)),
        }
    }
}

impl Town<'_> {
    fn note_print(&self, words: &str, stdout: &str) {
        let mut text = stdout;
        if text.starts_with("[repeat: ")
            && let Some((_, rest)) = text.split_once("]\n")
        {
            self.repeats.fetch_add(1, Ordering::Relaxed);
            text = rest;
        }
        self.ledger.printed(words, text.trim_end_matches('\n'));
    }
}

/// One human: looks who asks, and answers until it is certain that the answer was taken or came too late.
struct Human<'a> {
    town: &'a Town<'a>,
    number: usize,
    wire: Option<Wire>,
}

impl<'a> Human<'a> {
    fn new(town: &'a Town<'a>, number: usize) -> Self {
        Self {
            town,
            number,
            wire: None,
        }
    }

    fn live(&mut self, random: &mut Random) {
        while !self.town.is_over.load(Ordering::Relaxed) {
            let Some(mut cues) = self.look() else {
                self.wire = None;
                continue;
            };
            for _ in 0..ANSWERS_A_LOOK.min(cues.len()) {
                let cue = cues.swap_remove(random.index(cues.len()));
                self.answer(&cue);
            }
            std::thread::sleep(REST);
        }
    }

    /// Returns the open questions; `None` when the line was cut.
    ///
    /// A question counts as confirmed from here on: `cueme cue` prints nothing when it is told that its question is on
    /// disk, so the first who can say so from outside is whoever sees it listed.
    fn look(&mut self) -> Option<Vec<CueView>> {
        let ledger = self.town.ledger;
        let wire = self.line()?;
        wire.send(&Request::Inbox(Nothing {}));
        let mut cues = Vec::new();
        loop {
            match wire.hear()? {
                Reply::Cue(cue) => {
                    ledger.acked(cue.cue_id.as_str(), &cue.prompt);
                    cues.push(*cue);
                }
                _ => return Some(cues),
            }
        }
    }

    fn answer(&mut self, cue: &CueView) {
        let number = self.town.answers.fetch_add(1, Ordering::Relaxed);
        let id = cue.cue_id.as_str();
        let text = format!("human {} answers {:?}: {number}", self.number, cue.prompt);
        self.town.ledger.offered(id, &text);
        let request = Wire::mint();
        let is_taken = eventually("the broker takes an answer or refuses it", || {
            self.say(request, id, &text)
        });
        if is_taken {
            self.town.ledger.accepted(id, &text);
        }
    }

    /// Says it once; `None` when it has to be said again.
    fn say(&mut self, request: RequestId, cue: &str, text: &str) -> Option<bool> {
        let Some(wire) = self.line() else {
            self.wire = None;
            return None;
        };
        wire.send_as(request, &answer(cue, text));
        match wire.hear() {
            Some(Reply::Decided(_)) => Some(true),
            Some(Reply::Error(failure)) if failure.code == ErrorCode::AlreadyDecided => Some(false),
            Some(Reply::Error(failure)) if matches!(failure.code, ErrorCode::Busy | ErrorCode::Storage) => {
                None
            }
            Some(other) => panic!("{text:?} got {other:?}"),
            None => {
                self.wire = None;
                None
            }
        }
    }

    /// Returns the connection, made anew when there is none.
    fn line(&mut self) -> Option<&mut Wire> {
        if self.wire.is_none() {
            let deadline = Instant::now() + PATIENCE;
            while self.wire.is_none() && Instant::now() < deadline {
                self.wire = Wire::connect(&self.town.home.socket());
                if self.wire.is_none() {
                    if self.town.is_over.load(Ordering::Relaxed) {
                        return None;
                    }
                    std::thread::sleep(Duration::from_millis(1));
                }
            }
            let cutter = self.wire.as_ref().and_then(Wire::cutter);
            *self.town.lines[self.number]
                .lock()
                .unwrap_or_else(PoisonError::into_inner) = cutter;
        }
        self.wire.as_mut()
    }
}
