//! The processes that started this one, nearest first.
//!
//! Linux tells them in `/proc`; elsewhere one call of `ps` does.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// The number of ancestors that are checked.
const ANCESTORS_MAX: usize = 32;
/// The programs that only run another one.
const SHELLS: [&str; 14] = [
    "ash",
    "bash",
    "busybox",
    "cmd",
    "dash",
    "env",
    "fish",
    "ksh",
    "nu",
    "powershell",
    "pwsh",
    "sh",
    "timeout",
    "zsh",
];

/// A process that is running.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Process {
    pub(crate) pid: i32,
    /// The name it goes by, as short as the system keeps it.
    pub(crate) name: String,
    /// When it started, in the system's own words: with the pid this names a process for good.
    pub(crate) started: String,
    parent: i32,
}

impl Process {
    /// Tells whether it is a shell or another program that only runs others.
    pub(crate) fn is_shell(&self) -> bool {
        let name = self.name.strip_prefix('-').unwrap_or(&self.name);
        let name = Path::new(name)
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or(name);
        SHELLS.contains(&name.strip_suffix(".exe").unwrap_or(name))
    }
}

/// Returns the processes that this one descends from, nearest first; empty where the system does not tell.
pub(crate) fn ancestors() -> Vec<Process> {
    let Some(parent) = rustix::process::getppid() else {
        return Vec::new();
    };
    let parent = parent.as_raw_nonzero().get();
    if Path::new("/proc/self/stat").exists() {
        climb(parent, of_proc)
    } else {
        let table = listed();
        climb(parent, |pid| {
            table.iter().find(|process| process.pid == pid).cloned()
        })
    }
}

/// Tells whether a process is still the one that had this pid when it started.
pub(crate) fn is_running(pid: i32, started: &str) -> bool {
    let found = if Path::new("/proc/self/stat").exists() {
        of_proc(pid)
    } else {
        listed().into_iter().find(|process| process.pid == pid)
    };
    found.is_some_and(|process| process.started == started)
}

fn climb(parent: i32, find: impl Fn(i32) -> Option<Process>) -> Vec<Process> {
    let mut found = Vec::new();
    let mut pid = parent;
    while pid > 0 && found.len() < ANCESTORS_MAX {
        let Some(process) = find(pid) else { break };
        pid = process.parent;
        found.push(process);
    }
    found
}

fn of_proc(pid: i32) -> Option<Process> {
    let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
    parse_stat(pid, &String::from_utf8_lossy(&stat))
}

/// Reads `/proc/<pid>/stat`. The name may hold anything, even parentheses.
fn parse_stat(pid: i32, stat: &str) -> Option<Process> {
    let (head, rest) = stat.rsplit_once(')')?;
    let (_, name) = head.split_once('(')?;
    let mut fields = rest.split_whitespace().skip(1);
    let parent = fields.next()?.parse().ok()?;
    let started = fields.nth(17)?.to_owned();
    Some(Process {
        pid,
        name: name.to_owned(),
        started,
        parent,
    })
}

/// Lists all processes where there is no `/proc`; empty when that fails.
fn listed() -> Vec<Process> {
    let output = Command::new("ps")
        .args(["-axo", "pid=,ppid=,lstart=,comm="])
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output();
    let listed = output.map(|output| output.stdout).unwrap_or_default();
    String::from_utf8_lossy(&listed)
        .lines()
        .filter_map(parse_listed)
        .collect()
}

/// Reads a line of `ps`: pid, parent, five words of a date, and the program.
fn parse_listed(line: &str) -> Option<Process> {
    let mut words = line.split_whitespace();
    let (pid, parent) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    let started: Vec<&str> = words.by_ref().take(5).collect();
    let program = words.collect::<Vec<_>>().join(" ");
    let name = Path::new(&program).file_name()?.to_str()?.to_owned();
    Some(Process {
        pid,
        name,
        started: started.join(" "),
        parent,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_name_with_parentheses_does_not_confuse_its_parent() {
        let stat = "12 (a) b) S 7 1 1 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 8812 1000 2 18";
        let process = parse_stat(12, stat).unwrap();
        assert_eq!(
            (process.name.as_str(), process.parent, process.started.as_str()),
            ("a) b", 7, "8812")
        );
        assert_eq!(parse_stat(1, "nonsense"), None);
    }

    #[test]
    fn a_line_of_ps_is_read() {
        let line = "  501     1 Tue Nov 17 09:00:01 2026     /Applications/My App.app/Contents/MacOS/claude";
        let process = parse_listed(line).unwrap();
        assert_eq!(
            (
                process.pid,
                process.parent,
                process.name.as_str(),
                process.started.as_str()
            ),
            (501, 1, "claude", "Tue Nov 17 09:00:01 2026")
        );
    }

    #[test]
    fn our_own_ancestors_are_found_and_running() {
        let found = ancestors();
        let parent = found.first().unwrap();
        assert!(is_running(parent.pid, &parent.started));
        assert!(!is_running(parent.pid, "never"));
    }

    #[test]
    fn shells_only_run_others() {
        let named = |name: &str| Process {
            pid: 1,
            name: name.to_owned(),
            started: String::new(),
            parent: 0,
        };
        for shell in ["sh", "-zsh", "bash", "cmd.exe"] {
            assert!(named(shell).is_shell(), "{shell}");
        }
        for host in ["claude", "node", "codex"] {
            assert!(!named(host).is_shell(), "{host}");
        }
    }
}
