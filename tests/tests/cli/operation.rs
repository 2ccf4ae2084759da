//! Looking after the broker, against the real binary.

use std::os::unix::fs::PermissionsExt;

use cueme_tests::{Client, Home, envelope, eventually, next_millisecond};

#[test]
fn status_and_stop_never_start_a_broker() {
    let home = Home::created();
    assert_eq!(
        home.run(&["broker", "status", "--json"]).expect(1).stdout,
        "{\"running\":false}\n"
    );
    home.run(&["broker", "stop"]).expect(1);
    assert!(!home.path().join("data/broker.lock").exists());
}

#[test]
fn a_running_broker_describes_itself_and_stops_when_asked() {
    let home = Home::created();
    let agent = home.join_as("terminal");
    let (asking, _) = home.ask(&agent, "A?", None);
    let status = home.run(&["broker", "status", "--json"]).expect(0).json();
    assert_eq!(
        (&status["running"], &status["open_cues"], &status["waiting"]),
        (&true.into(), &1.into(), &1.into())
    );
    assert_eq!(
        status["database"],
        home.path().join("data/cueme.db").to_str().unwrap()
    );
    assert!(status["pid"].is_u64() && status["version"].is_string() && status["socket"].is_string());
    drop(asking);
    home.run(&["broker", "stop"]).expect(0);
    home.run(&["broker", "status"]).expect(1);
}

#[test]
fn a_waiting_agent_outlasts_a_restart() {
    let home = Home::created();
    let agent = home.join_as("terminal");
    let (asking, cue) = home.ask(&agent, "A?", None);
    let before = home.run(&["broker", "status", "--json"]).expect(0).json()["pid"].clone();
    home.run(&["broker", "restart"]).expect(0);
    assert_eq!(home.wait_for("A?", 1), cue);
    let after = home.run(&["broker", "status", "--json"]).expect(0).json()["pid"].clone();
    assert_ne!(before, after);
    home.run(&["answer", &cue, "still here"]).expect(0);
    assert!(asking.finish().expect(0).stdout.starts_with("still here\n"));
}

#[test]
fn a_backup_restores_what_was_there_and_keeps_what_it_replaces() {
    let home = Home::created();
    let agent = home.join_as("terminal");
    let (asking, cue) = home.ask(&agent, "Before?", None);
    home.run(&["answer", &cue, "yes"]).expect(0);
    asking.finish().expect(0);
    let copy = home.path().join("copy.db");
    let copy = copy.to_str().unwrap();
    home.run(&["backup", copy]).expect(0);
    home.run(&["backup", copy]).expect(2);
    let (asking, cue) = home.ask(&agent, "After?", None);
    home.run(&["answer", &cue, "yes"]).expect(0);
    asking.finish().expect(0);
    let restored = home.run(&["restore", copy]).expect(0).stdout;
    let history = home.run(&["history", "--json"]).expect(0).json();
    assert_eq!(history.as_array().unwrap().len(), 1);
    assert_eq!(history[0]["prompt"], "Before?");
    let kept = restored
        .lines()
        .find_map(|line| line.split_once(" kept as "))
        .unwrap()
        .1;
    assert!(std::fs::metadata(kept).unwrap().len() > 0);
}

#[test]
fn a_file_that_is_no_backup_leaves_the_database_and_the_broker_alone() {
    let home = Home::created();
    home.join_as("terminal");
    let pid = home.run(&["broker", "status", "--json"]).expect(0).json()["pid"].clone();
    let junk = home.path().join("junk");
    std::fs::write(&junk, "not a database, whatever its name may say").unwrap();
    let refused = home.run(&["restore", junk.to_str().unwrap()]).expect(2);
    assert!(
        refused.stderr.contains("nothing was changed"),
        "{}",
        refused.stderr
    );
    assert_eq!(
        home.run(&["broker", "status", "--json"]).expect(0).json()["pid"],
        pid
    );
}

#[test]
fn purging_deletes_only_what_is_old_and_delivered() {
    let home = Home::created();
    let agent = home.join_as("terminal");
    let (asking, cue) = home.ask(&agent, "Old?", None);
    home.run(&["answer", &cue, "yes"]).expect(0);
    asking.finish().expect(0);
    let (_open, _) = home.ask(&agent, "Open?", None);
    let count = |words: &[&str]| home.run(words).expect(0).stdout;
    assert!(count(&["purge", "--older-than", "1h"]).starts_with("deleted 0 "));
    next_millisecond();
    assert!(count(&["purge", "--older-than", "0s", "--dry-run"]).starts_with("would delete 1 "));
    assert!(count(&["purge", "--older-than", "0s"]).starts_with("deleted 1 "));
    assert!(home.open("Open?").is_some());
}

#[test]
fn the_space_of_what_was_purged_goes_back_to_the_disk() {
    let home = Home::created();
    let agent = home.join_as("terminal");
    for number in 0..3 {
        let (asking, cue) = home.ask(&agent, &format!("{number} {}", "kettle ".repeat(140_000)), None);
        home.run(&["answer", &cue, "yes"]).expect(0);
        asking.finish().expect(0);
    }
    // Deleted records leave the file at a checkpoint, and a broker that stops makes one.
    let bytes_at_rest = || {
        home.run(&["broker", "stop"]).expect(0);
        std::fs::metadata(home.path().join("data/cueme.db"))
            .unwrap()
            .len()
    };
    assert!(bytes_at_rest() > 2_900_000);
    home.run(&["purge", "--older-than", "0s"]).expect(0);
    eventually("a smaller file", || {
        // Where it was stopped in between, the next one goes on.
        let bytes = bytes_at_rest();
        home.run(&["inbox"]).expect(0);
        (bytes < 1_600_000).then_some(())
    });
}

#[test]
fn the_doctor_finds_nothing_and_then_the_open_door() {
    let home = Home::created();
    let healthy = home.run(&["doctor"]).expect(0).stdout;
    for part in ["ok    database", "ok    question", "ok    socket"] {
        assert!(healthy.contains(part), "{healthy}");
    }
    let database = home.path().join("data/cueme.db");
    std::fs::set_permissions(&database, std::fs::Permissions::from_mode(0o644)).unwrap();
    let sick = home.run(&["doctor", "--quick"]).expect(1).stdout;
    assert!(
        sick.contains("fail  database file") && sick.contains("chmod 600"),
        "{sick}"
    );
}

#[test]
fn the_demo_shows_every_kind_of_question_and_leaves_nothing_behind() {
    let home = Home::created();
    let shown = home.run(&["demo"]).expect(0).stdout;
    for part in ["agent_id=", "SQLite", "Leave it", "Replicas: 3", "Continue"] {
        assert!(shown.contains(part), "{part} is missing in {shown}");
    }
    assert!(!home.path().join("data/cueme.db").exists());
}

#[test]
fn the_demo_in_your_own_inbox_waits_for_your_answers() {
    let home = Home::created();
    let demo = Client::start(&mut home.command(&["demo", "--here"]), b"");
    for (question, answer) in [
        (
            "The refactoring is done and the tests pass. What should I name the branch?",
            ["tidy", ""],
        ),
        (
            "Which database shall I use for the sessions?",
            ["--select", "SQLite"],
        ),
        ("The migration drops the column `legacy_id`.", ["--confirm", ""]),
        ("I am ready to deploy.", ["--field", "Environment=staging"]),
        (
            "Staging is deployed. Have a look before I go on.",
            ["--confirm", ""],
        ),
    ] {
        let cue = home.wait_for(question, 1);
        let words = ["answer", cue.as_str()].into_iter().chain(answer);
        let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
        home.run(&words).expect(0);
    }
    let shown = demo.finish().expect(0).stdout;
    assert!(shown.contains("waiting: answer on the page"), "{shown}");
    assert!(
        shown.contains("tidy") && shown.contains("Environment: staging"),
        "{shown}"
    );
}

#[test]
fn the_long_version_tells_what_the_program_was_built_from() {
    let home = Home::new();
    let told = home.run(&["--version", "--verbose"]).expect(0).stdout.clone();
    for part in ["commit: ", "build: ", "features: ", "protocol: 1"] {
        assert!(told.contains(part), "{part} is missing in {told}");
    }
    // The store relies on these, so they must not depend on how the program was built: `bundled` brings them.
    for option in ["ENABLE_FTS5", "THREADSAFE=1", "DEFAULT_FOREIGN_KEYS"] {
        assert!(told.contains(option), "{option} is missing in {told}");
    }
    // Tuning, which a build of this repository has.
    assert!(
        told.contains("HAVE_FDATASYNC=1") && told.contains("DEFAULT_MEMSTATUS=0"),
        "{told}"
    );
    assert!(home.run(&["--version"]).expect(0).stdout.lines().count() == 1);
}

#[test]
fn update_names_a_command_and_changes_nothing() {
    let home = Home::new();
    let told = home.run(&["update"]).expect(0).stdout.clone();
    assert!(
        told.contains("installed by: ") && told.contains("to update: "),
        "{told}"
    );
    assert!(!home.path().join("data").exists());
}

#[test]
fn update_names_the_source_that_cargo_has_recorded() {
    let home = Home::new();
    let root = home.scratch().join("cargo");
    std::fs::create_dir_all(root.join("bin")).unwrap();
    let program = root.join("bin/cueme");
    std::fs::copy(home.binary(), &program).unwrap();
    let record = "[v1]\n\"cueme 0.2.0 (path+file:///home/ada/a%20clone/cueme)\" = [\"cueme\"]\n";
    std::fs::write(root.join(".crates.toml"), record).unwrap();
    // Another test may have started a process while the copy was open for writing, and that process has it open until it runs its program.
    let output = eventually("a copy that can be run", || {
        match home.command_of(&program, &["update"]).output() {
            Err(error) if error.kind() == std::io::ErrorKind::ExecutableFileBusy => None,
            run => Some(run.unwrap()),
        }
    });
    let told = String::from_utf8(output.stdout).unwrap();
    assert!(
        told.contains(
            "installed by: cargo\nto update: cargo install --locked --path '/home/ada/a clone/cueme'\n"
        ),
        "{told}"
    );
}

#[test]
fn undo_tells_an_answer_that_is_too_old_from_none_at_all() {
    let home = Home::new();
    let agent = home.join();
    let early = home.run(&["undo"]).expect(1).stderr.clone();
    assert!(early.contains("no question was answered yet"), "{early}");
    home.ask_and_answer(&agent, "Which database?", None, &["SQLite"]);
    let late = home.run(&["undo"]).expect(1).stderr.clone();
    assert!(late.contains("it is too late for the last one"), "{late}");
}

#[test]
fn manual_pages_are_printed_and_written() {
    let home = Home::new();
    assert!(
        home.run(&["man", "answer"])
            .expect(0)
            .stdout
            .contains(".TH cueme-answer")
    );
    let directory = home.path().join("man1");
    home.run(&["man", "--directory", directory.to_str().unwrap()])
        .expect(0);
    for page in ["cueme.1", "cueme-broker-status.1"] {
        assert!(directory.join(page).exists(), "{page}");
    }
    home.run(&["man", "fly"]).expect(2);
}

#[test]
fn a_service_is_written_and_removed_again() {
    let home = Home::created();
    let install = |more: &[&str]| {
        let words: Vec<&str> = ["broker", "install"].iter().chain(more).copied().collect();
        let output = home
            .command(&words)
            .env("HOME", home.path())
            .env_remove("XDG_CONFIG_HOME")
            .output()
            .unwrap();
        (
            output.status.code(),
            String::from_utf8_lossy(&output.stdout).into_owned(),
        )
    };
    let (code, shown) = install(&["--dry-run"]);
    assert!(code == Some(0) && shown.contains("broker run"), "{shown}");
    let file = shown
        .lines()
        .next()
        .unwrap()
        .strip_prefix("# would write ")
        .unwrap()
        .to_owned();
    assert!(!std::path::Path::new(&file).exists());
    assert_eq!(install(&[]).0, Some(0));
    assert!(
        std::fs::read_to_string(&file)
            .unwrap()
            .contains(home.path().to_str().unwrap())
    );
    assert_eq!(install(&["--remove"]).0, Some(0));
    assert!(!std::path::Path::new(&file).exists());
    assert_eq!(install(&["--remove"]).0, Some(1));
}

#[test]
fn a_broker_that_cannot_start_says_why() {
    let home = Home::created();
    std::fs::create_dir_all(home.path().join("data")).unwrap();
    std::fs::write(
        home.path().join("data/cueme.db"),
        "this is not a database, and nobody should overwrite it",
    )
    .unwrap();
    let refused = home.run(&["join", "cursor"]).expect(69);
    assert!(
        refused.stderr.contains("could not start") && refused.stderr.contains("hint:"),
        "{}",
        refused.stderr
    );
    let kept = std::fs::read_to_string(home.path().join("data/cueme.db")).unwrap();
    assert!(kept.starts_with("this is not"), "{kept}");
}

#[test]
fn the_inbox_can_be_watched() {
    use std::io::{BufRead, BufReader};
    use std::process::Stdio;
    let home = Home::created();
    let agent = home.join_as("terminal");
    let mut watching = home
        .command(&["inbox", "--watch", "--json"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(watching.stdout.take().unwrap()).lines();
    assert_eq!(lines.next().unwrap().unwrap(), "[]");
    let asking = home.start_with(&["cue", &agent, "-"], &envelope("A?", None));
    let seen = eventually("the question", || {
        lines.next()?.ok().filter(|line| line.contains("A?"))
    });
    let cues: serde_json::Value = serde_json::from_str(&seen).unwrap();
    home.run(&["answer", cues[0]["cue_id"].as_str().unwrap(), "yes"])
        .expect(0);
    asking.finish().expect(0);
    eventually("an empty inbox", || {
        lines.next()?.ok().filter(|line| line == "[]")
    });
    watching.kill().unwrap();
    watching.wait().unwrap();
}

#[test]
fn a_token_comes_with_the_address_it_opens() {
    let home = Home::created();
    let made = home.run(&["token"]).expect(0);
    assert_eq!(made.stdout.lines().count(), 1, "{}", made.stdout);
    assert_eq!(made.stderr.matches("/api/v1").count(), 1, "{}", made.stderr);
    assert!(made.stderr.contains("/api/v1;"), "{}", made.stderr);
}

#[test]
fn a_token_that_expires_says_when_and_the_list_tells_its_life() {
    let home = Home::created();
    home.run(&["token", "--expires", "soon"])
        .refused(2, &["\"soon\"", "30d"]);
    home.run(&["token", "--expires", "5s"]).refused(2, &["a minute"]);
    let made = home.run(&["token", "--name", "ci", "--expires", "30d"]).expect(0);
    assert!(made.stderr.contains("it expires at 20"), "{}", made.stderr);
    home.ok(&["token", "--name", "forever"]);
    let listed = home.ok(&["token", "list"]);
    let line = |name: &str| {
        listed
            .lines()
            .find(|line| line.ends_with(name))
            .unwrap()
            .to_owned()
    };
    assert!(
        line("ci").contains("not used") && line("ci").contains("expires in 29 days"),
        "{listed}"
    );
    assert!(line("forever").contains("does not expire"), "{listed}");
    let json = home.ok(&["token", "list", "--json"]);
    assert!(json.contains("\"expires_at\""), "{json}");
}
