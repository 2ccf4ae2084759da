//! Processes: sending them signals, and finding those that belong to a home.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::process::{Pid, Signal};

/// Sends a signal; a process that is gone already is no failure.
pub fn send_signal(pid: u32, signal: Signal) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        let _ = rustix::process::kill_process(pid, signal);
    }
}

/// Says whether a process runs; one that only waits to be collected does not.
pub fn is_alive(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat"));
    stat.is_ok_and(|stat| {
        let state = stat.rsplit_once(')').map(|(_, rest)| rest.trim_start());
        !state.is_some_and(|state| state.starts_with(['Z', 'X']))
    })
}

/// Returns how much memory a process has in use, in KiB; 0 when it is gone.
pub fn resident_kib(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok())
        .unwrap_or(0)
}

/// Returns the processes started with `CUEME_HOME` set to `home`.
pub(crate) fn of_home(home: &Path) -> Vec<u32> {
    processes_with("CUEME_HOME", home)
}

/// Returns the processes started with an environment variable set to a path.
pub fn processes_with(variable: &str, path: &Path) -> Vec<u32> {
    let entry: Vec<u8> = [variable.as_bytes(), b"=", path.as_os_str().as_bytes()].concat();
    pids()
        .filter(|pid| {
            let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            environment.split(|byte| *byte == 0).any(|found| found == entry)
        })
        .filter(|pid| is_alive(*pid))
        .collect()
}

/// Says whether a process is a broker, by its command line.
pub(crate) fn is_broker(pid: u32) -> bool {
    let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let words: Vec<&[u8]> = line.split(|byte| *byte == 0).collect();
    words
        .windows(2)
        .any(|pair| pair == [b"broker".as_slice(), b"run".as_slice()])
}

fn pids() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| parse(&entry.file_name()))
}

fn parse(name: &OsStr) -> Option<u32> {
    name.to_str()?.parse().ok()
}
