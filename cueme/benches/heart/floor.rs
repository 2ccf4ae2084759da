//! What the machine can do at all: a round trip over a local socket, and a durable commit.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

use cueme_broker::machine::Change;
use cueme_broker::store::{Store, Synchronous};
use protocol_spec::id::AgentId;
use protocol_spec::time::Timestamp;

/// A peer that sends every byte back.
pub(crate) struct Echo {
    stream: UnixStream,
}

impl Echo {
    pub(crate) fn start() -> Self {
        let (stream, mut other) = UnixStream::pair().expect("a pair of sockets");
        std::thread::spawn(move || {
            let mut byte = [0; 256];
            while let Ok(count @ 1..) = other.read(&mut byte) {
                if other.write_all(&byte[..count]).is_err() {
                    break;
                }
            }
        });
        Self { stream }
    }

    pub(crate) fn round_trip(&mut self) -> Duration {
        let started = Instant::now();
        self.stream.write_all(&[1; 64]).expect("an echo");
        let mut back = [0; 64];
        self.stream.read_exact(&mut back).expect("an echo");
        started.elapsed()
    }
}

/// A store whose commits wait for the disk.
pub(crate) struct Disk {
    store: Store,
    agents: u32,
}

impl Disk {
    pub(crate) fn open(directory: &Path) -> Self {
        let store = Store::open(&directory.join("floor.db"), Synchronous::Full, true).expect("a store");
        Self { store, agents: 0 }
    }

    /// Commits one small row.
    pub(crate) fn commit(&mut self) -> Duration {
        self.agents += 1;
        let change = Change::AddAgent {
            agent: AgentId::from_random(self.agents),
            runtime: "terminal".parse().expect("a tag"),
            project_dir: "/".into(),
            terminal: "bash".into(),
            session: None,
        };
        let started = Instant::now();
        self.store.begin().expect("a transaction");
        self.store
            .apply(Timestamp::from_millis(0), &change)
            .expect("a row");
        self.store.commit().expect("a commit");
        started.elapsed()
    }
}
