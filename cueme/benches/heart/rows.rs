//! The rows of a question's life, written straight into a store.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use cueme_rules::{Change, ContentKey};
use cueme_store::{BatchId, Changes, Transactions, Upkeep};
use cueme_store_sqlite::{SqliteStore, Synchronous};
use protocol_spec::answer::Answer;
use protocol_spec::id::{AgentId, CueId, RequestId};
use protocol_spec::message::EventKind;
use protocol_spec::outcome::{Kind, Origin, Outcome};
use protocol_spec::time::Timestamp;

pub(crate) const PROMPT: &str =
    "Shall I go on with the migration of the orders table, or wait until tonight?";
pub(crate) const ANSWER: &str = "Go on, but keep the old table until tomorrow.";

/// When the rows were written.
pub(crate) const AT: Timestamp = Timestamp::from_millis(1_790_000_000_000);

/// Writes what the broker's rules would have written, and knows no rule.
pub(crate) struct Rows {
    store: SqliteStore,
    cues: u64,
}

impl Rows {
    pub(crate) fn open(database: &Path) -> Self {
        let store = SqliteStore::open(database, Synchronous::Full, true).expect("a store");
        Self { store, cues: 0 }
    }

    /// Adds agents and returns them.
    pub(crate) fn join(&mut self, count: usize) -> Vec<AgentId> {
        let agents: Vec<AgentId> = (1..=count)
            .map(|number| AgentId::from_random((number as u32).wrapping_mul(67_867_967)))
            .collect();
        self.commit(|rows| {
            for agent in &agents {
                rows.write(Change::AddAgent {
                    agent: agent.clone(),
                    runtime: "terminal".parse().expect("a tag"),
                    project_dir: "/".into(),
                    terminal: "bash".into(),
                    session: None,
                });
            }
        });
        agents
    }

    pub(crate) fn commit(&mut self, write: impl FnOnce(&mut Self)) {
        self.store.begin().expect("a transaction");
        write(self);
        self.store.commit(BatchId(1)).expect("a commit");
    }

    pub(crate) fn ask(&mut self, request: RequestId, agent: &AgentId, prompt: &str) -> CueId {
        self.cues += 1;
        let cue = CueId::from_random(self.cues.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        self.write(Change::AddCue {
            cue,
            agent: agent.clone(),
            kind: Kind::Cue,
            origin: Origin::Agent,
            prompt: prompt.into(),
            payload: None,
            content: ContentKey([7; 32]),
        });
        self.write(Change::BindRequest { request, cue });
        self.log(EventKind::Asked, agent, cue);
        cue
    }

    pub(crate) fn decide(&mut self, request: RequestId, cue: CueId, agent: &AgentId, text: &str) {
        let answer = Answer {
            text: Some(text.into()),
            ..Answer::default()
        };
        self.write(Change::Decide {
            cue,
            outcome: Outcome::Answered,
            request,
            text: text.into(),
            reminder: Some(cueme_broker::config::DEFAULT_REMINDER.into()),
            answer: Some(Arc::new(answer)),
            redacted: None,
            by: None,
            released_at: None,
            from_queue: false,
        });
        self.write(Change::Hand { cue });
        self.log(EventKind::Answered, agent, cue);
    }

    pub(crate) fn acknowledge(&mut self, cue: CueId, agent: &AgentId) {
        self.write(Change::Acknowledge {
            cue,
            nonce: None,
            erase: false,
        });
        self.log(EventKind::Delivered, agent, cue);
    }

    /// Makes everything findable, as the broker does when it is idle.
    pub(crate) fn index(&mut self) {
        while self.store.index_some().expect("an index") {}
    }

    fn write(&self, change: Change) {
        self.store.apply(AT, &change).expect("a row");
    }

    fn log(&self, what: EventKind, agent: &AgentId, cue: CueId) {
        self.store.log(AT, what, agent, Some(cue)).expect("an event");
    }
}

/// Mints a request's key without asking the system for randomness, which is not what is measured.
pub(crate) fn mint() -> RequestId {
    static MINTED: AtomicU64 = AtomicU64::new(0);
    let mut random = [0; 10];
    random[2..].copy_from_slice(&MINTED.fetch_add(1, Ordering::Relaxed).to_be_bytes());
    let at = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    RequestId(uuid::Builder::from_unix_timestamp_millis(at.as_millis() as u64, &random).into_uuid())
}
