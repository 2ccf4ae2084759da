//! `cueme init` and `cueme protocol` as a person uses them, in a home of their own.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail their test")]

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use support::{Ended, Home};

/// A person's home and project beside our own data.
struct Person {
    home: Home,
}

impl Person {
    fn new() -> Self {
        let home = Home::new();
        fs::create_dir(home.path().join("person")).unwrap();
        fs::create_dir(home.path().join("project")).unwrap();
        Self { home }
    }

    fn folder(&self) -> PathBuf {
        self.home.path().join("person")
    }

    fn config(&self) -> PathBuf {
        self.home.path().join("config.toml")
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = self.home.command(words);
        command
            .env("HOME", self.folder())
            .env("PATH", "/nowhere")
            .env("LANG", "C")
            .current_dir(self.home.path().join("project"));
        for variable in [
            "XDG_CONFIG_HOME",
            "CLAUDE_CONFIG_DIR",
            "CODEX_HOME",
            "KIRO_HOME",
            "COPILOT_HOME",
            "LC_ALL",
            "LC_MESSAGES",
        ] {
            command.env_remove(variable);
        }
        command
    }

    fn run(&self, words: &[&str]) -> Ended {
        let output = self.command(words).output().unwrap();
        Ended {
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
            code: output.status.code(),
        }
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.folder().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Everything in the person's home and project.
    fn tree(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut tree = BTreeMap::new();
        collect(&self.folder(), &mut tree);
        collect(&self.home.path().join("project"), &mut tree);
        tree
    }
}

fn collect(folder: &Path, tree: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, tree);
        } else {
            tree.insert(path.clone(), fs::read(&path).unwrap());
        }
    }
}

#[test]
fn a_runtime_is_connected_with_one_command_and_removed_without_a_trace() {
    let person = Person::new();
    person.write(
        ".claude/settings.json",
        "{\n  // mine\n  \"model\": \"opus\"\n}\n",
    );
    fs::write(person.config(), "# mine\nreminder = false\n").unwrap();
    let before = person.tree();
    let installed = person.run(&["init", "claude_code", "--yes"]).expect(0);
    assert!(installed.stdout.contains("+++ "), "{}", installed.stdout);
    let settings = fs::read_to_string(person.folder().join(".claude/settings.json")).unwrap();
    assert!(
        settings.contains("// mine") && settings.contains("hook claude_code stop"),
        "{settings}"
    );
    let config = fs::read_to_string(person.config()).unwrap();
    assert!(config.starts_with("# mine\nreminder = false\n"), "{config}");
    assert!(
        config.contains("[runtime.claude_code]\nwait = \"590s\" # set by cueme init"),
        "{config}"
    );
    let after = person.tree();
    let again = person.run(&["init", "claude_code"]).expect(0);
    assert!(again.stdout.contains("up to date"), "{}", again.stdout);
    assert_eq!(person.tree(), after);
    person
        .run(&["init", "claude_code", "--remove", "--yes"])
        .expect(0);
    assert_eq!(person.tree(), before);
    assert_eq!(
        fs::read_to_string(person.config()).unwrap(),
        "# mine\nreminder = false\n"
    );
}

#[test]
fn every_runtime_is_connected_and_removed_in_both_scopes() {
    for runtime in [
        "cursor",
        "claude_code",
        "codex",
        "windsurf",
        "vscode",
        "kiro",
        "opencode",
        "gemini_cli",
        "copilot_cli",
    ] {
        for scope in ["--user", "--project"] {
            let person = Person::new();
            person.run(&["init", runtime, scope, "--yes"]).expect(0);
            assert!(!person.tree().is_empty(), "{runtime} {scope}");
            let table = person.run(&["init", "--status", runtime]).expect(0).stdout;
            assert!(table.contains("connected"), "{table}");
            person
                .run(&["init", runtime, scope, "--remove", "--yes"])
                .expect(0);
            assert_eq!(person.tree(), BTreeMap::new(), "{runtime} {scope}");
            assert!(!person.config().exists(), "{runtime} {scope}");
        }
    }
}

#[test]
fn nothing_is_written_without_a_yes() {
    let person = Person::new();
    let refused = person.run(&["init", "codex", "--project"]).expect(2);
    assert!(
        refused.stdout.contains("+++ "),
        "the diff is shown: {}",
        refused.stdout
    );
    assert!(
        refused.stderr.contains("cueme init codex --project --yes"),
        "{}",
        refused.stderr
    );
    let shown = person.run(&["init", "codex", "--dry-run"]).expect(0);
    assert!(shown.stdout.contains("nothing was changed"), "{}", shown.stdout);
    assert_eq!(person.tree(), BTreeMap::new());
    assert!(!person.config().exists());
}

#[test]
fn a_file_that_cannot_be_understood_is_named_and_left_alone() {
    let person = Person::new();
    person.write(".claude/settings.json", "{ broken");
    let ended = person.run(&["init", "claude_code", "--yes"]).expect(2);
    assert!(
        ended.stderr.contains("left alone: ") && ended.stderr.contains("settings.json: line 1"),
        "{}",
        ended.stderr
    );
    let tree = person.tree();
    assert_eq!(tree[&person.folder().join(".claude/settings.json")], b"{ broken");
    assert!(tree.len() > 1, "the other files were written with consent");
    let table = person.run(&["init", "--status"]).expect(0).stdout;
    assert!(
        table.contains("broken") && table.contains("settings.json"),
        "{table}"
    );
    let doctor = person.run(&["doctor", "--quick"]);
    assert!(
        doctor.stdout.contains("claude_code: cannot be read"),
        "{}",
        doctor.stdout
    );
}

#[test]
fn what_is_found_on_the_machine_is_offered() {
    let person = Person::new();
    let nothing = person.run(&["init"]).expect(1);
    assert!(nothing.stderr.contains("no runtime"), "{}", nothing.stderr);
    fs::create_dir(person.folder().join(".codex")).unwrap();
    let offered = person.run(&["init"]).expect(2);
    assert!(
        offered.stderr.contains("cueme init codex --yes"),
        "{}",
        offered.stderr
    );
    let doctor = person.run(&["doctor", "--quick"]);
    assert!(
        doctor.stdout.contains("codex: found, not connected"),
        "{}",
        doctor.stdout
    );
    person.run(&["init", "--yes"]).expect(0);
    let doctor = person.run(&["doctor", "--quick"]);
    assert!(
        doctor.stdout.contains("codex: connected (user)"),
        "{}",
        doctor.stdout
    );
}

#[test]
fn an_installation_in_another_language_is_kept_and_current() {
    let person = Person::new();
    person
        .run(&["init", "codex", "--language", "zh", "--yes"])
        .expect(0);
    let tree = person.tree();
    assert!(
        person
            .run(&["init", "codex"])
            .expect(0)
            .stdout
            .contains("up to date")
    );
    assert_eq!(person.tree(), tree);
    let table = person.run(&["init", "--status", "codex"]).expect(0).stdout;
    assert!(
        table.contains("connected") && !table.contains("outdated"),
        "{table}"
    );
}

#[test]
fn the_protocol_is_printed_in_either_language_with_a_runtimes_guidance() {
    let person = Person::new();
    let plain = person.run(&["protocol"]).expect(0).stdout;
    let cursor = person.run(&["protocol", "cursor"]).expect(0).stdout;
    assert!(cursor.starts_with(&plain) && cursor.len() > plain.len());
    let chinese = person.run(&["protocol", "--language", "zh"]).expect(0).stdout;
    assert!(chinese.contains('的') && !plain.contains('的'));
    let both = person.run(&["protocol", "--language", "both"]).expect(0).stdout;
    assert!(both.contains(plain.trim()) && both.contains(chinese.trim()));
    let wrong = person.run(&["protocol", "emacs"]).expect(2);
    assert!(wrong.stderr.contains("claude_code"), "{}", wrong.stderr);
}
