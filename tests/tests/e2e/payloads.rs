//! Each kind of question, and each way to answer it.

use cueme_tests::{Client, Home, Signal, eventually};
use protocol_spec::answer::{self, Answer, FieldAnswer};
use protocol_spec::message::{Attach, GiveAnswer, Reply, Request, Undo};

const CHOICE: &str = r#"{"type":"choice","options":["SQLite","PostgreSQL","none, really"]}"#;
const SEVERAL: &str = r#"{"type":"choice","options":["unit","e2e","bench"],"allow_multiple":true}"#;
const CONFIRM: &str =
    r#"{"type":"confirm","text":"Run it?","confirm_label":"Run it","cancel_label":"Leave it"}"#;
const FORM: &str = r#"{"type":"form","fields":[
    {"label":"Name"},
    {"label":"Notes","kind":"textarea"},
    {"label":"Replicas","kind":"number"},
    {"label":"Dry run","kind":"boolean"},
    {"label":"Day","kind":"date"},
    {"label":"Environment","options":["staging","production"]},
    {"label":"Regions","options":["eu","us"],"allow_multiple":true},
    {"label":"Token","kind":"password"}]}"#;

/// Returns the text that the agent reads above the reminder.
fn said(home: &Home, agent: &str, payload: Option<&str>, answer: &[&str]) -> String {
    let run = home.ask_and_answer(agent, "Well?", payload, answer);
    let (text, reminder) = run.printed(0).rsplit_once("\n\n").unwrap();
    assert!(reminder.starts_with('('), "{reminder}");
    text.to_owned()
}

#[test]
fn text_arrives_as_it_was_written() {
    let home = Home::new();
    let agent = home.join();
    assert_eq!(said(&home, &agent, None, &["use", "SQLite"]), "use SQLite");
    let (client, cue) = home.ask(&agent, "Well?", None);
    let text = "first line\n\n  数据库 \\n stays \\n\ttab";
    home.run_with(&["answer", &cue, "-"], format!("{text}\n").as_bytes())
        .printed(0);
    assert!(client.finish().printed(0).starts_with(&format!("{text}\n\n(")));
}

#[test]
fn one_option_is_picked_and_several_keep_their_order() {
    let home = Home::new();
    let agent = home.join();
    assert_eq!(
        said(&home, &agent, Some(CHOICE), &["--select", "none, really"]),
        "none, really"
    );
    let several = ["--select", "bench", "--select", "unit"];
    assert_eq!(said(&home, &agent, Some(SEVERAL), &several), "unit\nbench");
}

#[test]
fn other_text_beside_or_instead_of_options_is_kept() {
    let home = Home::new();
    let agent = home.join();
    assert_eq!(
        said(&home, &agent, Some(CHOICE), &["--other", "a flat file"]),
        "a flat file"
    );
    assert_eq!(
        said(&home, &agent, Some(CHOICE), &["--select", "SQLite", "for now"]),
        "SQLite\n\nfor now"
    );
    assert_eq!(
        said(&home, &agent, Some(CHOICE), &["neither, ask Ana"]),
        "neither, ask Ana"
    );
}

#[test]
fn a_confirm_is_answered_by_the_label_pressed() {
    let home = Home::new();
    let agent = home.join();
    assert_eq!(said(&home, &agent, Some(CONFIRM), &["--confirm"]), "Run it");
    assert_eq!(
        said(
            &home,
            &agent,
            Some(CONFIRM),
            &["--cancel", "not before the backup"]
        ),
        "Leave it\n\nnot before the backup"
    );
    let plain = r#"{"type":"confirm"}"#;
    let yes = said(&home, &agent, Some(plain), &["--confirm"]);
    let no = said(&home, &agent, Some(plain), &["--cancel"]);
    assert!(!yes.is_empty() && !no.is_empty() && yes != no, "{yes} {no}");
}

#[test]
fn a_form_is_answered_field_by_field() {
    let home = Home::new();
    let agent = home.join();
    let answer = [
        "--field",
        "Name=Ana",
        "--field",
        "Notes=one\ntwo",
        "--field",
        "Replicas=3",
        "--field",
        "Dry run=yes",
        "--field",
        "Day=2026-02-28",
        "--field",
        "Environment=staging",
        "--field",
        "Regions=us",
        "--field",
        "Regions=eu",
        "--field",
        "Token=s3cret=with=signs",
    ];
    let text = said(&home, &agent, Some(FORM), &answer);
    for line in [
        "Name: Ana\n",
        "Notes:\n  one\n  two\n",
        "Replicas: 3\n",
        "Day: 2026-02-28\n",
        "Environment: staging\n",
        "Regions: eu, us\n",
        "Token: s3cret=with=signs",
    ] {
        assert!(text.contains(line), "{line:?} is missing in\n{text}");
    }
}

#[test]
fn an_answer_that_does_not_fit_is_refused_and_the_question_stays() {
    let home = Home::new();
    let agent = home.join();
    let (client, cue) = home.ask(&agent, "Well?", Some(FORM));
    for (field, words) in [
        ("Replicas=many", vec!["Replicas", "number"]),
        ("Day=tomorrow", vec!["Day"]),
        ("Environment=prod", vec!["\"prod\" was not offered", "production"]),
        ("Nmae=x", vec!["no field \"Nmae\"", "Name"]),
        ("Dry run=perhaps", vec!["Dry run"]),
        ("no equals sign", vec!["LABEL=VALUE"]),
    ] {
        let run = home.run(&["answer", &cue, "--field", field]);
        run.refused(2, &words);
        run.refused(2, &["hint: "]);
    }
    home.run(&["answer", &cue, "--select", "eu"])
        .refused(2, &["form"]);
    home.run(&["answer", &cue, "   "]).refused(2, &["empty"]);
    home.run(&["answer", &cue]).refused(2, &["no terminal to ask in"]);
    assert!(client.is_running(), "nothing of this reached the agent");
    home.ok(&["answer", &cue, "--field", "Name=Ana"]);
    assert!(client.finish().printed(0).starts_with("Name: Ana\n"));
    let (_other, cue) = home.ask(&agent, "Again?", Some(CHOICE));
    home.run(&["answer", &cue, "--select", "Oracle"])
        .refused(2, &["\"Oracle\" was not offered"]);
    home.run(&["answer", &cue, "--select", "SQLite", "--select", "PostgreSQL"])
        .refused(2, &["one is allowed"]);
}

#[test]
fn a_pause_is_ended_by_continue_or_by_words() {
    let home = Home::new();
    let agent = home.join();
    for (answer, text) in [
        (vec!["--confirm"], "Continue\n"),
        (vec!["check", "the", "logs"], "check the logs\n"),
        (vec!["--confirm", "but slowly"], "Continue\n\nbut slowly\n"),
    ] {
        let client = Client::start(&mut home.command(&["pause", &agent, "Stop?"]), b"");
        let cue = home.wait_for("Stop?", 1);
        let words: Vec<&str> = ["answer", &cue].into_iter().chain(answer).collect();
        home.ok(&words);
        assert!(client.finish().printed(0).starts_with(text));
    }
    let client = Client::start(&mut home.command(&["pause", &agent]), b"");
    let cue = home
        .wait_for("The agent has paused and waits for you to let it continue.", 1)
        .clone();
    assert_eq!(home.show(&cue)["kind"], "pause");
    home.run(&["answer", &cue, "--cancel"]).refused(2, &["a pause"]);
    home.ok(&["answer", &cue, "--confirm"]);
    client.finish().printed(0);
}

#[test]
fn an_attachment_arrives_as_an_absolute_path() {
    let home = Home::new();
    let agent = home.join();
    let file = home.scratch().join("shot 1.png");
    std::fs::write(&file, "not really a picture").unwrap();
    let text = said(&home, &agent, None, &["see", "--attach", "shot 1.png"]);
    let path = file.canonicalize().unwrap();
    assert_eq!(text, format!("see\n\nattachments:\n{}", path.display()));
    let (_client, cue) = home.ask(&agent, "Well?", None);
    home.run(&["answer", &cue, "--attach", "missing.png"])
        .refused(2, &["missing.png"]);
}

#[test]
fn json_prints_the_outcome_as_one_object() {
    let home = Home::new();
    let agent = home.join();
    let stdin = cueme_tests::envelope("Well?", Some(CHOICE));
    let client = Client::start(
        &mut home.command(&["cue", &agent, "-", "--json"]),
        stdin.as_bytes(),
    );
    let cue = home.wait_for("Well?", 1);
    home.ok(&["answer", &cue, "--select", "SQLite", "for now"]);
    let run = client.finish();
    let object: serde_json::Value = serde_json::from_str(run.printed(0)).unwrap();
    assert_eq!(object["result"], "outcome");
    assert_eq!(object["cue_id"], cue.as_str());
    assert_eq!(object["outcome"], "answered");
    assert_eq!(object["by"], "tester");
    assert_eq!(object["answer"]["reply"]["selected"][0], "SQLite");
    assert_eq!(object["answer"]["text"], "for now");
}

#[test]
fn a_payload_is_kept_as_the_agent_wrote_it() {
    let home = Home::new();
    let agent = home.join();
    let payload = r#"{"zeta":12345678901234567890.10, "type":"confirm", "alpha":{"b":1e3,"a":[]}}"#;
    let (_client, cue) = home.ask(&agent, "Well?", Some(payload));
    let shown = home.ok(&["show", &cue, "--json"]);
    assert!(shown.contains(payload), "{shown}");
    assert!(home.ok(&["inbox", "--json"]).contains(payload));
}

/// Secrets reach the agent and nobody else, and nothing on disk holds them once it has them.
#[test]
fn a_password_is_erased_once_it_was_delivered() {
    const SECRET: &str = "correct-horse-battery-staple";
    let home = Home::new();
    let agent = home.join();
    let payload = r#"{"type":"form","fields":[{"label":"User"},{"label":"Key","kind":"password"}]}"#;
    let (client, cue) = home.ask(&agent, "Credentials?", Some(payload));
    client.signal(Signal::STOP);
    let field = format!("Key={SECRET}");
    home.ok(&["answer", &cue, "--field", "User=ana", "--field", &field]);
    assert!(
        !home.ok(&["show", &cue]).contains(SECRET),
        "not even before it is delivered"
    );
    client.signal(Signal::CONT);
    assert_eq!(
        client.finish().printed(0).lines().nth(1),
        Some(format!("Key: {SECRET}").as_str())
    );
    assert_eq!(home.delivery(&cue), "acknowledged");
    for words in [
        vec!["history", "--json"],
        vec!["history", "--markdown"],
        vec!["show", &cue],
        vec!["last", &agent],
        vec!["broker", "logs"],
    ] {
        let text = home.ok(&words);
        assert!(!text.contains(SECRET), "{words:?} shows it:\n{text}");
    }
    assert_eq!(
        home.json(&["history", "--search", SECRET, "--json"]),
        serde_json::json!([])
    );
    home.run(&["recall", SECRET]).refused(1, &["no agent matches"]);
    eventually("no file holds it", || {
        files_with(home.path(), SECRET.as_bytes())
            .is_empty()
            .then_some(())
    });
    assert!(
        home.ok(&["last", &agent]).contains("Key: [redacted]"),
        "that there was one is not hidden"
    );
    home.ok(&["broker", "stop"]);
    assert!(files_with(home.path(), SECRET.as_bytes()).is_empty());
}

#[test]
fn who_comes_late_hears_of_a_password_and_not_what_it_was() {
    const SECRET: &str = "correct-horse-battery-staple";
    let home = Home::new();
    let agent = home.join();
    let payload = r#"{"type":"form","fields":[{"label":"User"},{"label":"Key","kind":"password"}]}"#;
    let (client, cue) = home.ask(&agent, "Credentials?", Some(payload));
    let attach = Request::Attach(Attach {
        cue_id: cue.parse().unwrap(),
        nonce: None,
    });
    // A second client waits all the time and reads nothing until the first has acknowledged the answer.
    let mut second = home.wire();
    second.send(&attach);
    home.wait_for("Credentials?", 2);
    let field = format!("Key={SECRET}");
    home.ok(&["answer", &cue, "--field", "User=ana", "--field", &field]);
    assert!(client.finish().printed(0).contains(SECRET));
    assert_eq!(home.delivery(&cue), "acknowledged");
    for _ in 0..2 {
        let mut wire = home.wire();
        wire.send(&attach);
        let late = loop {
            match wire.hear() {
                Some(Reply::Outcome(late)) => break late,
                Some(Reply::Asked(_)) => {}
                other => panic!("{other:?}"),
            }
        };
        let told = format!("{late:?}");
        assert!(
            !told.contains(SECRET) && late.text.contains("Key: [redacted]") && late.text.contains("ana"),
            "{told}"
        );
        home.kill_broker();
        home.ok(&["agents"]);
    }
    drop(second);
    eventually("no file holds it", || {
        files_with(home.path(), SECRET.as_bytes())
            .is_empty()
            .then_some(())
    });
}

/// A secret that was sent by mistake and taken back in time is nowhere.
#[test]
fn a_password_that_is_taken_back_is_erased_and_not_shown_again() {
    const SECRET: &str = "wrong-horse-battery-staple";
    let home = Home::new();
    let agent = home.join();
    let payload = r#"{"type":"form","fields":[{"label":"User"},{"label":"Key","kind":"password"}]}"#;
    let (client, cue) = home.ask(&agent, "Credentials?", Some(payload));
    let field = |label: &str, value: &str| FieldAnswer {
        label: label.to_owned(),
        values: vec![value.to_owned()],
        other: None,
    };
    let give = |fields| {
        Request::Answer(GiveAnswer {
            cue: cue.clone(),
            answer: Answer {
                reply: Some(answer::Reply::Form { fields }),
                ..Answer::default()
            },
            by: None,
            hold_ms: 60_000,
        })
    };
    let mut wire = home.wire();
    let given = wire.call(&give(vec![field("User", "ana"), field("Key", SECRET)]));
    assert!(matches!(given, Some(Reply::Decided(_))), "{given:?}");
    let Some(Reply::Undone(undone)) = wire.call(&Request::Undo(Undo { cue: cue.clone() })) else {
        panic!("not undone")
    };
    let draft = undone.answer.and_then(|answer| answer.reply);
    assert_eq!(
        draft,
        Some(answer::Reply::Form {
            fields: vec![field("User", "ana")]
        }),
        "the rest of the answer comes back as a draft"
    );
    eventually("no file holds it", || {
        files_with(home.path(), SECRET.as_bytes())
            .is_empty()
            .then_some(())
    });
    home.ok(&["answer", &cue, "never mind"]);
    assert!(client.finish().printed(0).starts_with("never mind"));
}

fn files_with(directory: &std::path::Path, bytes: &[u8]) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.append(&mut files_with(&path, bytes));
        } else if path.is_file() {
            let content = std::fs::read(&path).unwrap();
            if content.windows(bytes.len()).any(|window| window == bytes) {
                found.push(path);
            }
        }
    }
    found
}

#[test]
fn a_prompt_of_sixteen_mebibytes_is_asked_and_one_beyond_the_limit_is_not() {
    use protocol_spec::envelope::PROMPT_BYTES_MAX;
    let home = Home::new();
    let agent = home.join();
    let line = "数据库?";
    let prompt = vec![line; 16 * 1024 * 1024 / (line.len() + 1) + 1].join("\n");
    assert!(prompt.len() >= 16 * 1024 * 1024);
    let (client, cue) = home.ask(&agent, &prompt, None);
    home.ok(&["answer", &cue, "long, but fine"]);
    assert!(client.finish().printed(0).starts_with("long, but fine\n"));
    let beyond = "x".repeat(PROMPT_BYTES_MAX + 1);
    let stdin = cueme_tests::envelope(&beyond, None);
    home.run_with(&["cue", &agent, "-"], stdin.as_bytes())
        .refused(2, &[&PROMPT_BYTES_MAX.to_string(), "hint: "]);
}
