//! The human's side of the command, against the real binary.

use cueme_tests::{Client, Home, envelope};

const CHOICE: &str = r#"{"type":"choice","options":["SQLite","PostgreSQL"]}"#;
const FORM: &str = r#"{"type":"form","fields":[{"label":"Env","options":["prod","staging"]},{"label":"Replicas","kind":"number"},{"label":"Token","kind":"password"}]}"#;

#[test]
fn an_inbox_without_questions_is_an_empty_array_and_a_sentence() {
    let home = Home::created();
    assert_eq!(home.run(&["inbox", "--json"]).expect(0).stdout, "[]\n");
    assert!(
        home.run(&["inbox"])
            .expect(0)
            .stdout
            .contains("no agent is waiting")
    );
}

#[test]
fn the_inbox_shows_what_was_asked_by_whom_and_who_waits() {
    let home = Home::created();
    let agent = home.join_as("terminal");
    let (asking, cue) = home.ask(&agent, "用哪个数据库?", Some(CHOICE));
    let inbox = home.run(&["inbox", "--json"]).expect(0).json();
    let entry = &inbox.as_array().unwrap()[0];
    assert_eq!(entry["cue_id"], cue.as_str());
    assert_eq!(entry["agent_id"], agent.as_str());
    assert_eq!(
        (&entry["kind"], &entry["outcome"], &entry["delivery"]),
        (&"cue".into(), &"open".into(), &"none".into())
    );
    assert_eq!(entry["payload"]["options"][1], "PostgreSQL");
    assert_eq!(entry["waiting"], 1);
    assert!(entry["asked_at"].as_str().unwrap().ends_with('Z'));
    let shown = home.run(&["inbox"]).expect(0).stdout;
    for part in ["用哪个数据库?", "( ) SQLite", &agent, "waiting"] {
        assert!(shown.contains(part), "{part} is missing in {shown}");
    }
    home.run(&["answer", &cue, "--select", "SQLite"]).expect(0);
    assert!(asking.finish().expect(0).stdout.starts_with("SQLite\n"));
    assert_eq!(home.run(&["inbox", "--json"]).expect(0).stdout, "[]\n");
}

#[test]
fn text_an_agent_wrote_cannot_act_on_the_humans_terminal() {
    let home = Home::created();
    let agent = home.join_as("terminal");
    let (_asking, cue) = home.ask(&agent, "a\u{1b}[2Jb\u{202e}c", None);
    for words in [&["inbox"][..], &["show", &cue], &["history"]] {
        let shown = home.run(words).expect(0).stdout;
        assert!(
            !shown.contains('\u{1b}') && !shown.contains('\u{202e}'),
            "{shown:?}"
        );
        assert!(shown.contains("a␛[2Jb<U+202E>c"), "{shown}");
    }
}

#[test]
fn a_unique_prefix_of_an_id_is_enough_for_a_human() {
    let home = Home::created();
    let agent = home.join_as("terminal");
    let (asking, cue) = home.ask(&agent, "A?", None);
    home.run(&["answer", &cue[..6], "yes", "of", "course"]).expect(0);
    assert!(asking.finish().expect(0).stdout.starts_with("yes of course\n"));
}

#[test]
fn an_option_that_was_not_offered_is_refused_with_the_nearest_one() {
    let home = Home::created();
    let agent = home.join_as("terminal");
    let (asking, cue) = home.ask(&agent, "A?", Some(CHOICE));
    let refused = home.run(&["answer", &cue, "--select", "sqlit"]).expect(2);
    assert!(refused.stderr.contains("SQLite"), "{}", refused.stderr);
    assert!(asking.is_running());
    home.run(&["answer", &cue, "--other", "a plain file"]).expect(0);
    assert!(asking.finish().expect(0).stdout.starts_with("a plain file\n"));
}

#[test]
fn a_form_is_filled_in_field_by_field_and_its_secret_is_not_shown_again() {
    let home = Home::created();
    let agent = home.join_as("terminal");
    let (asking, cue) = home.ask(&agent, "Deploy?", Some(FORM));
    home.run(&[
        "answer",
        &cue,
        "--field",
        "Env=staging",
        "--field",
        "Replicas=many",
    ])
    .expect(2);
    home.run(&["answer", &cue, "--field", "Env"]).expect(2);
    let fields = [
        "--field",
        "Env=staging",
        "--field",
        "Replicas=3",
        "--field",
        "Token=hush-hush",
    ];
    let words: Vec<&str> = ["answer", &cue].into_iter().chain(fields).collect();
    home.run(&words).expect(0);
    let read = asking.finish().expect(0).stdout;
    assert!(
        read.starts_with("Env: staging\nReplicas: 3\nToken: hush-hush\n"),
        "{read}"
    );
    for words in [
        &["show", &cue][..],
        &["last", &agent],
        &["history", "--json"],
        &["history", "--markdown"],
    ] {
        let shown = home.run(words).expect(0).stdout;
        assert!(!shown.contains("hush-hush"), "{shown}");
    }
}

#[test]
fn a_confirm_is_pressed_and_words_beside_it_are_kept() {
    let home = Home::created();
    let agent = home.join_as("terminal");
    let payload = r#"{"type":"confirm","text":"Go?","confirm_label":"Go","cancel_label":"Stay"}"#;
    let (asking, cue) = home.ask(&agent, "A?", Some(payload));
    home.run(&["answer", &cue, "--cancel", "tests are red"]).expect(0);
    assert!(
        asking
            .finish()
            .expect(0)
            .stdout
            .starts_with("Stay\n\ntests are red\n")
    );
}

#[test]
fn an_attachment_reaches_the_agent_as_an_absolute_path() {
    let home = Home::created();
    let agent = home.join_as("terminal");
    let (asking, cue) = home.ask(&agent, "A?", None);
    let file = home.path().join("shot.png");
    std::fs::write(&file, "png").unwrap();
    home.run(&["answer", &cue, "--attach", "/no/such/file"]).expect(2);
    home.run(&["answer", &cue, "see", "--attach", file.to_str().unwrap()])
        .expect(0);
    let absolute = std::fs::canonicalize(&file).unwrap();
    let read = asking.finish().expect(0).stdout;
    assert!(read.contains(absolute.to_str().unwrap()), "{read}");
}

#[test]
fn an_answer_may_come_from_stdin() {
    let home = Home::created();
    let agent = home.join_as("terminal");
    let (asking, cue) = home.ask(&agent, "A?", None);
    home.run_with(&["answer", &cue, "-"], "one\ntwo\n").expect(0);
    assert!(asking.finish().expect(0).stdout.starts_with("one\ntwo\n\n"));
}

#[test]
fn a_second_answer_is_refused_and_says_what_the_first_was() {
    let home = Home::created();
    let agent = home.join_as("terminal");
    let (asking, cue) = home.ask(&agent, "A?", None);
    home.run(&["answer", &cue, "first"]).expect(0);
    asking.finish().expect(0);
    let refused = home.run(&["answer", &cue, "second"]).expect(1);
    assert!(refused.stderr.contains("first"), "{}", refused.stderr);
}

#[test]
fn the_human_is_told_whether_anyone_listens() {
    let home = Home::created();
    let agent = home.join_as("terminal");
    let (asking, cue) = home.ask(&agent, "A?", None);
    let told = home.run(&["answer", &cue, "now"]).expect(0).stdout;
    assert!(told.contains("delivered to"), "{told}");
    asking.finish().expect(0);
    let (asking, cue) = home.ask(&agent, "B?", None);
    drop(asking);
    home.wait_until_unattended("B?");
    let shown = home.run(&["inbox"]).expect(0).stdout;
    assert!(shown.contains("stopped listening"), "{shown}");
    let told = home.run(&["answer", &cue, "late"]).expect(0).stdout;
    assert!(told.contains("gets this when it asks again"), "{told}");
    let shown = home.run(&["show", &cue]).expect(0).stdout;
    assert!(shown.contains("not received yet"), "{shown}");
    let read = home
        .run_with(&["cue", &agent, "-"], &envelope("B?", None))
        .expect(0)
        .stdout;
    assert!(read.starts_with("late\n"), "{read}");
    let shown = home.run(&["show", &cue]).expect(0).stdout;
    assert!(shown.contains("received by the agent"), "{shown}");
}

#[test]
fn a_note_left_before_is_read_above_the_next_answer() {
    let home = Home::created();
    let agent = home.join_as("terminal");
    home.run(&["say", &agent, "use", "staging"]).expect(0);
    let (asking, cue) = home.ask(&agent, "A?", None);
    home.run(&["answer", &cue, "yes"]).expect(0);
    let read = asking.finish().expect(0).stdout;
    let (note, answer) = (read.find("use staging"), read.find("yes"));
    assert!(note.is_some() && note < answer, "{read}");
    assert!(
        home.run(&["last", &agent])
            .expect(0)
            .stdout
            .contains("use staging")
    );
    home.run(&["say", &agent, "  "]).expect(2);
    home.run(&["say", "nobody-here", "hello"]).expect(3);
}

#[test]
fn agents_are_listed_with_what_they_do() {
    let home = Home::created();
    assert_eq!(home.run(&["agents", "--json"]).expect(0).stdout, "[]\n");
    let agent = home.join_as("terminal");
    let (_asking, _) = home.ask(&agent, "A?", None);
    let agents = home.run(&["agents", "--json"]).expect(0).json();
    assert_eq!(agents[0]["agent_id"], agent.as_str());
    assert_eq!(
        (&agents[0]["open_cues"], &agents[0]["waiting"]),
        (&1.into(), &1.into())
    );
    assert!(home.run(&["agents"]).expect(0).stdout.contains("1 open, waiting"));
}

#[test]
fn history_finds_two_character_chinese_words_and_keeps_to_its_limit() {
    let home = Home::created();
    let agent = home.join_as("terminal");
    for (prompt, answer) in [
        ("数据库迁移好了", "继续"),
        ("Deploy?", "later"),
        ("Rename?", "fine"),
    ] {
        let (asking, cue) = home.ask(&agent, prompt, None);
        home.run(&["answer", &cue, answer]).expect(0);
        asking.finish().expect(0);
    }
    let found = home
        .run(&["history", "--search", "迁移", "--json"])
        .expect(0)
        .json();
    assert_eq!(found.as_array().unwrap().len(), 1);
    assert_eq!(found[0]["text"], "继续");
    let limited = home
        .run(&["history", "--limit", "1", "--agent", &agent, "--json"])
        .expect(0);
    assert_eq!(limited.json()[0]["prompt"], "Rename?");
    assert!(limited.stderr.contains("--limit 2"), "{}", limited.stderr);
    let markdown = home.run(&["history", "--markdown"]).expect(0).stdout;
    assert!(
        markdown.contains("> Deploy?") && markdown.contains("> later"),
        "{markdown}"
    );
}

#[test]
fn wrong_calls_end_with_two_and_show_the_right_call() {
    let home = Home::created();
    for (words, shown) in [
        (&["cue"][..], "cueme cue"),
        (&["cue", "bako-nefi"], "cueme cue bako-nefi -"),
        (&["anwser", "x"], "answer"),
        (&["join"], "cueme join cursor"),
        (&["join", "Claude Code"], "cueme join claude_code"),
        (&["answer", "x", "--confirm", "--cancel"], "cueme answer"),
        (&["purge", "--older-than", "soon"], "90s"),
        (&["answer", "x"], "cueme answer <cue_id>"),
    ] {
        let refused = home.run(words).expect(2);
        assert!(refused.stderr.contains(shown), "{words:?}: {}", refused.stderr);
        assert_eq!(refused.stdout, "", "{words:?}");
    }
    assert!(
        !home.path().join("data/broker.lock").exists(),
        "a wrong call started a broker"
    );
}

#[test]
fn help_shows_examples_of_every_verb() {
    let home = Home::created();
    let help = home.run(&["--help"]).expect(0).stdout;
    for verb in [
        "join", "recall", "cue", "pause", "inbox", "answer", "doctor", "demo",
    ] {
        assert!(help.contains(verb), "{verb}");
        let own = home.run(&[verb, "--help"]).expect(0).stdout;
        assert!(own.contains(&format!("cueme {verb}")), "{own}");
    }
}

#[test]
fn a_closed_pipe_ends_a_list_quietly() {
    use std::process::Stdio;
    let home = Home::created();
    let mut listing = home
        .command(&["--help"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(listing.stdout.take());
    let output = listing.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    let mut listing = home
        .command(&["agents", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(listing.stdout.take());
    let output = listing.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn words_that_begin_with_a_dash_are_words_wherever_free_text_is_taken() {
    let home = Home::created();
    let agent = home.join_as("terminal");
    let (asking, cue) = home.ask(&agent, "Which flags?", None);
    home.run(&["answer", &cue, "-x=1 and -v"]).expect(0);
    assert!(asking.finish().expect(0).stdout.starts_with("-x=1 and -v\n"));
    let paused = home.run(&["pause", &agent, "- tests are green", "--check"]);
    assert!(paused.expect(0).stdout.contains("- tests are green"));
    let paused = home.run(&["pause", &agent, "--check", "--", "--force"]);
    assert!(paused.expect(0).stdout.contains("--force"));
    home.run(&["pause", &agent, "--chekc"]).expect(2);
    let found = home.run(&["recall", "- which flags", "--json"]).expect(0).stdout;
    assert!(found.contains(&agent), "{found}");
    let found = home.run(&["history", "--search", "-x=1 and", "--json"]);
    assert_eq!(found.expect(0).json()[0]["cue_id"], cue.as_str());
}

#[test]
fn an_outcome_for_the_null_device_names_it_and_is_not_acknowledged() {
    let home = Home::created();
    let agent = home.join_as("terminal");
    // Node's `ignore` and Python's `DEVNULL` open it like this, for reading and writing.
    let null = std::fs::File::options()
        .read(true)
        .write(true)
        .open("/dev/null")
        .unwrap();
    let mut command = home.command(&["cue", &agent, "--prompt", "A?"]);
    let asking = Client::start_with_own_stdout(command.stdout(null), b"");
    let cue = home.wait_for("A?", 1);
    home.run(&["answer", &cue, "heard?"]).expect(0);
    let failed = asking.finish().expect(74).stderr;
    assert!(failed.contains("stdout is /dev/null"), "{failed}");
    assert!(failed.contains("nothing was acknowledged"), "{failed}");
    let shown = home.run(&["show", &cue]).expect(0).stdout;
    assert!(!shown.contains("received by the agent"), "{shown}");
}

#[test]
fn help_groups_the_verbs_and_fits_a_screen() {
    let home = Home::created();
    let help = home.run(&["--help"]).expect(0).stdout;
    let mut below = help.as_str();
    for group in ["You", "Agents", "Connect", "Operate", "Cursor"] {
        let heading = format!(" {group} ");
        let Some((_, rest)) = below.split_once(&heading) else {
            panic!("no group {group} below the one before it: {help}");
        };
        below = rest;
    }
    // A screen of 40 lines, with one for the prompt of the shell.
    assert!(
        help.lines().count() < 40,
        "{} lines: {help}",
        help.lines().count()
    );
    for line in help.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
    // A line that is too long is wrapped.
    let last: Vec<&str> = help.lines().rev().take(2).collect();
    assert!(
        last[1].starts_with("Exit codes:") && last[0].ends_with("signal"),
        "{help}"
    );
    assert_eq!(home.run(&["help"]).expect(0).stdout, help);
}

#[test]
fn common_words_are_understood() {
    let home = Home::created();
    let agent = home.join_as("terminal");
    let (asking, cue) = home.ask(&agent, "A?", None);
    let listed = home.run(&["ls", "--json"]).expect(0).json();
    assert_eq!(listed[0]["cue_id"], cue.as_str());
    home.run(&["reply", &cue, "-v levels"]).expect(0);
    assert!(asking.finish().expect(0).stdout.starts_with("-v levels\n"));
    let status = home.run(&["status", "--json"]).expect(0).json();
    assert_eq!(
        status["pid"],
        home.run(&["broker", "status", "--json"]).expect(0).json()["pid"]
    );
    home.run(&["logs", "-n", "1"]).expect(0);
    let link = home.run(&["web", "--print-url"]).expect(0).stdout;
    assert!(link.starts_with("http"), "{link}");
    for (word, verb) in [
        ("watch", "inbox"),
        ("setup", "init"),
        ("status", "broker status"),
        ("reply", "answer"),
    ] {
        let usage = format!("Usage: cueme {verb}");
        for words in [[word, "--help"], ["help", word]] {
            let help = home.run(&words).expect(0).stdout;
            assert!(help.contains(&usage), "{words:?}: {help}");
        }
    }
    // No gate of a host would count it as a question.
    let refused = home.run(&["ask", &agent, "-"]).expect(2).stderr;
    assert!(refused.contains("cueme cue <agent_id> -"), "{refused}");
    let wrong = home.run(&["reply", &cue, "--confrim"]).expect(2).stderr;
    assert!(wrong.contains("cueme answer"), "{wrong}");
}

#[test]
fn history_may_be_one_line_for_each_question() {
    let home = Home::created();
    let agent = home.join_as("terminal");
    let long = format!("Deploy\u{1b}[2J now?\nAll of {}it", "very ".repeat(40));
    for prompt in ["数据库迁移好了", &long] {
        let (asking, cue) = home.ask(&agent, prompt, None);
        home.run(&["answer", &cue, "first\nsecond"]).expect(0);
        asking.finish().expect(0);
    }
    let shown = home.run(&["history", "--oneline"]).expect(0).stdout;
    let lines: Vec<&str> = shown.lines().collect();
    assert_eq!(lines.len(), 2, "{shown}");
    for (line, prompt) in lines.iter().zip(["Deploy␛[2J now?", "数据库迁移好了"]) {
        for part in [prompt, "answered", &agent] {
            assert!(line.contains(part), "{part} is missing in {line}");
        }
    }
    assert!(!shown.contains("second"), "{shown}");
    home.run(&["history", "--oneline", "--json"]).expect(2);
    let none = home.run(&["history", "--oneline", "--search", "nowhere"]);
    assert_eq!(none.expect(0).stdout, "no questions found\n");
}

#[test]
fn agents_are_filtered_by_runtime_project_and_name() {
    let home = Home::created();
    let shop = home.path().join("Shop");
    std::fs::create_dir_all(&shop).unwrap();
    let mut joining = home.command(&["join", "claude_code"]);
    assert!(joining.current_dir(&shop).output().unwrap().status.success());
    let other = home.join_as("terminal");
    let ids = |words: &[&str]| {
        let words: Vec<&str> = ["agents", "--json"].iter().chain(words).copied().collect();
        let found = home.run(&words).expect(0).json();
        let found = found.as_array().unwrap().iter();
        found
            .map(|agent| agent["agent_id"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(ids(&[]).len(), 2);
    let in_shop = ids(&["--project", "shop"]);
    assert!(in_shop.len() == 1 && in_shop[0] != other, "{in_shop:?}");
    assert_eq!(ids(&["--runtime", "claude_code"]), in_shop);
    assert_eq!(ids(&["--runtime", "terminal"]), [other.as_str()]);
    assert_eq!(ids(&["--name", &other[..6]]), [other.as_str()]);
    assert!(ids(&["--runtime", "terminal", "--project", "shop"]).is_empty());
    let none = home.run(&["agents", "--runtime", "codex"]).expect(0).stdout;
    assert!(
        none.contains("no agent matches") && none.contains("cueme agents"),
        "{none}"
    );
}
