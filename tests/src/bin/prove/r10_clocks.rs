//! R10: somebody sets the wall clock, a day forward, a day back, ten years on, to 1970.

use std::collections::BTreeMap;

use cueme_broker::engine::{Core, Order, Work};
use cueme_rules::{Now, Ticket};
use cueme_store::{HistoryQuery, QuestionReads};
use cueme_store_sqlite::{SqliteReader, SqliteStorage, Synchronous};
use protocol_spec::answer::Answer;
use protocol_spec::id::{CueId, RequestId};
use protocol_spec::message::Reply;
use protocol_spec::outcome::{Kind, Origin};
use protocol_spec::time::Timestamp;
use uuid::Uuid;

use crate::raw::{Image, Plan, SimDisk};
use crate::trial::{NotRun, Trial};

const DAY_MS: i64 = 24 * 60 * 60 * 1000;
/// The times that the clock is set to, in turns: before, after, far after, and where it begins.
const WALLS: [i64; 5] = [
    1_800_000_000_000,
    1_800_000_000_000 + DAY_MS,
    1_800_000_000_000 - DAY_MS,
    1_800_000_000_000 + 3650 * DAY_MS,
    0,
];
/// The tolerance of all times, in milliseconds, late or early.
const OFF_MS_MAX: u64 = 1000;
/// The number of questions that stay open, to be listed.
const OPEN: usize = 20;
/// The longest time an answer is held back here, in milliseconds.
const HOLD_MS_MAX: u64 = 60_000;

/// Times answers that are held back while the clock jumps.
pub(crate) fn run(trial: &mut Trial) -> Result<(), NotRun> {
    let waits = trial.size(1_000, 10_000, 10_000);
    let directory = tempfile::tempdir().map_err(|error| NotRun(error.to_string()))?;
    let _disk = SimDisk::insert(directory.path(), &Image::new(), Plan::Sound);
    let mut ids = trial.random.fork();
    let core = Core::open(
        Box::new(SqliteStorage::at(
            &directory.path().join("cueme.db"),
            Synchronous::Normal,
        )),
        true,
        now(0, 0),
        Box::new(move || ids.next_number()),
    );
    let mut town = Town {
        core: core.unwrap_or_else(|error| panic!("{error}")),
        steady: 0,
        tickets: 0,
        due: BTreeMap::new(),
        order: Vec::new(),
    };
    let agent = town.join(trial);
    let mut done = 0;
    while done < waits || !town.due.is_empty() {
        if done < waits && (town.due.len() < 100 || trial.random.below(2) == 0) {
            town.hold(trial, &agent, done);
            done += 1;
            trial.progress(done, waits);
        }
        town.pass(trial);
    }
    let open: Vec<CueId> = (0..OPEN)
        .map(|number| town.ask(trial, &agent, &format!("open {number}")).1)
        .collect();
    town.judge_order(trial, &directory.path().join("cueme.db"), &open);
    crate::set_clock::run(trial);
    trial.figure("timed waits", waits);
    trial.figure("places of the clock", WALLS.len());
    Ok(())
}

struct Town {
    core: Core,
    steady: u64,
    tickets: u64,
    /// When the answer each caller waits for is due.
    due: BTreeMap<Ticket, u64>,
    order: Vec<CueId>,
}

fn now(steady: u64, place: usize) -> Now {
    Now {
        wall: Timestamp::from_millis(WALLS[place].saturating_add_unsigned(steady)),
        steady,
    }
}

impl Town {
    fn say(&mut self, trial: &mut Trial, work: Work) -> (Ticket, Vec<(Ticket, Box<Reply>)>) {
        self.tickets += 1;
        let ticket = Ticket(self.tickets);
        let request = RequestId(Uuid::from_u64_pair(
            trial.random.next_number(),
            trial.random.next_number(),
        ));
        let now = now(self.steady, trial.random.index(WALLS.len()));
        let spoken = self.core.carry_out(
            now,
            [Order {
                ticket,
                request,
                work,
            }],
        );
        (ticket, spoken.replies)
    }

    fn join(&mut self, trial: &mut Trial) -> protocol_spec::id::AgentId {
        let work = Work::Join {
            runtime: "terminal".parse().unwrap_or_else(|_| panic!("a runtime")),
            project_dir: "/prove".into(),
            terminal: "sh".into(),
            session: None,
        };
        match self.say(trial, work).1.pop().map(|(_, reply)| *reply) {
            Some(Reply::Joined(joined)) => joined.agent_id,
            other => panic!("not joined: {other:?}"),
        }
    }

    /// Asks; returns who waits, and for what.
    fn ask(&mut self, trial: &mut Trial, agent: &protocol_spec::id::AgentId, words: &str) -> (Ticket, CueId) {
        let (waiter, replies) = self.say(
            trial,
            Work::ask(agent.clone(), Kind::Cue, words.to_owned(), None, Origin::Agent),
        );
        let Some(Reply::Asked(asked)) = replies.first().map(|(_, reply)| &**reply) else {
            panic!("not asked: {replies:?}");
        };
        self.order.push(asked.cue_id);
        (waiter, asked.cue_id)
    }

    /// Asks, and answers with time to take it back.
    fn hold(&mut self, trial: &mut Trial, agent: &protocol_spec::id::AgentId, number: u64) {
        let (waiter, cue) = self.ask(trial, agent, &format!("question {number}"));
        let hold_ms = 1 + trial.random.below(HOLD_MS_MAX);
        let work = Work::Answer {
            cue,
            answer: Answer {
                text: Some(format!("answer {number}")),
                ..Answer::default()
            },
            by: None,
            hold_ms,
        };
        let (_, replies) = self.say(trial, work);
        for (to, reply) in &replies {
            trial.check(*to != waiter, || {
                format!("an answer that is held came at once: {reply:?}")
            });
        }
        self.due.insert(waiter, self.steady + hold_ms);
    }

    /// Lets time pass until something is due, or less.
    fn pass(&mut self, trial: &mut Trial) {
        let due = self.core.machine().next_due().unwrap_or(self.steady + 1);
        let some = self.steady + 1 + trial.random.below(500);
        self.steady = if trial.random.below(3) == 0 {
            some.min(due.max(self.steady))
        } else {
            due.max(self.steady)
        };
        let (_, replies) = self.say(trial, Work::Tick);
        let mut heard = Vec::new();
        for (to, reply) in replies {
            if let Reply::Outcome(told) = *reply {
                heard.push(told.cue_id);
                let due = self.due.remove(&to).unwrap_or(u64::MAX);
                trial.check(due <= self.steady, || {
                    format!("{} came {} ms early", told.cue_id, due - self.steady)
                });
            }
        }
        let late: Vec<Ticket> = self
            .due
            .iter()
            .filter(|(_, due)| **due + OFF_MS_MAX < self.steady)
            .map(|(ticket, _)| *ticket)
            .collect();
        for ticket in late {
            self.due.remove(&ticket);
            trial.violation(format!("the answer for {ticket:?} is late"));
        }
        if !heard.is_empty() {
            let work = Work::Ack {
                cues: heard,
                nonce: None,
            };
            self.say(trial, work);
        }
    }

    /// The product lists by age what was asked, newest first, and what is open, oldest first: in the order it was asked
    /// in, whatever the clock said.
    fn judge_order(&self, trial: &mut Trial, database: &std::path::Path, open: &[CueId]) {
        let reader = SqliteReader::new(database);
        let mut listed = Vec::new();
        let query = HistoryQuery {
            limit: u32::MAX - 1,
            ..HistoryQuery::default()
        };
        let read = reader.history(&query, &mut |cue| {
            listed.push(cue.cue_id);
            true
        });
        listed.reverse();
        trial.check(read.is_ok() && listed == self.order, || {
            format!("the order of the history changed: {read:?}")
        });
        let mut waiting = Vec::new();
        let read = reader.inbox(&mut |cue| {
            waiting.push(cue.cue_id);
            true
        });
        trial.check(read.is_ok() && waiting == open, || {
            format!("the order of the inbox changed: {read:?}, {waiting:?} instead of {open:?}")
        });
    }
}
