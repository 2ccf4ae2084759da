//! The human's side: seeing what is asked, and answering in a real terminal.

use cueme_tests::{Client, Home, Terminal, eventually, not_run_without};
use protocol_spec::answer::Answer;
use protocol_spec::message::{GiveAnswer, Reply, Request};

const CHOICE: &str = r#"{"type":"choice","options":["SQLite","PostgreSQL"]}"#;

#[test]
fn the_inbox_has_everything_a_program_needs() {
    let home = Home::new();
    let agent = home.join();
    assert_eq!(home.ok(&["inbox", "--json"]), "[]\n");
    assert_eq!(home.ok(&["inbox"]), "no agent is waiting for you\n");
    let (client, cue) = home.ask(&agent, "Which database?", Some(CHOICE));
    let inbox = home.json(&["inbox", "--json"]);
    let entry = &inbox[0];
    assert_eq!(entry["cue_id"], cue.as_str());
    assert_eq!(entry["agent_id"], agent.as_str());
    assert_eq!(entry["kind"], "cue");
    assert_eq!(entry["prompt"], "Which database?");
    assert_eq!(entry["payload"]["options"][1], "PostgreSQL");
    assert_eq!(entry["outcome"], "open");
    assert_eq!(entry["delivery"], "none");
    assert_eq!(entry["waiting"], 1);
    assert!(entry["asked_at"].as_str().is_some_and(|time| time.ends_with('Z')));
    let text = home.ok(&["inbox"]);
    for part in ["Which database?", "SQLite", &agent, &cue, "waiting"] {
        assert!(text.contains(part), "{part} is missing in\n{text}");
    }
    client.kill();
    home.wait_for("Which database?", 0);
    assert!(home.ok(&["inbox"]).contains("stopped listening"));
    home.ok(&["answer", &cue, "--select", "SQLite"]);
    assert_eq!(home.ok(&["inbox", "--json"]), "[]\n", "open questions only");
}

#[test]
fn a_watched_inbox_shows_a_new_question_and_its_end() {
    let home = Home::new();
    let agent = home.join();
    let watcher = Client::start(&mut home.command(&["inbox", "--watch", "--json"]), b"");
    eventually("the watcher has begun", || {
        watcher.stdout().starts_with("[]\n").then_some(())
    });
    let (client, cue) = home.ask(&agent, "Which port?", None);
    eventually("the question appears", || {
        watcher.stdout().lines().last()?.contains(&cue).then_some(())
    });
    home.ok(&["answer", &cue, "8080"]);
    client.finish().printed(0);
    eventually("the question disappears", || {
        (watcher.stdout().lines().last()? == "[]").then_some(())
    });
    home.ok(&["broker", "restart"]);
    let (_client, cue) = home.ask(&agent, "Which host?", None);
    eventually("it survives a restart", || {
        watcher.stdout().contains(&cue).then_some(())
    });
}

#[test]
fn the_beginning_of_an_id_is_enough_for_a_human() {
    let home = Home::new();
    let agent = home.join();
    let (client, cue) = home.ask(&agent, "Which port?", None);
    assert_eq!(home.show(&cue[..4])["cue_id"], cue.as_str());
    home.run(&["show", "zzzzzz"])
        .refused(1, &["zzzzzz", "cueme inbox"]);
    home.run(&["answer", "", "x"]).refused(1, &["no question"]);
    home.ok(&["answer", &cue[..4], "8080"]);
    client.finish().printed(0);
    assert!(home.ok(&["last", &agent[..5]]).starts_with("8080"));
    let stdin = cueme_tests::envelope("Again?", None);
    home.run_with(&["cue", &agent[..5], "-"], stdin.as_bytes())
        .refused(3, &["cueme recall"]);
}

#[test]
fn an_ambiguous_beginning_is_refused() {
    let home = Home::new();
    let agents: Vec<String> = (0..40).map(|_| home.join()).collect();
    let mut firsts: Vec<char> = agents.iter().filter_map(|id| id.chars().next()).collect();
    firsts.sort_unstable();
    // Sixteen consonants and forty agents: two share the first letter.
    let shared = firsts.windows(2).find(|pair| pair[0] == pair[1]).unwrap()[0];
    home.run(&["say", &shared.to_string(), "hello"])
        .refused(2, &["more than one agent", "type more of the id"]);
}

#[test]
fn history_is_searched_in_english_and_chinese() {
    let home = Home::new();
    let agent = home.join();
    home.ask_and_answer(&agent, "Shall I refactor the payments?", None, &["after lunch"]);
    home.ask_and_answer(&agent, "要不要迁移数据库?", None, &["先备份"]);
    for (words, prompt) in [
        ("payments", "Shall I refactor the payments?"),
        ("lunch", "Shall I refactor the payments?"),
        ("迁移", "要不要迁移数据库?"),
        ("备份", "要不要迁移数据库?"),
    ] {
        let found = home.json(&["history", "--search", words, "--json"]);
        assert_eq!(found.as_array().unwrap().len(), 1, "{words}");
        assert_eq!(found[0]["prompt"], prompt, "{words}");
    }
    assert_eq!(
        home.json(&["history", "--search", "量子", "--json"]),
        serde_json::json!([])
    );
    let other = home.join();
    assert_eq!(
        home.json(&["history", "--agent", &other, "--json"]),
        serde_json::json!([])
    );
    let markdown = home.ok(&["history", "--markdown", "--limit", "1"]);
    assert!(
        markdown.contains("> 要不要迁移数据库?") && markdown.contains("> 先备份"),
        "{markdown}"
    );
    assert!(!markdown.contains("payments"));
    assert!(home.ok(&["history"]).contains("after lunch"));
}

#[test]
fn agents_are_listed_with_what_they_wait_for() {
    let home = Home::new();
    let (busy, idle) = (home.join_as("cursor"), home.join_as("codex"));
    let _waiting = home.ask(&busy, "Which port?", None);
    home.ok(&["say", &idle, "hello"]);
    let agents = home.json(&["agents", "--json"]);
    let of = |id: &str| {
        let agents = agents.as_array().unwrap();
        agents
            .iter()
            .find(|agent| agent["agent_id"] == id)
            .unwrap()
            .clone()
    };
    assert_eq!(of(&busy)["waiting"], 1);
    assert_eq!(of(&busy)["open_cues"], 1);
    assert_eq!(of(&idle)["queued"], 1);
    assert_eq!(of(&idle)["agent_runtime"], "codex");
    let text = home.ok(&["agents"]);
    assert!(text.contains(&busy) && text.contains("waiting"), "{text}");
}

/// Opens a terminal, unless there is nothing to open one with.
fn terminal(home: &Home, words: &[&str]) -> Option<Terminal> {
    if Terminal::is_available() {
        return Some(Terminal::open(home, words));
    }
    not_run_without("tmux");
    None
}

/// Sends what the person has looked at.
fn sends(screen: &Terminal) {
    screen.sees("send it?");
    screen.types("y");
    screen.press("Enter");
    screen.sees("exit=0");
}

#[test]
fn a_person_answers_everything_by_being_asked() {
    let home = Home::new();
    let agent = home.join();
    let (client, _cue) = home.ask(&agent, "Which database?", Some(CHOICE));
    let Some(screen) = terminal(&home, &["answer"]) else {
        return;
    };
    let seen = screen.sees("number, or your own words:");
    assert!(
        seen.contains("Which database?") && seen.contains("2. PostgreSQL"),
        "{seen}"
    );
    screen.types("2");
    screen.press("Enter");
    sends(&screen);
    assert!(client.finish().printed(0).starts_with("PostgreSQL\n"));
}

#[test]
fn a_person_picks_among_several_questions_and_writes_chinese() {
    let home = Home::new();
    let agent = home.join();
    let (first, _) = home.ask(&agent, "First question?", None);
    let (second, _) = home.ask(&agent, "Second question?", None);
    let Some(screen) = terminal(&home, &["answer"]) else {
        return;
    };
    screen.sees("Second question?");
    let seen = screen.screen();
    let number = seen
        .lines()
        .find(|line| line.contains("Second question?"))
        .and_then(|line| line.trim_start().chars().next())
        .unwrap();
    screen.types(&number.to_string());
    screen.press("Enter");
    screen.sees("your answer:");
    screen.types("先备份,再迁移");
    screen.press("Enter");
    sends(&screen);
    assert!(second.finish().printed(0).starts_with("先备份,再迁移\n"));
    assert!(first.is_running(), "the other question stays");
}

#[test]
fn a_person_fills_in_a_form_and_the_password_is_not_shown() {
    let home = Home::new();
    let agent = home.join();
    let form = r#"{"type":"form","fields":[{"label":"Replicas","kind":"number"},{"label":"Key","kind":"password"}]}"#;
    let (client, cue) = home.ask(&agent, "Deploy?", Some(form));
    let Some(screen) = terminal(&home, &["answer", &cue]) else {
        return;
    };
    screen.sees("Replicas (number):");
    screen.types("three");
    screen.press("Enter");
    screen.sees("is not a number");
    // The wrong value is asked for again in place, and is still there to be changed.
    eventually("the wrong value is there to be changed", || {
        let seen = screen.screen();
        (seen.matches("Replicas (number): three").count() == 2).then_some(())
    });
    for _ in 0.."three".len() {
        screen.press("BSpace");
    }
    screen.types("3");
    screen.press("Enter");
    // The card above shows the fields as well; the line that asks holds nothing but the label.
    eventually("the password is asked for", || {
        let seen = screen.screen();
        seen.lines().any(|line| line.trim_end() == "Key:").then_some(())
    });
    screen.types("hunter2");
    screen.press("Enter");
    let seen = screen.sees("send it?");
    assert!(seen.contains("Key: [redacted]"), "{seen}");
    sends(&screen);
    let seen = screen.screen();
    assert!(!seen.contains("hunter2"), "{seen}");
    assert!(
        client
            .finish()
            .printed(0)
            .starts_with("Replicas: 3\nKey: hunter2\n")
    );
}

#[test]
fn a_person_continues_a_pause_and_may_leave_without_answering() {
    let home = Home::new();
    let agent = home.join();
    let client = Client::start(&mut home.command(&["pause", &agent, "Look first"]), b"");
    let cue = home.wait_for("Look first", 1);
    let Some(screen) = terminal(&home, &["answer", &cue]) else {
        return;
    };
    screen.sees("press Enter to continue");
    screen.press("C-d");
    let seen = screen.sees("exit=130");
    assert!(seen.contains("nothing was sent"), "{seen}");
    assert!(client.is_running());
    let screen = Terminal::open(&home, &["answer", &cue]);
    screen.sees("press Enter to continue");
    screen.press("Enter");
    screen.sees("exit=0");
    assert!(client.finish().printed(0).starts_with("Continue\n"));
}

#[test]
fn a_slip_is_asked_again_in_place_and_a_yes_presses_the_button() {
    let home = Home::new();
    let agent = home.join();
    let confirm = r#"{"type":"confirm","confirm_label":"Deploy","cancel_label":"Wait"}"#;
    let (client, cue) = home.ask(&agent, "Go?", Some(confirm));
    let Some(screen) = terminal(&home, &["answer", &cue]) else {
        return;
    };
    screen.sees("number, or your own words:");
    screen.types("7");
    screen.press("Enter");
    screen.sees("there is no option 7");
    screen.press("BSpace");
    screen.types("y");
    screen.press("Enter");
    let seen = screen.sees("send it?");
    assert!(seen.contains("will read:\n  Deploy\n"), "{seen}");
    assert!(
        client.is_running(),
        "nothing is sent before the person has looked"
    );
    sends(&screen);
    assert!(client.finish().printed(0).starts_with("Deploy\n"));
}

#[test]
fn a_pasted_text_of_several_lines_is_one_answer_and_can_be_taken_back() {
    let home = Home::new();
    let agent = home.join();
    let (client, cue) = home.ask(&agent, "What should I do?", None);
    let Some(screen) = terminal(&home, &["answer", &cue]) else {
        return;
    };
    screen.sees("your answer:");
    screen.pastes("first line\ntouch second-line\n\nlast line");
    screen.sees("last line");
    assert!(!screen.screen().contains("send it?"), "{}", screen.screen());
    screen.press("Enter");
    screen.sees("send it?");
    screen.types("e");
    screen.press("Enter");
    // The text is still there to be changed.
    eventually("the draft is back", || {
        (screen.screen().matches("touch second-line").count() >= 3).then_some(())
    });
    screen.types("!");
    screen.press("Enter");
    screen.sees("last line!");
    sends(&screen);
    let seen = screen.screen();
    assert!(seen.contains("`cueme undo "), "{seen}");
    let text = client.finish().printed(0).to_owned();
    assert!(
        text.starts_with("first line\ntouch second-line\n\nlast line!\n"),
        "{text}"
    );
}

#[test]
fn a_person_writes_in_their_own_editor_and_starts_new_lines() {
    let home = Home::new();
    let agent = home.join();
    let (client, cue) = home.ask(&agent, "What should I do?", None);
    if !Terminal::is_available() {
        return not_run_without("tmux");
    }
    let editor = [("EDITOR", "sed -i s/draft/final/")];
    let screen = Terminal::open_with(&home, &editor, &["answer", &cue]);
    screen.sees("your answer:");
    screen.types("a draft");
    screen.press("C-x");
    screen.press("C-e");
    screen.sees("a final");
    screen.press("M-Enter");
    screen.types("and more");
    screen.sees("and more");
    screen.press("Enter");
    sends(&screen);
    assert!(client.finish().printed(0).starts_with("a final\nand more\n"));
}

#[test]
fn ctrl_c_at_a_password_leaves_a_clean_terminal_and_sends_nothing() {
    let home = Home::new();
    let agent = home.join();
    let form = r#"{"type":"form","fields":[{"label":"Key","kind":"password"}]}"#;
    let (client, cue) = home.ask(&agent, "Deploy?", Some(form));
    if !Terminal::is_available() {
        return not_run_without("tmux");
    }
    let script = format!("\"$CUEME_BIN\" answer {cue}; echo left=$?; stty -a");
    let screen = Terminal::running(&home.command_of("/bin/sh".as_ref(), &["-c", &script]));
    eventually("the password is asked for", || {
        let seen = screen.screen();
        seen.lines().any(|line| line.trim_end() == "Key:").then_some(())
    });
    screen.types("hunter2");
    screen.press("C-c");
    let seen = screen.sees("exit=0");
    assert!(
        seen.contains("left=130") && seen.contains("nothing was sent"),
        "{seen}"
    );
    for mode in [" echo ", " icanon ", " isig "] {
        assert!(seen.replace(['\n', ';'], " ").contains(mode), "{mode}: {seen}");
    }
    assert!(!seen.contains("hunter2"), "{seen}");
    assert!(client.is_running());
}

#[test]
fn a_secret_need_not_stand_among_the_arguments() {
    let home = Home::new();
    let agent = home.join();
    let form = r#"{"type":"form","fields":[{"label":"User"},{"label":"Key","kind":"password"}]}"#;
    let (client, cue) = home.ask(&agent, "Deploy?", Some(form));
    home.run_with(&["answer", &cue, "--field", "User=-", "--field", "Key=-"], b"x\n")
        .refused(2, &["only one value can be read from stdin"]);
    home.run_with(
        &["answer", &cue, "--field", "User=me", "--field", "Key=-"],
        b"hunter2\n",
    )
    .printed(0);
    assert!(client.finish().printed(0).starts_with("User: me\nKey: hunter2\n"));
    let (client, cue) = home.ask(&agent, "Again?", Some(form));
    let Some(screen) = terminal(&home, &["answer", &cue, "--field", "Key=-"]) else {
        return;
    };
    screen.sees("Key:");
    screen.types("hunter3");
    screen.press("Enter");
    let seen = screen.sees("exit=0");
    assert!(!seen.contains("hunter3"), "{seen}");
    assert!(client.finish().printed(0).starts_with("Key: hunter3\n"));
}

#[test]
fn an_answer_may_begin_with_a_dash_and_a_mistyped_option_is_no_answer() {
    let home = Home::new();
    let agent = home.join();
    let (client, cue) = home.ask(&agent, "Which flags?", None);
    home.run(&["answer", &cue, "--confrim"])
        .refused(2, &["--confrim"]);
    assert!(client.is_running());
    home.ok(&["answer", &cue, "-v levels"]);
    assert!(client.finish().printed(0).starts_with("-v levels\n"));
    let (client, cue) = home.ask(&agent, "Which option?", None);
    home.ok(&["answer", &cue, "--", "--force"]);
    assert!(client.finish().printed(0).starts_with("--force\n"));
    let (client, cue) = home.ask(&agent, "Why not?", None);
    home.ok(&["decline", &cue, "-1 for that"]);
    assert!(client.finish().printed(0).starts_with("declined: -1 for that\n"));

    // Notes and queued answers may begin so too, with their option before or after.
    home.run(&["say", &agent, "--nxet", "go on"])
        .refused(2, &["--nxet"]);
    home.run(&["say", &agent, "-v"]).refused(2, &["-v"]);
    home.ok(&["say", &agent, "-v levels"]);
    home.ok(&["say", &agent, "-x is gone", "--next"]);
    let told = home.start_cue(&agent, "What next?", None).finish();
    assert!(
        told.printed(0).contains("]\n-v levels\n") && told.stdout.contains("[queued answer]\n-x is gone\n"),
        "{}",
        told.stdout
    );
    home.ok(&["say", &agent, "--next", "--", "--force"]);
    let told = home.start_cue(&agent, "With which option?", None).finish();
    assert!(told.printed(0).contains("]\n--force\n"), "{}", told.stdout);
}

#[test]
fn an_answer_that_is_held_is_taken_back_with_its_words() {
    let home = Home::new();
    let agent = home.join();
    home.run(&["undo"]).refused(1, &["no answer to take back"]);
    let (client, cue) = home.ask(&agent, "Which port?", None);
    let answer = Request::Answer(GiveAnswer {
        cue: cue.clone(),
        answer: Answer {
            text: Some("8080, I think".to_owned()),
            ..Answer::default()
        },
        by: None,
        hold_ms: 30_000,
    });
    assert!(matches!(home.wire().call(&answer), Some(Reply::Decided(_))));
    let told = home.ok(&["undo"]);
    assert!(
        told.contains("is open again") && told.contains("8080, I think"),
        "{told}"
    );
    assert_eq!(home.show(&cue)["outcome"], "open");
    assert!(client.is_running());
    home.ok(&["answer", &cue, "8081"]);
    assert!(client.finish().printed(0).starts_with("8081\n"));
    home.run(&["undo", &cue]).refused(1, &["no answer to take back"]);
}

#[test]
fn json_on_a_terminal_and_quoted_words_in_errors_show_what_is_hidden() {
    let home = Home::new();
    let agent = home.join();
    let hostile = "a\u{9b}31mb\u{202e}c\u{200b}d";
    let (client, cue) = home.ask(&agent, hostile, None);
    for words in [vec!["inbox", "--json"], vec!["show", &cue, "--json"]] {
        let Some(screen) = terminal(&home, &words) else {
            return;
        };
        screen.sees("exit=0");
        // The line is longer than the screen is wide.
        let seen = screen.screen().replace('\n', "");
        assert!(seen.contains(r"a\u009b31mb\u202ec\u200bd"), "{seen}");
    }
    home.ok(&["answer", &cue, hostile]);
    client.finish().printed(0);
    let refused = home.run(&["answer", &cue, "second"]);
    assert!(
        refused.stderr.contains("b<U+202E>c<U+200B>d"),
        "{}",
        refused.stderr
    );
}

#[test]
fn a_followed_log_cannot_act_on_the_terminal() {
    let home = Home::new();
    home.join();
    let log = home.path().join("logs/broker.log");
    std::fs::write(&log, "before\u{1b}[2J\u{202e}after\n").unwrap();
    let Some(screen) = terminal(&home, &["broker", "logs", "--follow"]) else {
        return;
    };
    screen.sees("before␛[2J<U+202E>after");
}

#[test]
fn a_watched_inbox_counts_on_while_nothing_happens() {
    let home = Home::new();
    let agent = home.join();
    let (client, _cue) = home.ask(&agent, "Which port?", None);
    client.kill();
    home.wait_for("Which port?", 0);
    let Some(screen) = terminal(&home, &["inbox", "--watch"]) else {
        return;
    };
    let seconds = || {
        let seen = screen.screen().replace('\n', " ");
        let (_, rest) = seen.split_once("stopped listening ")?;
        rest.split_once(' ')?.0.parse::<u64>().ok()
    };
    let first = eventually("the time is shown", seconds);
    eventually("the time goes on", || seconds().filter(|now| *now > first));
}

#[test]
fn what_would_act_on_a_terminal_is_shown_instead() {
    let home = Home::new();
    let agent = home.join();
    let hostile = "before\u{1b}[2J\u{1b}]0;title\u{7}\u{202e}after\rover";
    let (_client, cue) = home.ask(&agent, hostile, None);
    for words in [vec!["inbox"], vec!["show", &cue], vec!["history"]] {
        let text = home.ok(&words);
        for forbidden in ['\u{1b}', '\u{7}', '\u{202e}', '\r'] {
            assert!(!text.contains(forbidden), "{words:?} {text:?}");
        }
        assert!(
            text.contains("before␛[2J␛]0;title␇<U+202E>after␍over"),
            "{words:?} {text}"
        );
        let Some(screen) = terminal(&home, &words) else {
            return;
        };
        let seen = screen.sees("exit=0");
        assert!(seen.contains("before␛[2J") && seen.contains("<U+202E>"), "{seen}");
    }
    let shown = home.show(&cue);
    assert_eq!(shown["prompt"], hostile, "programs get it as it is");
}

#[test]
fn a_watched_inbox_changes_on_the_screen() {
    let home = Home::new();
    let agent = home.join();
    let Some(screen) = terminal(&home, &["inbox", "--watch"]) else {
        return;
    };
    screen.sees("no agent is waiting for you");
    let (_client, _cue) = home.ask(&agent, "Which port?", None);
    let seen = screen.sees("Which port?");
    assert!(
        !seen.contains("no agent is waiting"),
        "one inbox, not two: {seen}"
    );
    screen.press("C-c");
    screen.sees("exit=130");
}
