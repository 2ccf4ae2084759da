//! The CLI as a process under the real binary: slow, replaced, linked, remembered; and nothing of it left behind.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use protocol_spec::time::Timestamp;
use serde_json::{Value, json};

use crate::stage::{QUESTION, Stage, events, text};
use cueme_tests::{eventually, remains};

#[test]
fn a_slow_trickle_of_bytes_is_one_healthy_turn() {
    let stage = Stage::new("trickle");
    let ended = stage.run(&["agent", "run", "--no-hap", "do it"]).expect(0);
    assert_eq!(
        (text(&ended).as_str(), events(&ended, "done").len()),
        ("Hello there.", 1)
    );
    stage.nothing_is_left();
}

/// A stage whose turns may take this long.
fn stage_with_limit(scenario: &'static str, timeout_ms: i64) -> Stage {
    let stage = Stage::new(scenario);
    let mut model = Stage::cursor_model(&[]);
    model["timeoutMs"] = json!(timeout_ms);
    stage.configure(&json!({"models": {"m": model}}));
    stage
}

/// Waits until a question has been open for longer than this; returns it.
fn open_for_longer_than(stage: &Stage, limit_ms: i64) -> String {
    let id = stage.home.wait_for(QUESTION, 1);
    eventually("a question that was open for long", || {
        let asked_at = stage.home.open(QUESTION)?["asked_at"]
            .as_str()?
            .parse::<Timestamp>()
            .ok()?;
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).ok()?;
        (i64::try_from(now.as_millis()).ok()? - asked_at.as_millis() > limit_ms).then_some(())
    });
    id
}

#[test]
fn the_deadline_of_a_turn_does_not_run_while_its_question_is_open() {
    let stage = stage_with_limit("hap_ok", 2500);
    let running = stage.start(&["agent", "run", "do it"]);
    let id = open_for_longer_than(&stage, 2 * 2500);
    stage.home.run(&["answer", &id, "--done"]).expect(0);
    let ended = running.finish().expect(0);
    assert_eq!(events(&ended, "error"), Vec::<Value>::new());
    assert_eq!(stage.delivery(&id), "acknowledged");
    stage.nothing_is_left();
}

#[test]
fn the_deadline_of_a_turn_goes_on_once_its_question_is_answered() {
    let stage = stage_with_limit("hap_ok", 2500);
    let file = stage.home.path().join("cue.sh");
    let asks = fs::read_to_string(&file).unwrap();
    fs::write(&file, format!("{asks}\nexec sleep 3600")).unwrap();
    let running = stage.start(&["agent", "run", "do it"]);
    let id = open_for_longer_than(&stage, 2500);
    stage.home.run(&["answer", &id, "go on"]).expect(0);
    let ended = running.finish().expect(1);
    assert_eq!(events(&ended, "error")[0]["data"]["code"], "TIMEOUT");
    assert_eq!(stage.delivery(&id), "acknowledged");
    stage.nothing_is_left();
}

#[test]
fn silence_is_no_reason_to_end_a_turn_and_the_deadline_is() {
    let stage = Stage::new("silent_gap");
    let mut model = Stage::cursor_model(&[]);
    stage.run(&["agent", "run", "--no-hap", "do it"]).expect(0);
    model["timeoutMs"] = json!(1000);
    stage.configure(&json!({"models": {"m": model}}));
    let ended = stage.run(&["agent", "run", "--no-hap", "do it"]).expect(1);
    assert_eq!(events(&ended, "error")[0]["data"]["code"], "TIMEOUT");
    stage.nothing_is_left();
}

#[test]
fn a_model_that_is_named_once_is_remembered_by_the_cli_and_not_by_us() {
    let stage = Stage::new("simple");
    stage
        .run(&["agent", "run", "--no-hap", "--model", "gpt-5", "do it"])
        .expect(0);
    stage.run(&["agent", "run", "--no-hap", "do it"]).expect(0);
    let turns = stage.turns();
    assert_eq!(turns[1]["model"], "gpt-5", "the CLI falls back to the last one");
    let argv = turns[1]["argv"].as_array().unwrap();
    assert!(!argv.contains(&json!("--model")), "{argv:?}");
}

#[test]
fn a_linked_directory_is_the_directory_it_leads_to() {
    let stage = Stage::new("simple");
    let link = stage.home.path().join("link");
    symlink(stage.project(), &link).unwrap();
    let words = [
        "agent",
        "run",
        "--no-hap",
        "--cwd",
        link.to_str().unwrap(),
        "do it",
    ];
    stage.run(&words).expect(0);
    stage
        .run(&["agent", "run", "--no-hap", "--resume", "latest", "go on"])
        .expect(0);
    let turns = stage.turns();
    assert!(turns[1]["resume"].is_string(), "{turns:?}");
}

/// An updater that has the program open for writing, so that it cannot be run.
struct Updater {
    child: std::process::Child,
    hold: PathBuf,
}

impl Updater {
    /// Opens the program, and returns once it is open.
    ///
    /// Another process does it: had this one the file open, every child forked meanwhile would have it too.
    fn open(program: &Path) -> Self {
        let (hold, ready) = (program.with_extension("hold"), program.with_extension("ready"));
        fs::write(&hold, "").unwrap();
        let script = format!(
            "exec 9>>'{}'; touch '{}'; while [ -e '{}' ]; do sleep 0.05; done",
            program.display(),
            ready.display(),
            hold.display()
        );
        let child = Command::new("sh").args(["-c", &script]).spawn().unwrap();
        eventually("the updater has the program open", || {
            ready.exists().then_some(())
        });
        fs::remove_file(ready).unwrap();
        Self { child, hold }
    }

    fn close(mut self) {
        fs::remove_file(&self.hold).unwrap();
        self.child.wait().unwrap();
    }
}

#[test]
fn a_cli_that_is_being_updated_is_waited_for() {
    let stage = Stage::new("simple");
    let program: PathBuf = stage.bin().join("agent");
    fs::remove_file(&program).unwrap();
    let copied = Command::new("cp")
        .arg(env!("CARGO_BIN_EXE_fake-cursor-agent"))
        .arg(&program)
        .status();
    assert!(copied.unwrap().success());
    let updater = Updater::open(&program);
    let error = Command::new(&program).arg("--version").output().unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::ExecutableFileBusy);
    // An update that never ends is an error that says what is wrong.
    let ended = stage.run(&["agent", "run", "--no-hap", "do it"]).expect(1);
    assert_eq!(events(&ended, "error")[0]["data"]["code"], "SPAWN_FAILED");
    // One that ends meanwhile goes unnoticed.
    let running = stage.start(&["agent", "run", "--no-hap", "do it"]);
    remains("the run waits for the update", Duration::from_millis(500), || {
        running.is_running()
    });
    updater.close();
    assert_eq!(text(&running.finish().expect(0)), "Hello there.");
    stage.nothing_is_left();
}

#[test]
fn a_cli_that_is_replaced_in_the_middle_of_a_conversation_is_run_in_its_new_version() {
    let stage = Stage::new("hap_ask");
    let running = stage.start(&["agent", "run", "do it"]);
    stage.wait_for_turns(1);
    // Updaters put the new file in place of the old one.
    let (next, program) = (stage.bin().join("next"), stage.bin().join("agent"));
    let script = format!(
        "#!/bin/sh\nFAKE_CURSOR_MARK=updated exec '{}' \"$@\"\n",
        env!("CARGO_BIN_EXE_fake-cursor-agent")
    );
    fs::write(&next, script).unwrap();
    Command::new("chmod").arg("+x").arg(&next).status().unwrap();
    fs::rename(next, program).unwrap();
    stage.answer(&["answer", "--select", "A"]);
    stage.wait_for_turns(2);
    stage.answer(&["decline"]);
    running.finish().expect(0);
    assert_eq!(stage.turns()[1]["env"]["FAKE_CURSOR_MARK"], "updated");
    stage.nothing_is_left();
}

#[test]
fn the_old_name_of_the_cli_is_found_too() {
    let stage = Stage::new("simple");
    fs::rename(stage.bin().join("agent"), stage.bin().join("cursor-agent")).unwrap();
    let mut command = stage.command(&["agent", "run", "--no-hap", "do it"]);
    // A machine may have a real `agent`; only the double is to be found.
    let output = command
        .env("PATH", format!("{}:/usr/bin:/bin", stage.bin().display()))
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert_eq!(stage.turns().len(), 1);
}

#[test]
fn a_reader_that_goes_away_ends_the_turn_and_all_it_started() {
    let stage = Stage::new("hang_mid");
    let mut command = stage.command(&["agent", "run", "--no-hap", "do it"]);
    command
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::null());
    let mut child = command.spawn().unwrap();
    // Without a reader, the first event ends the turn; the double would write nothing more for an hour.
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(1));
    assert_eq!(stage.turns().len(), 1);
    stage.nothing_is_left();
}
