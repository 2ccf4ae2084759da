//! R9: another user of the machine, and traps laid where the broker will live.

use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, lchown, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use cueme_tests::{Client, Home};

use crate::knock::{CLOSED, KEPT_OUT, KNOCK};
use crate::trial::{NotRun, Trial};

/// The user `nobody` of most systems.
const NOBODY: u32 = 65534;

/// Tries to get in as somebody else.
pub(crate) fn run(trial: &mut Trial) -> Result<(), NotRun> {
    private_whatever_the_mask(trial);
    if !std::fs::metadata("/proc/self").is_ok_and(|found| found.uid() == 0) {
        // The mask alone is not what this test is about.
        return Err(NotRun("only root can become another user".into()));
    }
    let mut home = Home::new();
    home.use_copy_of_binary();
    let intruder = Intruder::arrive(&home);
    let agent = home.join();
    let (client, cue) = home.ask(&agent, "Which port?", None);
    let mut tries = intruder.reads_nothing(trial, &home);
    tries += intruder.knocks(trial, &home, KEPT_OUT, "a closed directory");
    set_mode(home.path(), 0o755);
    set_mode(&home.socket(), 0o666);
    tries += intruder.knocks(trial, &home, CLOSED, "an open directory and socket");
    tries += intruder.reads_nothing(trial, &home);
    set_mode(home.path(), 0o700);
    trial.check(client.is_running() && client.stdout().is_empty(), || {
        "something reached the agent".into()
    });
    home.ok(&["answer", &cue, "8080"]);
    trial.check(client.finish().stdout.starts_with("8080\n"), || {
        "the answer did not arrive".into()
    });
    tries += hostile_places(trial);
    trial.figure("attempts of another user", tries);
    Ok(())
}

fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode))
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}

/// Another user, with a copy of this program.
struct Intruder {
    program: PathBuf,
}

impl Intruder {
    fn arrive(home: &Home) -> Self {
        let program = home.scratch().join("intruder");
        let own = std::env::current_exe().unwrap_or_else(|error| panic!("{error}"));
        let copied = Command::new("cp").arg(own).arg(&program).status();
        assert!(
            copied.is_ok_and(|status| status.success()),
            "no copy of this program"
        );
        set_mode(&program, 0o755);
        Self { program }
    }

    /// Connects to the socket; it must end this way.
    fn knocks(&self, trial: &mut Trial, home: &Home, expected: u8, what: &str) -> u64 {
        let status = Command::new(&self.program)
            .env(KNOCK, home.socket())
            .uid(NOBODY)
            .gid(NOBODY)
            .status();
        let code = status.ok().and_then(|status| status.code());
        trial.check(code == Some(i32::from(expected)), || {
            format!("with {what} a knock ended with {code:?}, not {expected}")
        });
        1
    }

    /// Opens every file there is.
    fn reads_nothing(&self, trial: &mut Trial, home: &Home) -> u64 {
        let mut tries = 0;
        for path in everything_in(home.path())
            .into_iter()
            .filter(|path| path.is_file())
        {
            tries += 1;
            let read = Command::new("cat").arg(&path).uid(NOBODY).gid(NOBODY).output();
            trial.check(read.is_ok_and(|output| !output.status.success()), || {
                format!("another user can read {}", path.display())
            });
        }
        assert!(tries > 3, "there are files to read");
        tries
    }
}

fn everything_in(directory: &Path) -> Vec<PathBuf> {
    let mut found = vec![directory.to_owned()];
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.append(&mut everything_in(&path));
        } else {
            found.push(path);
        }
    }
    found
}

/// Everything is private from its first moment, even when the mask says otherwise.
fn private_whatever_the_mask(trial: &mut Trial) {
    let home = Home::new();
    let script = "umask 000; exec \"$CUEME_BIN\" join cursor";
    let mut shell = home.command_of("/bin/sh".as_ref(), &["-c", script]);
    Client::start(&mut shell, b"").finish().printed(0);
    home.ok(&["ui", "--print-url"]);
    home.ok(&["backup", "home/copy.db"]);
    home.ok(&["broker", "restart"]);
    let found = everything_in(home.path());
    trial.figure("files looked at", found.len());
    for path in found {
        let mode = std::fs::symlink_metadata(&path).map_or(0, |found| found.permissions().mode() & 0o777);
        let expected = if path.is_dir() { 0o700 } else { 0o600 };
        trial.check(mode == expected, || {
            format!("{} has mode {mode:o}", path.display())
        });
    }
}

/// A directory or a link that somebody else placed is not used, and nothing is put there.
fn hostile_places(trial: &mut Trial) -> u64 {
    let home = Home::new();
    std::fs::create_dir(home.path()).unwrap_or_else(|error| panic!("{error}"));
    set_mode(home.path(), 0o777);
    chown(home.path(), Some(NOBODY), Some(NOBODY)).unwrap_or_else(|error| panic!("{error}"));
    refuses(trial, &home, "a directory of another user");
    let linked = Home::new();
    let target = linked.scratch().join("elsewhere");
    std::fs::create_dir(&target).unwrap_or_else(|error| panic!("{error}"));
    symlink(&target, linked.path()).unwrap_or_else(|error| panic!("{error}"));
    lchown(linked.path(), Some(NOBODY), Some(NOBODY)).unwrap_or_else(|error| panic!("{error}"));
    refuses(trial, &linked, "a link of another user");
    4
}

fn refuses(trial: &mut Trial, home: &Home, what: &str) {
    for words in [&["join", "cursor"][..], &["broker", "run"]] {
        let run = home.run(words);
        trial.check(run.code == Some(69) && run.stdout.is_empty(), || {
            format!("{what} was used by `cueme {}`: {run:?}", words.join(" "))
        });
    }
    trial.check(!home.socket().exists() && !home.database().exists(), || {
        format!("something was put into {what}")
    });
}
