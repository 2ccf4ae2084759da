//! Disks that are full, databases that are damaged or newer, and keeping copies.

use std::path::Path;

use super::door::{NOBODY, is_root};
use super::door_of_the_page::page_of;
use cueme_tests::{Client, Disk, Home, envelope, eventually, is_alive, not_run};
use serde_json::json;
use uuid::Uuid;

/// Mounts a small disk; `None`, after saying why, where that is not allowed.
fn small_disk(outer: &Home, mebibytes: u32) -> Option<Disk> {
    Disk::mount(outer.scratch(), mebibytes)
        .inspect_err(|why| not_run(why))
        .ok()
}

#[test]
fn a_full_disk_is_told_to_everyone_and_everything_goes_on_once_it_is_not() {
    let outer = Home::new();
    let Some(disk) = small_disk(&outer, 4) else {
        return;
    };
    let home = Home::new().at(disk.path().join("home"));
    let agent = home.join();
    let (client, cue) = home.ask(&agent, "Which port?", None);
    let broker = home.broker_pid();
    disk.fill();
    let long = "x".repeat(20_000);
    for prompt in ["Which host?", &long] {
        let stdin = envelope(prompt, None);
        home.run_with(&["cue", &agent, "-"], stdin.as_bytes())
            .refused(74, &["error: ", "hint: the disk is full"]);
    }
    let say = "y".repeat(100_000);
    home.run_with(&["say", &agent, "-"], say.as_bytes())
        .refused(74, &["disk is full"]);
    home.run(&["join", "codex"]).refused(74, &["disk is full"]);
    assert!(client.is_running(), "who waits goes on waiting");
    assert_eq!(home.broker_pid(), broker, "the broker stays");
    let trouble = home.status().storage_error;
    assert!(trouble.is_some_and(|error| error.contains("full")));
    let doctor = home.run(&["doctor", "--quick"]);
    assert!(doctor.printed(1).contains("fail  storage: "), "{}", doctor.stdout);
    assert_eq!(home.open_cues().len(), 1, "nothing is pretended");
    disk.free();
    eventually("questions can be asked again", || {
        let mut command = home.command(&["cue", &agent, "-"]);
        command.env("CUEME_WAIT", "300ms");
        let run = Client::start(&mut command, envelope("Which host?", None).as_bytes()).finish();
        (run.code == Some(75)).then_some(())
    });
    assert_eq!(home.broker_pid(), broker, "without a restart");
    assert_eq!(home.wait_for("Which port?", 1), cue);
    home.ok(&["answer", &cue, "8080"]);
    let run = client.finish();
    assert!(run.printed(0).starts_with("8080\n"), "{run:?}");
    assert_eq!(home.delivery(&cue), "acknowledged");
    assert_eq!(home.status().storage_error, None);
    assert_eq!(home.json(&["agents", "--json"]).as_array().unwrap().len(), 1);
}

#[test]
fn a_broker_that_cannot_start_on_a_full_disk_says_why() {
    let outer = Home::new();
    let Some(disk) = small_disk(&outer, 1) else {
        return;
    };
    let home = Home::new().at(disk.path().join("home"));
    std::fs::create_dir(home.path()).unwrap();
    disk.fill();
    let run = home.run(&["join", "cursor"]);
    run.refused(69, &["error: ", "hint: "]);
    disk.free();
    home.join();
}

#[test]
fn answers_are_taken_while_the_disk_is_full() {
    let outer = Home::new();
    let Some(disk) = small_disk(&outer, 4) else {
        return;
    };
    let home = Home::new().at(disk.path().join("home"));
    let agent = home.join();
    let other = home.join();
    let (client, cue) = home.ask(&agent, "Which port?", None);
    let (lost, later) = home.ask(&agent, "Which host?", None);
    lost.kill();
    home.wait_for("Which host?", 0);
    disk.fill();
    // A checkpoint gives the log room for some more; notes use it up.
    let note = "n".repeat(100 * 1024);
    let refused = eventually("nothing new is taken any more", || {
        let noted = home.run_with(&["say", &other, "-"], note.as_bytes());
        let joined = home.run(&["join", "codex"]);
        (noted.code != Some(0) && joined.code != Some(0)).then_some([noted, joined])
    });
    for run in refused {
        run.refused(74, &["disk is full"]);
    }
    let long = "8080 ".repeat(20_000);
    home.run_with(&["answer", &cue, "-"], long.as_bytes()).printed(0);
    assert!(client.finish().printed(0).starts_with("8080 8080"));
    home.ok(&["answer", &later, "the small one"]);
    let run = home.start_cue(&agent, "Which host?", None).finish();
    assert!(
        run.printed(0).starts_with("the small one\n"),
        "asked again while full: {run:?}"
    );
    assert_eq!(home.delivery(&cue), "acknowledged");
    home.run(&["join", "codex"]).refused(74, &["disk is full"]);
    disk.free();
    eventually("agents can join again", || {
        (home.run(&["join", "codex"]).code == Some(0)).then_some(())
    });
    assert!(home.path().join("data/ballast").is_file(), "space is kept again");
}

#[test]
fn answers_from_the_page_are_taken_while_the_disk_is_full_and_files_are_not() {
    let outer = Home::new();
    let Some(disk) = small_disk(&outer, 8) else {
        return;
    };
    let home = Home::new().at(disk.path().join("home"));
    let agent = home.join();
    let token = home.ok(&["token", "--scope", "human"]).trim().to_owned();
    let (first, port) = home.ask(&agent, "Which port?", None);
    let (second, host) = home.ask(&agent, "Which host?", None);
    let http = page_of(&home);
    let bearer = format!("Bearer {token}");
    let post = |path: &str, kind: &str, body: &[u8]| {
        let name = http.host();
        let headers = [
            ("host", name.as_str()),
            ("authorization", &bearer),
            ("content-type", kind),
        ];
        http.send("POST", &format!("/api/v1{path}"), &headers, body)
    };
    let answer = |cue: &str, text: &str| {
        let body = json!({ "id": Uuid::now_v7(), "answer": { "text": text }, "hold_ms": 0 });
        let path = format!("/cues/{cue}/answer");
        post(&path, "application/json", body.to_string().as_bytes())
    };
    let upload = || {
        post(
            "/uploads?name=a.bin",
            "application/octet-stream",
            &vec![7; 600_000],
        )
    };
    disk.fill();
    let taken = answer(&port, "8080");
    assert_eq!(taken.status, 200, "{}", taken.text());
    assert!(first.finish().printed(0).starts_with("8080\n"));
    let refused = upload();
    assert_eq!(refused.status, 507, "{}", refused.text());
    assert_eq!(refused.json()["error"]["code"], "storage");
    let taken = answer(&host, "the small one");
    assert_eq!(taken.status, 200, "{}", taken.text());
    assert!(second.finish().printed(0).starts_with("the small one\n"));
    disk.free();
    eventually("files are taken again", || (upload().status == 201).then_some(()));
}

#[test]
fn an_answer_larger_than_the_space_kept_for_it_is_refused_and_can_be_given_again() {
    let outer = Home::new();
    let Some(disk) = small_disk(&outer, 16) else {
        return;
    };
    let home = Home::new().at(disk.path().join("home"));
    let agent = home.join();
    let (client, cue) = home.ask(&agent, "Which port?", None);
    disk.fill();
    let long = "8080 ".repeat(300_000);
    home.run_with(&["answer", &cue, "-"], long.as_bytes())
        .refused(74, &["disk is full"]);
    assert!(
        client.is_running(),
        "an answer that is not on disk reaches nobody"
    );
    assert_eq!(client.stdout(), "");
    disk.free();
    eventually("the answer is taken", || {
        (home.run_with(&["answer", &cue, "-"], long.as_bytes()).code == Some(0)).then_some(())
    });
    assert!(client.finish().printed(0).starts_with("8080 8080"));
}

#[test]
fn a_log_that_cannot_be_written_stops_nobody() {
    let home = Home::new();
    std::fs::create_dir_all(home.path().join("logs")).unwrap();
    std::os::unix::fs::symlink("/dev/full", home.path().join("logs/broker.log")).unwrap();
    let agent = home.join();
    let run = home.ask_and_answer(&agent, "Which port?", None, &["8080"]);
    assert!(run.printed(0).starts_with("8080\n"), "{run:?}");
}

#[test]
fn a_home_that_is_taken_away_ends_its_broker_and_whoever_waits_is_told() {
    let home = Home::new();
    let agent = home.join();
    let (client, _) = home.ask(&agent, "Which port?", None);
    let broker = home.broker_pid();
    std::fs::rename(home.path(), home.scratch().join("moved")).unwrap();
    eventually("the broker notices", || (!is_alive(broker)).then_some(()));
    // The new home knows nothing; saying so is better than waiting for an answer that cannot come.
    client
        .finish()
        .refused(75, &["no longer known", "run the same command again"]);
    home.join();
    assert_ne!(home.broker_pid(), broker);
}

/// The number of the schema stands at byte 60 of the file.
fn set_schema(database: &Path, schema: u32) {
    let mut bytes = std::fs::read(database).unwrap();
    bytes[60..64].copy_from_slice(&schema.to_be_bytes());
    std::fs::write(database, bytes).unwrap();
}

#[test]
fn a_newer_database_is_refused_and_left_as_it_is() {
    let home = Home::new();
    home.join();
    home.ok(&["broker", "stop"]);
    set_schema(&home.database(), 9999);
    let before = std::fs::read(home.database()).unwrap();
    for words in [vec!["join", "cursor"], vec!["inbox"], vec!["broker", "run"]] {
        home.run(&words)
            .refused(69, &["schema 9999", "update cueme", "nothing was changed"]);
    }
    assert_eq!(std::fs::read(home.database()).unwrap(), before);
    // Looking at it may leave an empty log beside it, and nothing in it.
    let log = std::fs::metadata(home.path().join("data/cueme.db-wal"));
    assert_eq!(log.map_or(0, |log| log.len()), 0);
    let doctor = home.run(&["doctor", "--quick"]);
    assert!(doctor.printed(1).contains("update cueme"), "{}", doctor.stdout);
}

#[test]
fn a_damaged_database_is_reported_and_nothing_is_pretended() {
    let home = Home::new();
    let agent = home.join();
    for number in 0..20 {
        home.ask_and_answer(&agent, &format!("Question {number}?"), None, &["yes"]);
    }
    home.ok(&["broker", "stop"]);
    let mut bytes = std::fs::read(home.database()).unwrap();
    assert!(bytes.len() > 16 * 1024, "everything is in the file");
    for byte in &mut bytes[4096..] {
        *byte ^= 0x5a;
    }
    std::fs::write(home.database(), &bytes).unwrap();
    let _ = std::fs::remove_file(home.path().join("clean"));
    let run = home.run_with(&["cue", &agent, "-"], envelope("Now?", None).as_bytes());
    run.refused(69, &["damaged", "cueme restore"]);
    let doctor = home.run(&["doctor", "--quick"]);
    assert!(doctor.printed(1).contains("damaged"), "{}", doctor.stdout);
    assert_eq!(
        std::fs::read(home.database()).unwrap(),
        bytes,
        "it is left as it is"
    );
}

#[test]
fn a_database_damaged_after_an_orderly_stop_pretends_nothing_either() {
    let home = Home::new();
    let agent = home.join();
    home.ask_and_answer(&agent, "Which port?", None, &["8080"]);
    home.ok(&["broker", "stop"]);
    let mut bytes = std::fs::read(home.database()).unwrap();
    for byte in &mut bytes[4096..] {
        *byte ^= 0x5a;
    }
    std::fs::write(home.database(), &bytes).unwrap();
    let run = home.run_with(&["cue", &agent, "-"], envelope("Now?", None).as_bytes());
    assert!(matches!(run.code, Some(69 | 74)), "{run:?}");
    run.refused(run.code.unwrap(), &["error: ", "hint: "]);
}

/// Changes what was decided behind the broker's back.
fn damage(home: &Home, cue: &str) {
    home.ok(&["broker", "stop"]);
    let database = rusqlite::Connection::open(home.database()).unwrap();
    let changed = database.execute(
        "UPDATE decisions SET text = 'delete everything' WHERE seq = (SELECT seq FROM cues WHERE cue_id = ?1)",
        [cue],
    );
    assert_eq!(changed.unwrap(), 1);
}

#[test]
fn a_damaged_answer_reaches_nobody_and_a_human_closes_its_question() {
    let home = Home::new();
    let agent = home.join();
    let (client, cue) = home.ask(&agent, "What shall I delete?", None);
    drop(client);
    home.wait_for("What shall I delete?", 0);
    home.ok(&["say", &agent, "mind the backups"]);
    home.ok(&["answer", &cue, "delete nothing"]);
    damage(&home, &cue);

    let inbox = home.ok(&["inbox"]);
    let remedy = format!("`cueme cancel {cue}` closes it");
    assert!(
        inbox.contains("out of service: ") && inbox.contains(&remedy),
        "{inbox}"
    );
    let doctor = home.run(&["doctor", "--quick"]);
    assert!(doctor.printed(1).contains(&remedy), "{}", doctor.stdout);
    let answered = home.run(&["answer", &cue, "delete nothing"]);
    answered.refused(74, &["out of service", &remedy[..20]]);
    // The agent asks again: that is a new question, and the damaged words are in no answer.
    let (client, again) = home.ask(&agent, "What shall I delete?", None);
    assert_ne!(again, cue);

    let closed = home.ok(&["cancel", &cue]);
    assert!(closed.contains(&format!("closed {cue}: ")), "{closed}");
    assert_eq!(home.show(&cue)["outcome"], "cancelled");
    home.ok(&["doctor", "--quick"]);
    home.ok(&["answer", &again, "the cache"]);
    let told = client.finish();
    assert!(told.printed(0).contains("[note, written ") && told.stdout.contains("]\nmind the backups\n"));
    assert!(told.stdout.contains("[answer]\nthe cache\n"), "{}", told.stdout);
    // It hears of the closing like of every other.
    let told = home.start_cue(&agent, "And now?", None).finish();
    let text = told.printed(75);
    assert!(
        text.contains("closed without an answer (its record was damaged)"),
        "{text}"
    );
    assert!(!text.contains("everything"), "{text}");
    let history = home.ok(&["history", "--json"]);
    assert!(!history.contains("delete everything"), "{history}");
}

#[test]
fn a_damaged_question_can_be_declined_too_and_one_that_was_delivered_stays_as_it_is() {
    let home = Home::new();
    let agent = home.join();
    let (client, cue) = home.ask(&agent, "Ship it?", Some(r#"{"type":"confirm"}"#));
    drop(client);
    home.wait_for("Ship it?", 0);
    home.ok(&["answer", &cue, "--confirm"]);
    damage(&home, &cue);
    home.ok(&["decline", &cue, "not today"]);
    let told = home
        .start_cue(&agent, "Ship it?", Some(r#"{"type":"confirm"}"#))
        .finish();
    assert!(told.printed(0).starts_with("declined: not today\n"), "{told:?}");

    home.ask_and_answer(&agent, "Which port?", None, &["8080"]);
    let delivered = home.json(&["history", "--json", "--limit", "1"])[0]["cue_id"].clone();
    let delivered = delivered.as_str().unwrap();
    damage(&home, delivered);
    home.run(&["cancel", delivered]).refused(74, &["out of service"]);
    assert_eq!(home.show(delivered)["outcome"], "answered");
    assert!(home.show(delivered).get("text").is_none());
    assert!(home.ok(&["inbox"]).starts_with("no agent is waiting"));
}

#[test]
fn one_question_that_cannot_be_read_keeps_nobody_from_the_others() {
    let home = Home::new();
    let agent = home.join();
    let choice = r#"{"type":"choice","options":["a","b"]}"#;
    for (prompt, payload) in [("Unreadable?", None), ("Broken?", Some(choice)), ("Whole?", None)] {
        let (client, _) = home.ask(&agent, prompt, payload);
        drop(client);
        home.wait_for(prompt, 0);
    }
    let ids: Vec<String> = home
        .open_cues()
        .iter()
        .map(|cue| cue.cue_id.to_string())
        .collect();
    home.ok(&["broker", "stop"]);
    let database = rusqlite::Connection::open(home.database()).unwrap();
    let changed = database.execute_batch(
        "UPDATE questions SET prompt = CAST(x'556eff' AS TEXT) WHERE prompt = 'Unreadable?';
         UPDATE questions SET payload = '{\"type\":\"cho' WHERE prompt = 'Broken?';",
    );
    changed.unwrap();
    drop(database);

    let inbox = home.ok(&["inbox"]);
    assert_eq!(inbox.matches("out of service").count(), 2, "{inbox}");
    assert!(
        inbox.contains(&format!("answer with `cueme answer {}`", ids[2])),
        "{inbox}"
    );
    let token = home.ok(&["token", "--scope", "human"]);
    let page = page_of(&home);
    let (host, bearer) = (page.host(), format!("Bearer {}", token.trim()));
    let headers = [("host", host.as_str()), ("authorization", bearer.as_str())];
    for path in [
        "state",
        "cues",
        &format!("agents/{agent}/timeline"),
        &format!("cues/{}", ids[0]),
    ] {
        let shown = page.send("GET", &format!("/api/v1/{path}"), &headers, b"");
        assert_eq!(shown.status, 200, "{path}: {}", shown.text());
    }
    for cue in &ids[..2] {
        home.run(&["answer", cue, "yes"]).refused(74, &["error: "]);
        home.ok(&["cancel", cue]);
    }
    home.ok(&["answer", &ids[2], "yes"]);
    let told = home.start_cue(&agent, "Whole?", None).finish();
    assert!(told.printed(0).starts_with("yes\n"), "{told:?}");
    assert_eq!(home.json(&["inbox", "--json"]), serde_json::json!([]));
}

#[test]
fn a_file_that_is_no_database_is_refused() {
    let home = Home::new();
    std::fs::create_dir_all(home.database().parent().unwrap()).unwrap();
    let notes = "these are my notes, and they are long enough to look at. ".repeat(100);
    std::fs::write(home.database(), &notes).unwrap();
    home.run(&["join", "cursor"]).refused(69, &["cueme.db", "hint: "]);
    assert_eq!(std::fs::read_to_string(home.database()).unwrap(), notes);
}

#[test]
fn a_directory_that_cannot_be_written_says_so() {
    use std::os::unix::fs::PermissionsExt;
    let mut home = Home::new();
    std::fs::create_dir(home.path()).unwrap();
    let mut command = if is_root() {
        home.use_copy_of_binary();
        let mut command = home.command(&["join", "cursor"]);
        std::os::unix::fs::chown(home.path(), Some(NOBODY), Some(NOBODY)).unwrap();
        std::os::unix::process::CommandExt::uid(&mut command, NOBODY);
        command
    } else {
        home.command(&["join", "cursor"])
    };
    std::fs::set_permissions(home.path(), std::fs::Permissions::from_mode(0o555)).unwrap();
    let run = Client::start(&mut command, b"").finish();
    run.refused(69, &["could not", home.path().to_str().unwrap(), "hint: "]);
    std::fs::set_permissions(home.path(), std::fs::Permissions::from_mode(0o700)).unwrap();
    if !is_root() {
        home.join();
    }
}

#[test]
fn a_backup_is_whole_and_a_restore_brings_it_back() {
    let home = Home::new();
    let agent = home.join();
    home.ask_and_answer(&agent, "Before?", None, &["kept"]);
    let (client, open) = home.ask(&agent, "Open in the backup?", None);
    let copy = home.scratch().join("copy.db");
    let said = home.ok(&["backup", "copy.db"]);
    assert!(
        said.contains("2 questions") && said.contains("verified"),
        "{said}"
    );
    home.run(&["backup", "copy.db"])
        .refused(2, &["already exists", "hint: "]);
    home.ok(&["answer", &open, "after the backup"]);
    client.finish().printed(0);
    home.ask_and_answer(&agent, "After?", None, &["lost"]);
    let said = home.ok(&["restore", copy.to_str().unwrap()]);
    assert!(said.contains("restored 2 questions"), "{said}");
    let kept = said.lines().find_map(|line| line.split(" is kept as ").nth(1));
    assert!(Path::new(kept.unwrap()).is_file(), "{said}");
    let prompts: Vec<serde_json::Value> = home
        .json(&["history", "--json"])
        .as_array()
        .unwrap()
        .iter()
        .map(|cue| cue["prompt"].clone())
        .collect();
    assert_eq!(prompts, ["Open in the backup?", "Before?"]);
    let (client, again) = home.ask(&agent, "Open in the backup?", None);
    assert_eq!(again, open, "it is open again");
    home.ok(&["answer", &open, "now"]);
    assert!(client.finish().printed(0).starts_with("now\n"));
    assert!(home.ok(&["doctor", "--quick"]).contains("ok    database: sound"));
}

#[test]
fn a_restore_of_anything_else_is_refused_and_changes_nothing() {
    let home = Home::new();
    let agent = home.join();
    home.ask_and_answer(&agent, "Before?", None, &["kept"]);
    let broker = home.broker_pid();
    let notes = home.scratch().join("notes.txt");
    std::fs::write(&notes, "not a database ".repeat(300)).unwrap();
    home.ok(&["backup", "copy.db"]);
    let newer = home.scratch().join("newer.db");
    std::fs::copy(home.scratch().join("copy.db"), &newer).unwrap();
    set_schema(&newer, 9999);
    for (file, words) in [
        ("missing.db", "there is no file"),
        ("notes.txt", "hint: nothing was changed"),
        ("newer.db", "update cueme"),
    ] {
        home.run(&["restore", file]).refused(2, &[words]);
    }
    assert_eq!(home.broker_pid(), broker, "the broker was not even stopped");
    assert_eq!(home.ok(&["last", &agent]), "kept\n");
}

#[test]
fn purge_deletes_what_is_settled_and_old_and_nothing_else() {
    let home = Home::new();
    let agent = home.join();
    home.ask_and_answer(&agent, "Old and settled?", None, &["yes"]);
    let (_client, open) = home.ask(&agent, "Old and open?", None);
    let (missed, undelivered) = home.ask(&agent, "Answered and not delivered?", None);
    missed.kill();
    home.wait_for("Answered and not delivered?", 0);
    home.ok(&["answer", &undelivered, "later"]);
    let count = home.ok(&["purge", "--older-than", "0", "--dry-run"]);
    assert_eq!(count, "would delete 1 question; nothing was changed\n");
    assert_eq!(home.ok(&["purge", "--older-than", "1h"]), "deleted 0 questions\n");
    assert_eq!(home.ok(&["purge", "--older-than", "0"]), "deleted 1 question\n");
    let left = home.json(&["history", "--json"]);
    assert_eq!(left.as_array().unwrap().len(), 2);
    assert_eq!(
        home.json(&["history", "--search", "settled", "--json"]),
        serde_json::json!([])
    );
    assert_eq!(home.show(&open)["outcome"], "open");
    let run = home
        .start_cue(&agent, "Answered and not delivered?", None)
        .finish();
    assert!(run.printed(0).starts_with("later\n"), "{run:?}");
}
