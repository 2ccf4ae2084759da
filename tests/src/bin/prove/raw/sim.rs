//! A disk in memory that forgets what was not synced when its power is cut, and fails when it is told to.
//!
//! Written data is kept in sectors. A sync makes the sectors of a file durable; when the power is cut, each sector
//! written since its last sync survives or not by chance, independently of the others, as in the caches of real disks.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use cueme_tests::Random;
use rusqlite::ffi;

use super::vfs;

/// The size of an atomic write, in bytes.
const SECTOR: usize = 512;

/// Files by name, as they are on the platter.
pub(crate) type Image = HashMap<String, Vec<u8>>;

/// The fault that the disk is to have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Plan {
    /// Nothing.
    Sound,
    /// Loses power at this operation.
    CutAt(u64),
    /// Loses power at this operation, and has only said that it synced until then.
    LiesAndIsCutAt(u64),
    /// Fails at this operation, once.
    FailsAt(u64, Fault),
}

/// The failure of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The device does not work.
    Io,
    /// There is no space.
    Full,
    /// Half of it was written.
    Short,
}

/// A simulated disk, in the place of one directory.
#[derive(Debug)]
pub(crate) struct SimDisk {
    directory: PathBuf,
    state: Arc<Mutex<State>>,
}

#[derive(Debug)]
pub(super) struct State {
    files: HashMap<String, Content>,
    /// Memory shared between connections, by file; in units that are aligned as SQLite needs it.
    pub(super) shared: HashMap<String, Vec<Box<[u64]>>>,
    /// The lock of each open file, by its name and its own number.
    locks: HashMap<(String, u64), i32>,
    plan: Plan,
    operations: u64,
    has_power: bool,
}

#[derive(Debug, Clone, Default)]
struct Content {
    now: Vec<u8>,
    durable: Vec<u8>,
    /// Sectors written since the last sync.
    dirty: BTreeSet<usize>,
    /// Whether it was cut off since then: what is written behind that later does not say all that changed.
    is_cut_off: bool,
}

impl SimDisk {
    /// Puts a disk in the place of a directory, which must exist.
    pub(crate) fn insert(directory: &Path, image: &Image, plan: Plan) -> Self {
        vfs::register();
        let files = image
            .iter()
            .map(|(name, bytes)| {
                let content = Content {
                    now: bytes.clone(),
                    durable: bytes.clone(),
                    ..Content::default()
                };
                (name.clone(), content)
            })
            .collect();
        let state = Arc::new(Mutex::new(State {
            files,
            shared: HashMap::new(),
            locks: HashMap::new(),
            plan,
            operations: 0,
            has_power: true,
        }));
        registry().insert(directory.to_owned(), Arc::clone(&state));
        Self {
            directory: directory.to_owned(),
            state,
        }
    }

    /// Returns how many operations there were that change something.
    pub(crate) fn operations(&self) -> u64 {
        locked(&self.state).operations
    }

    /// Says whether the disk still works.
    pub(crate) fn has_power(&self) -> bool {
        locked(&self.state).has_power
    }

    /// Cuts the power, if it is not cut, and returns what survived.
    pub(crate) fn cut(&self, random: &mut Random) -> Image {
        let mut state = locked(&self.state);
        state.has_power = false;
        let mut names: Vec<&String> = state.files.keys().collect();
        names.sort();
        names
            .into_iter()
            .map(|name| (name.clone(), state.files[name].survive(random)))
            .collect()
    }

    /// Returns what is on it now, as if everything had been synced.
    pub(crate) fn contents(&self) -> Image {
        let state = locked(&self.state);
        let files = state.files.iter();
        files
            .map(|(name, content)| (name.clone(), content.now.clone()))
            .collect()
    }

    /// Returns how much memory the contents take: it is no memory of the program that writes them.
    pub(crate) fn held_bytes(&self) -> isize {
        let state = locked(&self.state);
        let files = state.files.values().map(Content::held_bytes);
        let shared = state.shared.values().flatten().map(|unit| size_of_val(&**unit));
        isize::try_from(files.chain(shared).sum::<usize>()).unwrap_or(isize::MAX)
    }
}

impl Drop for SimDisk {
    fn drop(&mut self) {
        registry().remove(&self.directory);
    }
}

type Registry = HashMap<PathBuf, Arc<Mutex<State>>>;

fn registry() -> MutexGuard<'static, Registry> {
    static DISKS: OnceLock<Mutex<Registry>> = OnceLock::new();
    locked(DISKS.get_or_init(Mutex::default))
}

/// Returns the simulated disk a path is on, and the file's name there.
pub(super) fn find(path: &str) -> Option<(Arc<Mutex<State>>, String)> {
    let path = Path::new(path);
    let name = path.file_name()?.to_str()?.to_owned();
    let disk = registry().get(path.parent()?).cloned()?;
    Some((disk, name))
}

pub(super) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Content {
    fn held_bytes(&self) -> usize {
        self.now.capacity() + self.durable.capacity()
    }

    fn write(&mut self, bytes: &[u8], offset: usize) {
        let end = offset + bytes.len();
        if self.now.len() < end {
            self.now.resize(end, 0);
        }
        self.now[offset..end].copy_from_slice(bytes);
        self.dirty.extend(offset / SECTOR..end.div_ceil(SECTOR));
    }

    fn truncate(&mut self, size: usize) {
        self.is_cut_off |= size < self.now.len();
        self.now.resize(size, 0);
    }

    fn sync(&mut self) {
        if std::mem::take(&mut self.is_cut_off) {
            self.durable.clone_from(&self.now);
            self.dirty.clear();
            return;
        }
        self.durable.resize(self.now.len(), 0);
        for sector in std::mem::take(&mut self.dirty) {
            let begin = sector * SECTOR;
            let end = (begin + SECTOR).min(self.now.len());
            self.durable[begin..end].copy_from_slice(&self.now[begin..end]);
        }
    }

    /// Returns what is left when the power goes now.
    fn survive(&self, random: &mut Random) -> Vec<u8> {
        let mut left = self.durable.clone();
        if self.now.len() < left.len() && random.below(2) == 0 {
            left.truncate(self.now.len());
        }
        for &sector in &self.dirty {
            if random.below(2) == 0 {
                continue;
            }
            let begin = sector * SECTOR;
            let end = (begin + SECTOR).min(self.now.len());
            if begin >= end {
                continue;
            }
            if left.len() < end {
                left.resize(end, 0);
            }
            left[begin..end].copy_from_slice(&self.now[begin..end]);
        }
        left
    }
}

impl State {
    pub(super) fn open(&mut self, name: &str, may_create: bool) -> i32 {
        if !self.has_power {
            return ffi::SQLITE_CANTOPEN;
        }
        if !self.files.contains_key(name) {
            if !may_create && !name.ends_with(".db") {
                return ffi::SQLITE_CANTOPEN;
            }
            self.files.insert(name.to_owned(), Content::default());
        }
        ffi::SQLITE_OK
    }

    /// Locks a file for one of its openers; no opener gets an exclusive lock while another holds any lock.
    pub(super) fn lock(&mut self, name: &str, opened: u64, level: i32) -> i32 {
        let is_shared = self.locks.iter().any(|((other, number), held)| {
            other == name && *number != opened && *held > ffi::SQLITE_LOCK_NONE
        });
        if level == ffi::SQLITE_LOCK_EXCLUSIVE && is_shared {
            return ffi::SQLITE_BUSY;
        }
        self.unlock(name, opened, level)
    }

    /// Sets how a file is locked.
    pub(super) fn unlock(&mut self, name: &str, opened: u64, level: i32) -> i32 {
        self.locks.insert((name.to_owned(), opened), level);
        ffi::SQLITE_OK
    }

    /// Forgets that a file was open.
    pub(super) fn close(&mut self, name: &str, opened: u64) {
        self.locks.remove(&(name.to_owned(), opened));
    }

    pub(super) fn exists(&self, name: &str) -> bool {
        self.files
            .get(name)
            .is_some_and(|content| !content.now.is_empty())
    }

    pub(super) fn size(&self, name: &str) -> usize {
        self.files.get(name).map_or(0, |content| content.now.len())
    }

    pub(super) fn delete(&mut self, name: &str) -> i32 {
        if let Err(code) = self.count(ffi::SQLITE_IOERR_DELETE) {
            return code;
        }
        self.files.remove(name);
        ffi::SQLITE_OK
    }

    /// Reads; what lies behind the end is zero, as SQLite wants it.
    pub(super) fn read(&self, name: &str, buffer: &mut [u8], offset: usize) -> i32 {
        if !self.has_power {
            return ffi::SQLITE_IOERR_READ;
        }
        let content = self.files.get(name).map_or(&[][..], |content| &content.now[..]);
        let there = content.get(offset..).unwrap_or_default();
        let count = there.len().min(buffer.len());
        buffer[..count].copy_from_slice(&there[..count]);
        buffer[count..].fill(0);
        if count < buffer.len() {
            ffi::SQLITE_IOERR_SHORT_READ
        } else {
            ffi::SQLITE_OK
        }
    }

    pub(super) fn write(&mut self, name: &str, bytes: &[u8], offset: usize) -> i32 {
        let counted = self.count(ffi::SQLITE_IOERR_WRITE);
        let content = self.files.entry(name.to_owned()).or_default();
        match counted {
            Ok(()) => {
                content.write(bytes, offset);
                ffi::SQLITE_OK
            }
            Err(code) => {
                if self.has_power && matches!(self.plan, Plan::FailsAt(_, Fault::Short)) {
                    content.write(&bytes[..bytes.len() / 2], offset);
                }
                code
            }
        }
    }

    pub(super) fn truncate(&mut self, name: &str, size: usize) -> i32 {
        if let Err(code) = self.count(ffi::SQLITE_IOERR_TRUNCATE) {
            return code;
        }
        let content = self.files.entry(name.to_owned()).or_default();
        content.truncate(size);
        ffi::SQLITE_OK
    }

    pub(super) fn sync(&mut self, name: &str) -> i32 {
        if let Err(code) = self.count(ffi::SQLITE_IOERR_FSYNC) {
            return code;
        }
        let lies = matches!(self.plan, Plan::LiesAndIsCutAt(_));
        if !lies && let Some(content) = self.files.get_mut(name) {
            content.sync();
        }
        ffi::SQLITE_OK
    }

    /// Counts an operation, and says whether it may be done.
    fn count(&mut self, code: i32) -> Result<(), i32> {
        if !self.has_power {
            return Err(code);
        }
        let number = self.operations;
        self.operations += 1;
        match self.plan {
            Plan::CutAt(at) | Plan::LiesAndIsCutAt(at) if at <= number => {
                self.has_power = false;
                Err(code)
            }
            Plan::FailsAt(at, fault) if at == number => Err(match fault {
                Fault::Full => ffi::SQLITE_FULL,
                Fault::Io | Fault::Short => code,
            }),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Changes a file at random as the disk does.
    fn change(content: &mut Content, random: &mut Random) {
        let place = random.index(4000);
        match random.below(8) {
            0 => content.truncate(place),
            1 => content.truncate(content.now.len() + place),
            _ => {
                let count = 1 + random.index(1500);
                content.write(&random.bytes(count), place);
            }
        }
    }

    #[test]
    fn what_was_synced_survives_to_the_byte_and_nothing_else() {
        let mut random = Random::new(1);
        for _ in 0..2000 {
            let mut content = Content::default();
            for _ in 0..=random.below(5) {
                for _ in 0..=random.below(5) {
                    change(&mut content, &mut random);
                }
                content.sync();
                assert!(content.survive(&mut random) == content.now);
            }
            let synced = content.now.clone();
            change(&mut content, &mut random);
            let left = content.survive(&mut random);
            for (place, byte) in left.iter().enumerate() {
                let was = synced.get(place).copied().unwrap_or(0);
                let is = content.now.get(place).copied().unwrap_or(0);
                assert!(*byte == was || *byte == is, "{place}");
            }
        }
    }
}
