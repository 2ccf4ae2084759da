//! A directory in which a shell runs a command, and what it did there.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Shells that hosts use; zsh is tried where it is installed.
const SHELLS: [&str; 3] = ["/bin/bash", "/bin/sh", "/usr/bin/zsh"];

/// Records a call: how it was named, the variables that matter, its arguments, its stdin.
const RECORDER: &str = r#"#!/bin/sh
{ printf '%s\0' "$0" "$PATH" "${CUEME_HOME-}${LD_PRELOAD-}${BASH_ENV-}${ENV-}" "$#" "$@"; cat; printf '\0end\0'; } >> "$RECORD"
"#;
/// Runs where only a second command could run.
const INTRUDER: &str = "#!/bin/sh\necho run >> \"$RECORD.intruder\"\n";

/// One recorded call.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Call {
    pub(super) arguments: Vec<String>,
    pub(super) stdin: String,
}

/// The effects of a command.
#[derive(Debug)]
pub(super) struct Done {
    /// The calls of `cueme`.
    pub(super) calls: Vec<Call>,
    /// Everything else that shows.
    pub(super) changes: Vec<String>,
}

/// The shells of this machine.
pub(super) fn shells() -> Vec<&'static str> {
    SHELLS
        .into_iter()
        .filter(|shell| Path::new(shell).exists())
        .collect()
}

/// The directory.
pub(super) struct Sandbox {
    programs: PathBuf,
    own: PathBuf,
    work: PathBuf,
    record: PathBuf,
}

impl Sandbox {
    /// Makes it anew in a directory.
    pub(super) fn new(place: &Path) -> Self {
        let sandbox = Self {
            programs: place.join("bin"),
            own: place.join("opt/cueme/bin"),
            work: place.join("work"),
            record: place.join("record"),
        };
        for folder in [&sandbox.programs, &sandbox.own, &sandbox.work] {
            make(folder);
        }
        for folder in [&sandbox.programs, &sandbox.own] {
            program(&folder.join("cueme"), RECORDER);
        }
        program(&sandbox.programs.join("intruder"), INTRUDER);
        // A program of that name in the folder of the project is not ours.
        program(&sandbox.work.join("cueme"), INTRUDER);
        for canary in ["canary", "f", "a", ".profile"] {
            fs::write(sandbox.work.join(canary), "as it was\n")
                .unwrap_or_else(|error| panic!("{canary}: {error}"));
        }
        sandbox
    }

    /// Returns the absolute path that counts as our own.
    pub(super) fn own_path(&self) -> String {
        self.own.join("cueme").display().to_string()
    }

    /// Runs a command as hosts do.
    pub(super) fn run(&self, shell: &str, text: &str) -> Done {
        let before = tree(&self.work);
        let path = format!("{}:/usr/bin:/bin", self.programs.display());
        let mut command = Command::new(shell);
        if shell.ends_with("zsh") {
            command.arg("-f");
        }
        let ended = command
            .args(["-c", text])
            .current_dir(&self.work)
            .env_clear()
            .env("PATH", &path)
            .env("HOME", &self.work)
            .env("LC_ALL", "C.UTF-8")
            .env("RECORD", &self.record)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .output();
        let mut changes = Vec::new();
        match ended {
            Ok(output) if output.status.success() && output.stdout.is_empty() && output.stderr.is_empty() => {
            }
            Ok(output) => changes.push(format!("{output:?}")),
            Err(error) => changes.push(error.to_string()),
        }
        if tree(&self.work) != before {
            changes.push("files changed".to_owned());
        }
        if fs::remove_file(self.record.with_extension("intruder")).is_ok() {
            changes.push("another program ran".to_owned());
        }
        let calls = self.calls(&path, &mut changes);
        Done { calls, changes }
    }

    /// Reads and forgets the recorded calls.
    fn calls(&self, path: &str, changes: &mut Vec<String>) -> Vec<Call> {
        let record = fs::read(&self.record).unwrap_or_default();
        let _ = fs::remove_file(&self.record);
        let text = String::from_utf8_lossy(&record);
        let mut calls = Vec::new();
        for call in text.split_terminator("\0end\0") {
            let mut parts = call.split('\0');
            let mut next = || parts.next().unwrap_or_default();
            let (program, found_path, other, count) = (next(), next(), next(), next());
            let is_named =
                program == self.own_path() || program == self.programs.join("cueme").display().to_string();
            if !is_named || found_path != path || !other.is_empty() {
                changes.push(format!("run as {program} with PATH {found_path} and {other:?}"));
            }
            let count = count.parse().unwrap_or(0);
            let arguments = parts.by_ref().take(count).map(str::to_owned).collect();
            calls.push(Call {
                arguments,
                stdin: parts.collect::<Vec<_>>().join("\0"),
            });
        }
        calls
    }
}

fn make(folder: &Path) {
    let _ = fs::remove_dir_all(folder);
    fs::create_dir_all(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
}

fn program(path: &Path, text: &str) {
    let written =
        fs::write(path, text).and_then(|()| fs::set_permissions(path, fs::Permissions::from_mode(0o755)));
    written.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}

/// Returns every file below a folder with its contents.
fn tree(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.insert(path.clone(), Vec::new());
            found.extend(tree(&path));
        } else {
            found.insert(path.clone(), fs::read(&path).unwrap_or_default());
        }
    }
    found
}
