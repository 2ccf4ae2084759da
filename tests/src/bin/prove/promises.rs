//! Machine and store without a process: orders at random, what they were promised, and whether the disk kept it.
//!
//! This is R0 for the tests that need a thousand brokers a second: the same judgement as the ledger's, in memory.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use cueme_broker::engine::{Core, Order, Work};
use cueme_rules::{Now, Ticket};
use cueme_store::StoreError;
use cueme_store_sqlite::{LogCheckpointer, SqliteStorage, SqliteStore, Synchronous};
use cueme_tests::Random;
use protocol_spec::answer::Answer;
use protocol_spec::id::{AgentId, CueId, RequestId};
use protocol_spec::message::Reply;
use protocol_spec::outcome::{Kind, Origin};
use protocol_spec::time::Timestamp;
use rusqlite::{Connection, OpenFlags};
use uuid::Uuid;

/// A moment to begin with, in milliseconds.
const BEGINNING_MS: i64 = 1_800_000_000_000;

/// The promises that callers got.
#[derive(Debug, Clone, Default)]
pub(crate) struct Promises {
    asked: BTreeMap<CueId, String>,
    answered: BTreeMap<CueId, String>,
    settled: BTreeSet<CueId>,
}

impl Promises {
    /// Returns how much was promised.
    pub(crate) fn count(&self) -> usize {
        self.asked.len() + self.answered.len() + self.settled.len()
    }

    /// Holds the promises against a database; returns what was broken.
    pub(crate) fn broken(&self, database: &Path) -> Result<Vec<String>, rusqlite::Error> {
        let connection = Connection::open_with_flags(database, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        let verdict: String = connection.query_row("PRAGMA integrity_check", [], |row| row.get(0))?;
        let mut broken = Vec::new();
        if verdict != "ok" {
            broken.push(format!("I6: {verdict}"));
        }
        let mut statement = connection.prepare(
            "SELECT cue_id, prompt, text, delivery FROM cues JOIN questions USING (seq) LEFT JOIN decisions USING (seq)",
        )?;
        let mut rows = statement.query([])?;
        let mut stored: BTreeMap<String, (String, Option<String>, i64)> = BTreeMap::new();
        while let Some(row) = rows.next()? {
            stored.insert(row.get(0)?, (row.get(1)?, row.get(2)?, row.get(3)?));
        }
        for (cue, prompt) in &self.asked {
            if stored.get(cue.as_str()).map(|(asked, _, _)| asked) != Some(prompt) {
                broken.push(format!("I1: {cue} was confirmed and is gone"));
            }
        }
        for (cue, text) in &self.answered {
            if stored.get(cue.as_str()).and_then(|(_, text, _)| text.as_ref()) != Some(text) {
                broken.push(format!("I2: the answer to {cue} was accepted and is gone"));
            }
        }
        for cue in &self.settled {
            if stored.get(cue.as_str()).map(|(_, _, delivery)| *delivery) != Some(2) {
                broken.push(format!("{cue} was acknowledged and is not"));
            }
        }
        Ok(broken)
    }
}

/// A broker without a process.
#[derive(Debug)]
pub(crate) struct Little {
    core: Core,
    random: Random,
    now_ms: u64,
    tickets: u64,
    agents: Vec<AgentId>,
    /// Questions that are open, as far as anybody was told.
    open: Vec<CueId>,
    handed: Vec<CueId>,
    /// The promises so far.
    pub(crate) promises: Promises,
}

impl Little {
    /// Opens a database; `was_clean` says that it need not be checked.
    pub(crate) fn open(
        database: PathBuf,
        synchronous: Synchronous,
        was_clean: bool,
        mut random: Random,
    ) -> Result<Self, StoreError> {
        let mut ids = random.fork();
        let core = Core::open(
            Box::new(SqliteStorage::at(&database, synchronous)),
            was_clean,
            moment(0),
            Box::new(move || ids.next_number()),
        )?;
        Ok(Self {
            core,
            random,
            now_ms: 0,
            tickets: 0,
            agents: Vec::new(),
            open: Vec::new(),
            handed: Vec::new(),
            promises: Promises::default(),
        })
    }

    /// Registers agents; a store that cannot is a panic.
    pub(crate) fn join(&mut self, count: usize) -> Vec<AgentId> {
        for _ in 0..count {
            let work = Work::Join {
                runtime: "terminal".parse().unwrap_or_else(|_| panic!("a runtime")),
                project_dir: "/prove".into(),
                terminal: "sh".into(),
                session: None,
            };
            match self.one(work).pop() {
                Some(Reply::Joined(joined)) => self.agents.push(joined.agent_id),
                other => panic!("not joined: {other:?}"),
            }
        }
        self.agents.clone()
    }

    /// Speaks for agents that joined before.
    pub(crate) fn speak_for(&mut self, agents: &[AgentId]) {
        self.agents = agents.to_vec();
    }

    /// Does something at random, with what else comes at the same moment; returns how many orders failed.
    pub(crate) fn step(&mut self) -> usize {
        self.now_ms += 1 + self.random.below(50);
        if self.random.below(8) == 0 {
            // Checkpointer the log in and indexing happen between orders.
            self.core.index_some();
        }
        if self.random.below(6) == 0
            && let Some(store) = sqlite(&self.core)
        {
            // A checkpoint that fails is tried again by the next one, here and there.
            let _ = match self.random.below(3) {
                0 => store.checkpoint(),
                1 => store.checkpoint_rest(),
                _ => LogCheckpointer::open(store.path()).and_then(|checkpointer| checkpointer.checkpoint()),
            };
        }
        let mut works = Vec::new();
        for _ in 0..=self.random.below(6) {
            works.push(self.any_work());
        }
        self.carry_out(works)
    }

    /// Asks one question of an agent, and returns what was said to it.
    pub(crate) fn ask(&mut self, agent: &AgentId, prompt: &str) -> Vec<Reply> {
        let work = Work::ask(agent.clone(), Kind::Cue, prompt.to_owned(), None, Origin::Agent);
        self.one(work)
    }

    /// Answers a question with a text, and returns what was said to the human.
    pub(crate) fn answer(&mut self, cue: CueId, text: &str) -> Vec<Reply> {
        self.one(answer(cue, text))
    }

    /// Runs a checkpoint of the write-ahead log.
    pub(crate) fn checkpoint_log(&self) {
        let folded = sqlite(&self.core).map(SqliteStore::checkpoint);
        assert!(matches!(folded, Some(Ok(()))), "{folded:?}");
    }

    /// Carries out one order, and returns what was said to its caller.
    pub(crate) fn one(&mut self, work: Work) -> Vec<Reply> {
        let ticket = self.ticket();
        let order = Order {
            ticket,
            request: self.request(),
            work,
        };
        let spoken = self.core.carry_out(moment(self.now_ms), [order]);
        let replies = spoken.replies.into_iter();
        replies
            .filter(|(to, _)| *to == ticket)
            .map(|(_, reply)| *reply)
            .collect()
    }

    fn any_work(&mut self) -> (Work, Option<(CueId, String)>) {
        let number = self.random.next_number();
        match self.random.below(10) {
            0..4 => {
                let agent = self.agents[self.random.index(self.agents.len())].clone();
                let filler = "x".repeat(self.random.index(3000));
                let prompt = format!("question {number:x} {filler}");
                (Work::ask(agent, Kind::Cue, prompt, None, Origin::Agent), None)
            }
            4..8 if !self.open.is_empty() => {
                let cue = self.open.swap_remove(self.random.index(self.open.len()));
                let text = format!("answer {number:x} {}", "y".repeat(self.random.index(500)));
                (answer(cue, &text), Some((cue, text)))
            }
            _ if !self.handed.is_empty() => {
                let cue = self.handed.swap_remove(self.random.index(self.handed.len()));
                let work = Work::Ack {
                    cues: vec![cue],
                    nonce: None,
                };
                (work, None)
            }
            _ => (Work::HumanSeen, None),
        }
    }

    /// Carries out orders together, and notes what was promised; returns how many failed.
    fn carry_out(&mut self, works: Vec<(Work, Option<(CueId, String)>)>) -> usize {
        let mut prompts = BTreeMap::new();
        let mut answers = BTreeMap::new();
        let mut acks = BTreeMap::new();
        let mut orders = Vec::new();
        for (work, answered) in works {
            let ticket = self.ticket();
            if let Work::Ask { prompt, .. } = &work {
                prompts.insert(ticket, prompt.to_string());
            }
            if let Work::Ack { cues, .. } = &work {
                acks.insert(ticket, cues.clone());
            }
            if let Some(answered) = answered {
                answers.insert(ticket, answered);
            }
            let request = self.request();
            orders.push(Order {
                ticket,
                request,
                work,
            });
        }
        let spoken = self.core.carry_out(moment(self.now_ms), orders);
        let mut failed = 0;
        for (ticket, reply) in spoken.replies {
            match *reply {
                Reply::Asked(asked) => {
                    if let Some(prompt) = prompts.remove(&ticket) {
                        self.promises.asked.insert(asked.cue_id, prompt);
                        self.open.push(asked.cue_id);
                    }
                }
                Reply::Decided(decided) => {
                    if let Some((cue, text)) = answers.remove(&ticket) {
                        assert_eq!(cue, decided.cue_id);
                        self.promises.answered.insert(cue, text);
                    }
                }
                Reply::Outcome(told) => self.handed.push(told.cue_id),
                Reply::Mailbox(mailbox) => {
                    if let Some(prompt) = prompts.remove(&ticket) {
                        self.promises.asked.insert(mailbox.cue_id, prompt);
                    }
                    self.handed.extend(mailbox.earlier.iter().map(|told| told.cue_id));
                }
                Reply::Acked(acked) => self.promises.settled.extend(acked.cue_ids),
                Reply::Error(_) => failed += 1,
                _ => {}
            }
        }
        failed
    }

    fn ticket(&mut self) -> Ticket {
        self.tickets += 1;
        Ticket(self.tickets)
    }

    fn request(&mut self) -> RequestId {
        RequestId(Uuid::from_u64_pair(
            self.random.next_number(),
            self.random.next_number(),
        ))
    }
}

fn answer(cue: CueId, text: &str) -> Work {
    Work::Answer {
        cue,
        answer: Answer {
            text: Some(text.to_owned()),
            ..Answer::default()
        },
        by: None,
        hold_ms: 0,
    }
}

/// Returns a moment this long after the beginning.
pub(crate) fn moment(after_ms: u64) -> Now {
    Now {
        wall: Timestamp::from_millis(BEGINNING_MS.saturating_add_unsigned(after_ms)),
        steady: after_ms,
    }
}

/// Returns the connection that the engine writes on.
fn sqlite(core: &Core) -> Option<&SqliteStore> {
    let store: &dyn std::any::Any = core.store()?;
    store.downcast_ref()
}
