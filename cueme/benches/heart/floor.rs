//! The floors of this machine: a round trip over a local socket, a durable commit, a durable page.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::FileExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use cueme_rules::Change;
use cueme_store::{BatchId, Changes, Transactions};
use cueme_store_sqlite::{SqliteStore, Synchronous};
use protocol_spec::id::AgentId;
use protocol_spec::time::Timestamp;

const PAGE_BYTES: usize = 4096;
/// The number of pages that are overwritten in turn.
const PAGES: u64 = 256;

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
        exchange(&mut self.stream);
        started.elapsed()
    }
}

fn exchange(stream: &mut UnixStream) {
    stream.write_all(&[1; 64]).expect("an echo");
    let mut back = [0; 64];
    stream.read_exact(&mut back).expect("an echo");
}

/// A socket that sends back what the first one at it says.
pub(crate) struct Door {
    path: PathBuf,
}

impl Door {
    pub(crate) fn open(directory: &Path) -> Self {
        let path = directory.join("echo.sock");
        let listener = UnixListener::bind(&path).expect("a socket");
        std::thread::spawn(move || {
            for mut peer in listener.incoming().flatten() {
                let mut bytes = [0; 64];
                let _ = peer.read_exact(&mut bytes).and_then(|()| peer.write_all(&bytes));
            }
        });
        Self { path }
    }

    /// Connects, and is told what it said.
    pub(crate) fn round_trip(&self) -> Duration {
        let started = Instant::now();
        exchange(&mut UnixStream::connect(&self.path).expect("an echo"));
        started.elapsed()
    }
}

/// A store whose commits wait for the disk.
pub(crate) struct Disk {
    store: SqliteStore,
    agents: u32,
}

impl Disk {
    pub(crate) fn open(directory: &Path) -> Self {
        let store = SqliteStore::open(&directory.join("floor.db"), Synchronous::Full, true).expect("a store");
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
        self.store.commit(BatchId(1)).expect("a commit");
        started.elapsed()
    }
}

/// A file of some pages, which are overwritten in turn.
pub(crate) struct RawDisk {
    file: File,
    next: u64,
}

impl RawDisk {
    pub(crate) fn open(directory: &Path) -> Self {
        let file = OpenOptions::new()
            .create_new(true)
            .write(true)
            .open(directory.join("raw"))
            .expect("a file");
        file.write_all_at(&vec![1; PAGE_BYTES * PAGES as usize], 0)
            .and_then(|()| file.sync_all())
            .expect("its pages");
        Self { file, next: 0 }
    }

    pub(crate) fn overwrite(&mut self) -> Duration {
        self.next = (self.next + 1) % PAGES;
        let started = Instant::now();
        self.file
            .write_all_at(&[2; PAGE_BYTES], self.next * PAGE_BYTES as u64)
            .and_then(|()| self.file.sync_data())
            .expect("a page");
        started.elapsed()
    }
}
