//! The human's side: seeing what is asked, and answering in a real terminal.

use cueme_tests::{Client, Home, Terminal, eventually, not_run_without};

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
    let (mut client, cue) = home.ask(&agent, "Which port?", None);
    eventually("the question appears", || {
        watcher.stdout().lines().last()?.contains(&cue).then_some(())
    });
    home.ok(&["answer", &cue, "8080"]);
    client.finish().expect(0);
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
    let (mut client, cue) = home.ask(&agent, "Which port?", None);
    assert_eq!(home.show(&cue[..4])["cue_id"], cue.as_str());
    home.run(&["show", "zzzzzz"])
        .refused(1, &["zzzzzz", "cueme inbox"]);
    home.run(&["answer", "", "x"]).refused(1, &["no question"]);
    home.ok(&["answer", &cue[..4], "8080"]);
    client.finish().expect(0);
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

#[test]
fn a_person_answers_everything_by_being_asked() {
    let home = Home::new();
    let agent = home.join();
    let (mut client, _cue) = home.ask(&agent, "Which database?", Some(CHOICE));
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
    screen.sees("exit=0");
    assert!(client.finish().expect(0).starts_with("PostgreSQL\n"));
}

#[test]
fn a_person_picks_among_several_questions_and_writes_chinese() {
    let home = Home::new();
    let agent = home.join();
    let (first, _) = home.ask(&agent, "First question?", None);
    let (mut second, _) = home.ask(&agent, "Second question?", None);
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
    screen.sees("exit=0");
    assert!(second.finish().expect(0).starts_with("先备份,再迁移\n"));
    assert!(first.is_running(), "the other question stays");
}

#[test]
fn a_person_fills_in_a_form_and_the_password_is_not_shown() {
    let home = Home::new();
    let agent = home.join();
    let form = r#"{"type":"form","fields":[{"label":"Replicas","kind":"number"},{"label":"Key","kind":"password"}]}"#;
    let (mut client, cue) = home.ask(&agent, "Deploy?", Some(form));
    let Some(screen) = terminal(&home, &["answer", &cue]) else {
        return;
    };
    screen.sees("Replicas (number):");
    screen.types("three");
    screen.press("Enter");
    // The card above shows the fields as well; the line that asks holds nothing but the label.
    let asks_for_key = |times: usize| {
        eventually("the password is asked for", || {
            let seen = screen.screen();
            (seen.lines().filter(|line| line.trim_end() == "Key:").count() == times).then_some(())
        });
    };
    asks_for_key(1);
    screen.types("hunter2");
    screen.press("Enter");
    screen.sees("is not a number");
    screen.types("3");
    screen.press("Enter");
    asks_for_key(2);
    screen.types("hunter2");
    screen.press("Enter");
    let seen = screen.sees("exit=0");
    assert!(!seen.contains("hunter2"), "{seen}");
    assert!(
        client
            .finish()
            .expect(0)
            .starts_with("Replicas: 3\nKey: hunter2\n")
    );
}

#[test]
fn a_person_continues_a_pause_and_may_leave_without_answering() {
    let home = Home::new();
    let agent = home.join();
    let mut client = Client::start(&mut home.command(&["pause", &agent, "Look first"]), b"");
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
    assert!(client.finish().expect(0).starts_with("Continue\n"));
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
