//! Nobody else gets in: other users, open permissions, traps laid in the way.

use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, lchown, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};

use cueme_tests::{Client, Home, not_run};

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
    Client::start(&mut shell, b"").finish().expect(0);
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
    assert!(run.expect(1).contains("fail  database file: "), "{}", run.stdout);
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
    let (mut client, cue) = home.ask(&agent, "Which port?", None);
    let as_nobody = |words: &[&str]| {
        let mut command = home.command(words);
        command.uid(NOBODY).gid(NOBODY);
        Client::start(&mut command, b"").finish()
    };
    as_nobody(&["answer", &cue, "hacked"]).refused(69, &["belongs to another user", "CUEME_HOME"]);
    set_mode(home.path(), 0o755);
    set_mode(&home.socket(), 0o666);
    as_nobody(&["answer", &cue, "hacked"]).refused(69, &["belongs to another user"]);
    // A directory that is theirs passes the client's check; the broker still knows who is calling.
    chown(home.path(), Some(NOBODY), Some(NOBODY)).unwrap();
    let run = as_nobody(&["answer", &cue, "hacked"]);
    assert_eq!(run.stdout, "", "{run:?}");
    assert_eq!(run.code, Some(69), "{run:?}");
    chown(home.path(), Some(0), Some(0)).unwrap();
    assert!(
        home.log().contains("refused a connection of another user"),
        "{}",
        home.log()
    );
    assert!(client.is_running(), "nothing reached the agent");
    assert_eq!(home.show(&cue)["outcome"], "open");
    home.ok(&["answer", &cue, "8080"]);
    assert!(client.finish().expect(0).starts_with("8080\n"));
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
