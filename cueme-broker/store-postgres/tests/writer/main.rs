//! The engine's side of the store, on a real server: transactions of several brokers, commits in doubt, leases, start-up.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod doubt;
mod leases;
mod listening;
mod opening;
mod reads;
mod sharing;
mod tls;

use cueme_rules::{Change, ContentKey, Now};
use cueme_store::{BatchId, Foreign, Storage, Store, StoreError};
use cueme_store_postgres::PostgresStorage;
use cueme_test_kit::postgres::Server;
use protocol_spec::id::{AgentId, CueId};
use protocol_spec::message::EventKind;
use protocol_spec::outcome::{Kind, Origin};
use protocol_spec::time::Timestamp;

const NOW: Now = Now {
    wall: Timestamp::from_millis(1_800_000_000_000),
    steady: 0,
};

/// Describes a database of which no test here makes a backup.
fn storage_at(url: &str) -> Result<PostgresStorage, StoreError> {
    PostgresStorage::at(url, |_, _| unreachable!("a backup"))
}

/// A broker's store, without an engine.
struct Broker {
    storage: PostgresStorage,
    store: Box<dyn Store>,
    batches: u64,
}

impl Broker {
    fn open(url: &str) -> Self {
        let mut storage = storage_at(url).unwrap();
        let store = storage.open(true).unwrap();
        store.load(NOW).unwrap();
        Self {
            storage,
            store,
            batches: 0,
        }
    }

    /// Opens the store again, as the engine does after a failure.
    fn reopen(&mut self) {
        self.store = self.storage.open(true).unwrap();
        self.store.load(NOW).unwrap();
    }

    /// Runs a transaction, and returns the changes of others before it.
    fn transact(&mut self, work: impl FnOnce(&dyn Store)) -> Foreign {
        let foreign = self.store.begin().unwrap();
        work(&*self.store);
        self.batches += 1;
        self.store.commit(BatchId(self.batches)).unwrap();
        foreign
    }

    fn join(&mut self, agent: &AgentId) -> Foreign {
        self.transact(|store| join(store, agent))
    }

    fn ask(&mut self, agent: &AgentId, cue: CueId) -> Foreign {
        self.transact(|store| ask(store, agent, cue))
    }

    /// Looks, and changes nothing.
    fn look(&mut self) -> Foreign {
        self.transact(|_| {})
    }
}

fn server() -> Option<&'static Server> {
    Server::start()
}

fn agent(number: u32) -> AgentId {
    format!("agent-{number}").parse().unwrap()
}

fn cue(number: u64) -> CueId {
    CueId::from_random(number)
}

fn join(store: &dyn Store, agent: &AgentId) {
    let change = Change::AddAgent {
        agent: agent.clone(),
        runtime: "terminal".parse().unwrap(),
        project_dir: "/p".into(),
        terminal: "sh".into(),
        session: None,
    };
    store.apply(NOW.wall, &change).unwrap();
    store.log(NOW.wall, EventKind::Joined, agent, None).unwrap();
}

fn ask(store: &dyn Store, agent: &AgentId, cue: CueId) {
    let change = Change::AddCue {
        cue,
        agent: agent.clone(),
        kind: Kind::Cue,
        origin: Origin::Agent,
        prompt: "Which port?".into(),
        payload: None,
        content: ContentKey([7; 32]),
    };
    store.apply(NOW.wall, &change).unwrap();
    store.log(NOW.wall, EventKind::Asked, agent, Some(cue)).unwrap();
}

fn ids(foreign: &Foreign) -> Vec<i64> {
    foreign.events.iter().filter_map(|event| event.id).collect()
}
