//! Access is refused to all others: other users, open permissions, prepared traps.

use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, lchown, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};

use cueme_tests::{Client, Home, eventually, not_run};

/// The user `nobody` of most systems.
pub(crate) const NOBODY: u32 = 65534;

/// Says whether these tests may become other users.
pub(crate) fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|found| found.uid() == 0)
}

fn mode(path: &Path) -> u32 {
    std::fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777
}

fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

fn everything_in(directory: &Path) -> Vec<PathBuf> {
    let mut found = vec![directory.to_owned()];
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.append(&mut everything_in(&path));
        } else {
            found.push(path);
        }
    }
    found
}

#[test]
fn everything_is_private_whatever_the_mask() {
    let home = Home::new();
    let script = "umask 000; exec \"$CUEME_BIN\" join cursor";
    let mut shell = home.command_of("/bin/sh".as_ref(), &["-c", script]);
    Client::start(&mut shell, b"").finish().printed(0);
    home.ok(&["backup", "home/copy.db"]);
    home.ok(&["broker", "restart"]);
    let found = everything_in(home.path());
    for name in ["cueme.db", "broker.sock", "broker.log", "broker.lock", "copy.db"] {
        assert!(
            found.iter().any(|path| path.ends_with(name)),
            "{name} in {found:?}"
        );
    }
    for path in found {
        let expected = if path.is_dir() { 0o700 } else { 0o600 };
        assert_eq!(mode(&path), expected, "{}", path.display());
    }
}

#[test]
fn a_directory_of_ours_that_is_open_to_others_is_closed() {
    let home = Home::new();
    std::fs::create_dir(home.path()).unwrap();
    set_mode(home.path(), 0o777);
    home.join();
    assert_eq!(mode(home.path()), 0o700);
}

#[test]
fn doctor_notices_what_others_can_read() {
    let home = Home::new();
    home.join();
    assert!(home.ok(&["doctor", "--quick"]).contains("is yours alone"));
    set_mode(&home.database(), 0o644);
    let run = home.run(&["doctor", "--quick"]);
    assert!(run.printed(1).contains("fail  database file: "), "{}", run.stdout);
    assert!(run.stdout.contains("chmod 600 "), "{}", run.stdout);
}

#[test]
fn another_user_is_refused_by_the_client_and_by_the_broker() {
    if !is_root() {
        return not_run("only root can become another user");
    }
    let mut home = Home::new();
    home.use_copy_of_binary();
    let agent = home.join();
    let (client, cue) = home.ask(&agent, "Which port?", None);
    let as_nobody = |words: &[&str]| {
        let mut command = home.command(words);
        command.uid(NOBODY).gid(NOBODY);
        Client::start(&mut command, b"").finish()
    };
    as_nobody(&["answer", &cue, "hacked"]).refused(69, &["belongs to another user", "CUEME_HOME"]);
    set_mode(home.path(), 0o755);
    set_mode(&home.socket(), 0o666);
    as_nobody(&["answer", &cue, "hacked"]).refused(69, &["belongs to another user"]);
    // A program of theirs does not check anything; the broker still knows who is calling, and says so in few lines.
    let knock = "import socket, sys\n\
        for _ in range(200):\n\
        \x20   s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1])\n\
        \x20   s.settimeout(10); assert s.recv(1) == b''\n";
    let mut knocking = home.command_of("/usr/bin/env".as_ref(), &["python3", "-c", knock]);
    knocking.arg(home.socket()).uid(NOBODY).gid(NOBODY);
    Client::start(&mut knocking, b"").finish().printed(0);
    assert!(
        home.log().contains("refused a connection of another user"),
        "{}",
        home.log()
    );
    set_mode(home.path(), 0o700);
    assert!(client.is_running(), "nothing reached the agent");
    assert_eq!(home.show(&cue)["outcome"], "open");
    home.ok(&["answer", &cue, "8080"]);
    assert!(client.finish().printed(0).starts_with("8080\n"));
    home.ok(&["broker", "stop"]);
    let log = home.log();
    assert_eq!(log.matches("refused").count(), 2, "{log}");
    assert!(
        log.contains("refused more connections of other users: 199 of uid 65534"),
        "{log}"
    );
}

/// A record beside the database that names a program, and what that program would leave behind.
fn plant_record(data: &Path, scratch: &Path) -> PathBuf {
    let (program, mark) = (scratch.join("planted"), scratch.join("was-run"));
    std::fs::write(&program, format!("#!/bin/sh\ntouch {}\n", mark.display())).unwrap();
    set_mode(&program, 0o755);
    std::fs::create_dir_all(data).unwrap();
    let record = format!(
        "{{\"version\":\"999.0.0\",\"executable\":\"{}\",\"schema\":1}}",
        program.display()
    );
    std::fs::write(data.join("broker.json"), record).unwrap();
    mark
}

#[test]
fn a_program_that_somebody_else_names_is_not_run() {
    if !is_root() {
        return not_run("only root can give a file to another user");
    }
    // A data directory of somebody else in a home of ours.
    let home = Home::new();
    let data = home.path().join("data");
    let mark = plant_record(&data, home.scratch());
    chown(&data, Some(NOBODY), Some(NOBODY)).unwrap();
    home.run(&["join", "cursor"])
        .refused(69, &["belongs to another user", "CUEME_HOME"]);
    assert!(!mark.exists());
    // A record of somebody else in a directory of ours, which was open to them once.
    chown(&data, Some(0), Some(0)).unwrap();
    chown(data.join("broker.json"), Some(NOBODY), Some(NOBODY)).unwrap();
    home.join();
    assert!(!mark.exists());
    home.ok(&["broker", "stop"]);
    // A record of ours that others can write.
    let mark = plant_record(&data, home.scratch());
    chown(data.join("broker.json"), Some(0), Some(0)).unwrap();
    set_mode(&data.join("broker.json"), 0o666);
    home.join();
    assert!(!mark.exists());
    home.ok(&["broker", "stop"]);
    // A record of ours, and a program that others can write.
    plant_record(&data, home.scratch());
    set_mode(&data.join("broker.json"), 0o600);
    set_mode(&home.scratch().join("planted"), 0o777);
    home.join();
    assert!(!mark.exists());
}

#[test]
fn root_with_the_home_of_another_user_runs_nothing_of_theirs() {
    if !is_root() {
        return not_run("only root can have the home of another user");
    }
    let home = Home::new();
    let foreign = home.scratch().join("alice");
    let mark = plant_record(&foreign.join(".local/share/cueme"), home.scratch());
    for path in everything_in(&foreign) {
        chown(&path, Some(NOBODY), Some(NOBODY)).unwrap();
    }
    // Even where the innermost directory is root's own, its owner above can replace it.
    for owner in [NOBODY, 0] {
        chown(foreign.join(".local/share/cueme"), Some(owner), Some(owner)).unwrap();
        let mut command = home.command(&["join", "cursor"]);
        command
            .env_remove("CUEME_HOME")
            .env_remove("XDG_DATA_HOME")
            .env_remove("XDG_RUNTIME_DIR")
            .env("HOME", &foreign);
        Client::start(&mut command, b"")
            .finish()
            .refused(69, &["belongs to another user", "CUEME_HOME"]);
        assert!(!mark.exists());
    }
}

#[test]
fn a_broker_of_another_user_is_not_spoken_to() {
    if !is_root() {
        return not_run("only root can become another user");
    }
    let home = Home::new();
    std::fs::create_dir(home.path()).unwrap();
    set_mode(home.path(), 0o777);
    set_mode(home.scratch(), 0o755);
    let listen = "import socket, sys\n\
        s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); s.listen()\n\
        print('listening', flush=True)\n\
        c, _ = s.accept(); print('heard', len(c.recv(100)), flush=True)\n";
    let mut listening = home.command_of("/usr/bin/env".as_ref(), &["python3", "-c", listen]);
    listening.arg(home.socket()).uid(NOBODY).gid(NOBODY);
    let impostor = Client::start(&mut listening, b"");
    eventually("the impostor listens", || {
        impostor.stdout().contains("listening").then_some(())
    });
    home.run(&["inbox"])
        .refused(69, &["runs as another user", "65534"]);
    assert!(
        impostor.finish().printed(0).contains("heard 0\n"),
        "it learned nothing"
    );
}

#[test]
fn a_directory_above_that_others_can_write_to_is_refused() {
    let home = Home::new();
    let above = home.scratch().join("shared");
    std::fs::create_dir(&above).unwrap();
    let inside = above.join("home");
    let join = || {
        let mut command = home.command(&["inbox"]);
        command.env("CUEME_HOME", &inside);
        Client::start(&mut command, b"").finish()
    };
    set_mode(&above, 0o777);
    join().refused(69, &["others can write to", "chmod go-w"]);
    assert!(!inside.exists());
    // As in /tmp, only the owner may replace an entry there.
    set_mode(&above, 0o1777);
    join().printed(0);
    let mut stop = home.command(&["broker", "stop"]);
    Client::start(stop.env("CUEME_HOME", &inside), b"")
        .finish()
        .printed(0);
}

#[test]
fn a_directory_that_somebody_else_made_is_not_used() {
    if !is_root() {
        return not_run("only root can give a directory to another user");
    }
    let home = Home::new();
    std::fs::create_dir(home.path()).unwrap();
    set_mode(home.path(), 0o777);
    chown(home.path(), Some(NOBODY), Some(NOBODY)).unwrap();
    home.run(&["join", "cursor"])
        .refused(69, &["belongs to another user", "CUEME_HOME"]);
    home.run(&["broker", "run"]).refused(69, &["is not safe"]);
    assert!(!home.socket().exists() && !home.database().exists());
}

#[test]
fn a_link_that_somebody_else_placed_is_not_followed_and_one_of_ours_is() {
    let home = Home::new();
    let target = home.scratch().join("elsewhere");
    std::fs::create_dir(&target).unwrap();
    symlink(&target, home.path()).unwrap();
    home.join();
    assert!(
        target.join("data/cueme.db").exists(),
        "our own link is our choice"
    );
    home.ok(&["broker", "stop"]);
    if !is_root() {
        return not_run("only root can give a link to another user");
    }
    lchown(home.path(), Some(NOBODY), Some(NOBODY)).unwrap();
    home.run(&["join", "cursor"])
        .refused(69, &["belongs to another user"]);
    home.run(&["broker", "run"])
        .refused(69, &["is not safe", "a link"]);
}
