//! From a question to the proof that it is on disk, over a connection of its own.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::FileExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::home::Home;
use crate::table::{Goal, Row, median, ratio, show};

const PAGE_BYTES: usize = 4096;
const PAGES: u64 = 256;

pub(crate) fn measure(scale: usize) -> Vec<Row> {
    let home = Home::start();
    let agent = home.connect().join();
    let directory = tempfile::tempdir().expect("a directory");
    let (mut disk, door) = (RawDisk::open(directory.path()), echo(directory.path()));
    // The broker's log has its room by then, as any that has run for a moment.
    std::thread::sleep(Duration::from_secs(2));
    let (mut ours, mut floors) = (Vec::new(), Vec::new());
    for round in 0..40 * scale {
        floors.push(disk.overwrite() + connect_and_echo(&door));
        let started = Instant::now();
        home.connect().ask(&agent, format!("question {round}"));
        ours.push(started.elapsed());
    }
    let (ours, floor) = (median(&mut ours), median(&mut floors));
    vec![Row {
        id: "P5",
        what: "one client connects, asks and is told that it is on disk, p50 ÷ overwriting 4 KiB durably + connecting to an echo",
        ours: show(ours),
        floor: show(floor),
        ratio: ratio(ours, floor),
        goal: Goal::Told,
        aim: Goal::AtMost(2.2),
    }]
}

/// A file of some pages, which are overwritten in turn.
struct RawDisk {
    file: File,
    next: u64,
}

impl RawDisk {
    fn open(directory: &Path) -> Self {
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

    fn overwrite(&mut self) -> Duration {
        self.next = (self.next + 1) % PAGES;
        let started = Instant::now();
        self.file
            .write_all_at(&[2; PAGE_BYTES], self.next * PAGE_BYTES as u64)
            .and_then(|()| self.file.sync_data())
            .expect("a page");
        started.elapsed()
    }
}

/// Serves connections that send back what they get.
fn echo(directory: &Path) -> PathBuf {
    let path = directory.join("echo.sock");
    let listener = UnixListener::bind(&path).expect("a socket");
    std::thread::spawn(move || {
        for mut peer in listener.incoming().flatten() {
            let mut bytes = [0; 64];
            let _ = peer.read_exact(&mut bytes).and_then(|()| peer.write_all(&bytes));
        }
    });
    path
}

fn connect_and_echo(door: &Path) -> Duration {
    let started = Instant::now();
    let mut stream = UnixStream::connect(door).expect("an echo");
    stream.write_all(&[1; 64]).expect("an echo");
    let mut back = [0; 64];
    stream.read_exact(&mut back).expect("an echo");
    started.elapsed()
}
