//! Agents that ask, humans that answer, and an attacker that kills them: R1 does it to one broker and R17 to several.
//!
//! Agents are real processes that run `cueme cue`; humans are connections that list and answer. A killed agent runs its
//! command again, a human whose connection is cut repeats the answer, and the next process that needs a broker starts
//! it.

use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use cueme_tests::{Client, Home, PATIENCE, Random, Run, Wire, eventually};
use protocol_spec::id::RequestId;
use protocol_spec::message::{CueView, ErrorCode, Nothing, Reply, Request};

use crate::ledger::Ledger;
use crate::trial::Trial;
use cueme_test_kit::request::answer;

/// Agents that ask at once.
pub(crate) const AGENTS: usize = 32;
/// Humans that answer at once.
pub(crate) const HUMANS: usize = 2;
/// The longest time between two kills, in milliseconds.
const PAUSE_MS: u64 = 30;
/// The number of questions that a human answers before reading the inbox again.
const ANSWERS_A_LOOK: usize = 3;
/// The pause of a human between two reads of the inbox.
const REST: Duration = Duration::from_millis(5);
/// The timeout after the last kill until all is quiet.
const DRAIN: Duration = Duration::from_secs(120);

/// The state that all agents and humans share.
pub(crate) struct Town<'a> {
    homes: &'a [Home],
    ledger: &'a Ledger,
    /// The humans' connections, to be cut.
    lines: [Mutex<Option<UnixStream>>; HUMANS],
    is_over: AtomicBool,
    answers: AtomicU64,
    pub(crate) repeats: AtomicU64,
    pub(crate) come_again: AtomicU64,
}

impl<'a> Town<'a> {
    pub(crate) fn new(homes: &'a [Home], ledger: &'a Ledger) -> Self {
        Self {
            homes,
            ledger,
            lines: [const { Mutex::new(None) }; HUMANS],
            is_over: AtomicBool::new(false),
            answers: AtomicU64::new(0),
            repeats: AtomicU64::new(0),
            come_again: AtomicU64::new(0),
        }
    }

    /// Lets agents ask and humans answer while `attack` kills somebody in each cycle; returns once everything came to rest.
    pub(crate) fn live(
        &self,
        trial: &mut Trial,
        cycles: u64,
        mut attack: impl FnMut(&mut Trial, &mut Crowd<'_>),
    ) {
        let mut crowd = Crowd::gather(self);
        std::thread::scope(|scope| {
            let humans: Vec<_> = (0..HUMANS)
                .map(|number| {
                    let mut random = trial.random.fork();
                    scope.spawn(move || Human::new(self, number).live(&mut random))
                })
                .collect();
            for cycle in 0..cycles {
                crowd.look(trial, true);
                std::thread::sleep(Duration::from_millis(trial.random.below(PAUSE_MS + 1)));
                attack(trial, &mut crowd);
                trial.progress(cycle, cycles);
            }
            crowd.drain(trial);
            self.is_over.store(true, Ordering::Relaxed);
            for human in humans {
                if let Err(panic) = human.join() {
                    std::panic::resume_unwind(panic);
                }
            }
        });
    }

    pub(crate) fn cut(&self, human: usize) {
        let line = self.lines[human].lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(line) = &*line {
            // It may be cut already.
            let _ = line.shutdown(Shutdown::Both);
        }
    }
}

/// One agent: what it asks now, and the process that waits for it.
struct Seat {
    home: usize,
    agent: String,
    words: String,
    count: u64,
    client: Option<Client>,
}

pub(crate) struct Crowd<'a> {
    town: &'a Town<'a>,
    seats: Vec<Seat>,
}

impl<'a> Crowd<'a> {
    fn gather(town: &'a Town<'a>) -> Self {
        let seats = town.homes.iter().enumerate().flat_map(|(number, home)| {
            let agents = crate::load::join_all(home, AGENTS / town.homes.len());
            agents.into_iter().map(move |agent| Seat {
                home: number,
                words: format!("{agent} asks question 0"),
                agent,
                count: 0,
                client: None,
            })
        });
        Self {
            seats: seats.collect(),
            town,
        }
    }

    /// Kills the broker of one home, or whatever brokers it has.
    pub(crate) fn kill_broker(&self, home: usize) {
        let home = &self.town.homes[home];
        home.kill_brokers(&home.brokers());
    }

    pub(crate) fn kill_agent(&mut self, seat: usize) {
        let Some(seat) = self.seats.get_mut(seat) else {
            return;
        };
        if let Some(client) = seat.client.take() {
            let run = client.kill();
            // A line that is whole was read by the agent, and may have been acknowledged too.
            if run.stdout.ends_with('\n') && run.code != Some(75) {
                self.town.note_print(&seat.words, &run.stdout);
                self.town.ledger.may_renew(&seat.words);
            }
        }
    }

    /// Checks every agent: one that has its answer asks the next question, one that is gone asks again.
    fn look(&mut self, trial: &mut Trial, asks_more: bool) {
        for seat in &mut self.seats {
            let ended = match &mut seat.client {
                Some(client) => match client.ended() {
                    Some(run) => run,
                    None => continue,
                },
                None if seat.words.is_empty() => continue,
                None => {
                    seat.ask(self.town.homes);
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
    fn ask(&mut self, homes: &[Home]) {
        self.client = Some(homes[self.home].start_cue(&self.agent, &self.words, None));
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
            // No answer came for long, or a broker could not be started in time: the same command is run again.
            Some(69 | 75) => {
                town.come_again.fetch_add(1, Ordering::Relaxed);
            }
            // The question was not taken because the store was away; nothing was promised.
            Some(74) if town.homes.len() > 1 => {
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
    /// disk, so the list is the first proof from outside.
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
                self.wire = Wire::connect(&self.town.homes[self.number % self.town.homes.len()].socket());
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
