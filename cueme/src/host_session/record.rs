//! The record of a session: one small file each.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use protocol_spec::endpoint::Places;
use protocol_spec::hex::hex;
use protocol_spec::id::AgentId;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::process_tree::{Process, is_running};

/// The most files that are read; more sessions at once are not told apart.
const RECORDS_MAX: usize = 256;
/// The largest file that is read.
const RECORD_BYTES_MAX: u64 = 64 * 1024;

/// A process that runs sessions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Host {
    pid: i32,
    started: String,
    /// The system and the process table that the pid is of.
    space: String,
}

impl Host {
    pub(super) fn of(process: &Process, space: &str) -> Self {
        Self {
            pid: process.pid,
            started: process.started.clone(),
            space: space.to_owned(),
        }
    }

    pub(super) fn is(&self, process: &Process, space: &str) -> bool {
        self.pid == process.pid && self.started == process.started && self.space == space
    }
}

/// A session that a hook told us of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Record {
    /// The tag of the runtime.
    pub(super) runtime: String,
    /// The session, as the host names it.
    pub(super) session: String,
    /// The agent of the session.
    pub(super) agent: AgentId,
    /// The folder it works in.
    pub(super) folder: PathBuf,
    /// The process that runs it; `None` where it could not be found.
    pub(super) host: Option<Host>,
}

/// Returns the name of the process table that pids are of: it changes with a reboot and differs in a container.
pub(super) fn pid_namespace() -> String {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let table = fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    format!("{} {}", boot.trim(), table.display())
}

/// Reads what is noted.
pub(super) fn all(places: &Places) -> Vec<Record> {
    files(places).iter().filter_map(|path| read(path)).collect()
}

/// Notes a session in place of what was noted of it before, and drops the sessions of hosts that have ended.
pub(super) fn write(places: &Places, record: &Record) -> std::io::Result<()> {
    let folder = folder(places);
    let path = path_of(places, &record.runtime, &record.session);
    if read(&path).as_ref() == Some(record) {
        return Ok(());
    }
    fs::create_dir_all(&folder)?;
    let mut file = tempfile::NamedTempFile::new_in(&folder)?;
    file.write_all(&serde_json::to_vec(record)?)?;
    file.persist(&path).map_err(|error| error.error)?;
    drop_ended(places, &record.host);
    Ok(())
}

/// Forgets a session.
pub(super) fn remove(places: &Places, runtime: &str, session: &str) {
    // One that is not noted is forgotten already.
    let _ = fs::remove_file(path_of(places, runtime, session));
}

fn drop_ended(places: &Places, here: &Option<Host>) {
    let Some(here) = here else { return };
    for path in files(places) {
        let has_ended = match read(&path) {
            // Pids of another process table cannot be looked up from here, but those of an earlier boot are gone.
            Some(Record { host: Some(host), .. }) if host.space == here.space => {
                !is_running(host.pid, &host.started)
            }
            Some(Record { host: Some(host), .. }) => boot_of(&host.space) != boot_of(&here.space),
            Some(Record { host: None, .. }) => false,
            None => true,
        };
        if has_ended {
            let _ = fs::remove_file(path);
        }
    }
}

fn boot_of(space: &str) -> &str {
    space.split(' ').next().unwrap_or_default()
}

fn files(places: &Places) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder(places)).into_iter().flatten().flatten();
    entries
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .take(RECORDS_MAX)
        .collect()
}

fn read(path: &Path) -> Option<Record> {
    let length = fs::metadata(path).ok()?.len();
    if length > RECORD_BYTES_MAX {
        return None;
    }
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}

fn folder(places: &Places) -> PathBuf {
    places.data_dir.join("sessions")
}

fn path_of(places: &Places, runtime: &str, session: &str) -> PathBuf {
    let digest = Sha256::digest(format!("{runtime}\n{session}"));
    let name = hex(&digest[..16]);
    folder(places).join(format!("{name}.json"))
}
