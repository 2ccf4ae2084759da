//! `cueme tui` in a real terminal: every kind of question, at the size of a small and of a wide screen.

use protocol_spec::message::{Ask, Reply, Request};
use protocol_spec::outcome::{Kind, Origin};
use serde_json::value::RawValue;

use cueme_tests::{Client, Home, Signal, Terminal, eventually, not_run_without, processes_with, send_signal};

const SMALL: (u16, u16) = (80, 24);
const WIDE: (u16, u16) = (140, 40);

/// Opens the inbox, unless there is nothing to open a terminal with.
fn open(home: &Home, (columns, rows): (u16, u16)) -> Option<Terminal> {
    if !Terminal::is_available() {
        not_run_without("tmux");
        return None;
    }
    Some(Terminal::sized(&home.command(&["tui"]), columns, rows))
}

/// Sends what the last look shows.
fn sends(screen: &Terminal) {
    screen.sees("will read, as the answer to");
    screen.press("Enter");
}

/// Leaves, and checks that the terminal is as it was.
fn leaves(screen: &Terminal, key: &str, exit: &str) {
    screen.press(key);
    screen.sees(exit);
    assert_eq!(screen.property("alternate_on"), "0");
    assert_eq!(screen.property("cursor_flag"), "1");
}

#[test]
fn a_plain_question_is_answered_in_chinese_and_the_terminal_is_left_as_it_was() {
    for size in [SMALL, WIDE] {
        let home = Home::new();
        let agent = home.join();
        let (client, _) = home.ask(&agent, "# 用哪个数据库?\n\n请用**中文**回答。", None);
        let Some(screen) = open(&home, size) else { return };
        let seen = screen.sees("# 用哪个数据库?");
        assert!(
            seen.contains("1 open") && seen.contains("请用**中文**回答。"),
            "{seen}"
        );
        screen.press("Enter");
        screen.sees("Esc list");
        screen.types("先备份,再迁移");
        screen.press("Enter");
        sends(&screen);
        assert!(client.finish().printed(0).starts_with("先备份,再迁移\n"));
        screen.sees("0 open");
        leaves(&screen, "q", "exit=0");
    }
}

#[test]
fn a_choice_of_one_a_choice_of_several_and_another_answer() {
    let one = r#"{"type":"choice","options":["SQLite","PostgreSQL"]}"#;
    let several = r#"{"type":"choice","options":["red","green","blue"],"allow_multiple":true}"#;
    for size in [SMALL, WIDE] {
        let home = Home::new();
        let agent = home.join();
        let (client, _) = home.ask(&agent, "Which database?", Some(one));
        let Some(screen) = open(&home, size) else { return };
        screen.sees("2. ( ) PostgreSQL");
        screen.press("Enter");
        screen.sees("> 1. ( )");
        screen.press("Down");
        screen.press("Enter");
        sends(&screen);
        assert!(client.finish().printed(0).starts_with("PostgreSQL\n"));

        let (client, _) = home.ask(&agent, "Which colours?", Some(several));
        screen.sees("3. [ ] blue");
        screen.press("Enter");
        screen.sees("> 1. [ ]");
        screen.types("13");
        screen.sees("3. [x] blue");
        screen.press("Enter");
        sends(&screen);
        let answer = client.finish();
        let answer = answer.printed(0);
        assert!(
            answer.contains("red") && answer.contains("blue") && !answer.contains("green"),
            "{answer}"
        );

        let (client, _) = home.ask(&agent, "Which database now?", Some(one));
        screen.sees("Which database now?");
        screen.press("Enter");
        screen.sees("> 1. ( )");
        screen.types("neither, use files");
        screen.press("Enter");
        sends(&screen);
        assert!(client.finish().printed(0).contains("neither, use files"));
    }
}

#[test]
fn a_confirm_with_words_and_a_pause() {
    let confirm = r#"{"type":"confirm","text":"Run it?","confirm_label":"Run it","cancel_label":"Leave it"}"#;
    for size in [SMALL, WIDE] {
        let home = Home::new();
        let agent = home.join();
        let (client, _) = home.ask(&agent, "The migration drops a column.", Some(confirm));
        let Some(screen) = open(&home, size) else { return };
        screen.sees("2. ( ) Leave it");
        screen.press("Enter");
        screen.sees("> 1. ( ) Run it");
        screen.types("2");
        screen.press("Tab");
        screen.types("not before the backup");
        screen.press("Enter");
        let seen = screen.sees("will read, as the answer to");
        assert!(
            seen.contains("Leave it") && seen.contains("not before the backup"),
            "{seen}"
        );
        sends(&screen);
        let answer = client.finish();
        assert!(answer.printed(0).contains("Leave it"), "{answer:?}");

        let client = Client::start(&mut home.command(&["pause", &agent, "Look first"]), b"");
        screen.sees("Enter continues");
        screen.press("Enter");
        screen.sees("Esc list");
        screen.press("Enter");
        assert!(client.finish().printed(0).starts_with("Continue\n"));
    }
}

#[test]
fn an_approval_can_be_answered_once_all_of_it_was_on_the_screen() {
    let confirm = r#"{"type":"confirm","text":"Allow it?","confirm_label":"Allow","cancel_label":"Deny"}"#;
    for size in [SMALL, WIDE] {
        let home = Home::new();
        let agent = home.join();
        let lines: String = (0..90).map(|line| format!("echo {line}\n")).collect();
        let prompt = format!("Bash wants to run:\n\n```sh\n{lines}rm -rf build\n```");
        let mut wire = home.wire();
        wire.send(&Request::Ask(Ask {
            agent_id: agent.parse().unwrap(),
            kind: Kind::Cue,
            prompt: prompt.clone(),
            payload: Some(RawValue::from_string(confirm.to_owned()).unwrap()),
            origin: Origin::Approval,
            nonce: None,
        }));
        home.wait_for(&prompt, 1);
        let Some(screen) = open(&home, size) else { return };
        screen.sees("2. ( ) Deny");
        screen.press("Enter");
        screen.sees("> 1. ( ) Allow");
        screen.press("Enter");
        screen.sees("is still unread");
        eventually("the end of the request is shown", || {
            screen.press("PageDown");
            screen.screen().contains("rm -rf build").then_some(())
        });
        screen.press("Enter");
        sends(&screen);
        let outcome = eventually("the outcome", || match wire.hear() {
            Some(Reply::Outcome(told)) => Some(told),
            _ => None,
        });
        assert!(outcome.text.starts_with("Allow"), "{outcome:?}");
    }
}

#[test]
fn a_form_with_every_kind_of_field() {
    let form = r#"{"type":"form","fields":[{"label":"Env","options":["prod","staging"]},
        {"label":"Replicas","kind":"number","required":true},{"label":"Key","kind":"password"},{"label":"Dry","kind":"boolean"},
        {"label":"Day","kind":"date"},{"label":"Note","kind":"textarea"},{"label":"Who"}]}"#;
    for size in [SMALL, WIDE] {
        let home = Home::new();
        let agent = home.join();
        let (client, _) = home.ask(&agent, "Deploy?", Some(form));
        let Some(screen) = open(&home, size) else { return };
        screen.sees("2. ( ) staging");
        screen.press("Enter");
        screen.sees("> 1. ( ) prod");
        screen.press("Down");
        screen.press("Enter");
        screen.types("many");
        screen.press("Enter");
        screen.types("hunter2");
        let seen = screen.sees("•••••••");
        assert!(!seen.contains("hunter2"), "{seen}");
        screen.press("Enter");
        screen.press("Enter");
        screen.types("2026-11-18");
        screen.press("Enter");
        screen.types("one");
        screen.press("M-Enter");
        screen.types("two");
        screen.press("Enter");
        screen.types("ada");
        screen.press("Enter");
        screen.sees("is not a number");
        // Four fields up is the one that is wrong.
        for _ in 0..5 {
            screen.press("BTab");
        }
        screen.sees("> number: many");
        screen.press("C-u");
        screen.types("3");
        for _ in 0..5 {
            screen.press("Tab");
        }
        screen.press("Enter");
        let seen = screen.sees("will read, as the answer to");
        assert!(seen.contains("[redacted]") && !seen.contains("hunter2"), "{seen}");
        sends(&screen);
        let answer = client.finish();
        let answer = answer.printed(0);
        for line in [
            "Env: staging",
            "Replicas: 3",
            "Key: hunter2",
            "Dry: true",
            "Day: 2026-11-18",
            "two",
            "Who: ada",
        ] {
            assert!(answer.contains(line), "{line} is not in {answer}");
        }
    }
}

#[test]
fn hostile_text_does_not_act_and_what_does_not_fit_is_counted() {
    let home = Home::new();
    let agent = home.join();
    let lines: String = (0..90).map(|line| format!("line-{line:02}\n")).collect();
    let prompt = format!("a\u{1b}]0;owned\u{7}\u{1b}[2J\u{202e}b\n{lines}end of it");
    let (_client, _) = home.ask(&agent, &prompt, None);
    let Some(screen) = open(&home, SMALL) else { return };
    let seen = screen.sees("a␛]0;owned␇␛[2J<U+202E>b");
    assert!(
        seen.contains("more lines below · PgDn") && seen.contains("1 open"),
        "{seen}"
    );
    assert_ne!(screen.property("pane_title"), "owned");
    let mut pages = seen;
    while !screen.screen().contains("end of it") {
        let before = screen.screen();
        screen.press("PageDown");
        eventually("the page is turned", || {
            let now = screen.screen();
            (now != before).then(|| pages.push_str(&now))
        });
    }
    for line in 0..90 {
        assert!(
            pages.contains(&format!("line-{line:02}")),
            "line {line} was never shown"
        );
    }
    screen.resize(120, 30);
    // The list stands beside the question now.
    let seen = screen.sees("│");
    assert!(seen.contains(&agent), "{seen}");
    screen.resize(80, 24);
    eventually("the small screen is back", || {
        (!screen.screen().contains('│')).then_some(())
    });
}

#[test]
fn a_broker_that_is_killed_comes_back_and_no_draft_is_lost() {
    let home = Home::new();
    let agent = home.join();
    let (client, _) = home.ask(&agent, "Which port?", None);
    let Some(screen) = open(&home, SMALL) else { return };
    screen.sees("Which port?");
    screen.press("Enter");
    screen.sees("Esc list");
    screen.types("80");
    home.kill_broker();
    screen.types("80");
    eventually("another broker runs", || {
        let brokers = home.brokers();
        (brokers.len() == 1 && home.open_cues().iter().any(|cue| cue.waiting == 1)).then_some(())
    });
    screen.sees("8080");
    eventually("it has reconnected", || {
        (!screen.screen().contains("reconnecting")).then_some(())
    });
    screen.press("Enter");
    sends(&screen);
    assert!(client.finish().printed(0).starts_with("8080\n"));
}

#[test]
fn an_answer_in_one_terminal_withdraws_the_question_in_the_other_with_its_author() {
    let home = Home::new();
    let agent = home.join();
    let (client, cue) = home.ask(&agent, "Which port?", None);
    let (Some(first), Some(second)) = (open(&home, SMALL), open(&home, WIDE)) else {
        return;
    };
    for screen in [&first, &second] {
        screen.sees("Which port?");
        screen.press("Enter");
        screen.sees("Esc list");
    }
    second.types("my draft");
    first.types("8080");
    first.press("Enter");
    sends(&first);
    let seen = second.sees("answered by tester");
    assert!(seen.contains("my draft") && seen.contains(&cue), "{seen}");
    assert!(client.finish().printed(0).starts_with("8080\n"));
    assert_eq!(home.show(&cue)["by"], "tester");
}

#[test]
fn a_persons_own_editor_gets_the_keys_and_its_text_becomes_the_draft() {
    let home = Home::new();
    let agent = home.join();
    let (client, _) = home.ask(&agent, "Which port?", None);
    if !Terminal::is_available() {
        return not_run_without("tmux");
    }
    let editor = home.scratch().join("editor");
    std::fs::write(&editor, "read line; echo \"$line\" >> \"$1\"\n").unwrap();
    let mut command = home.command(&["tui"]);
    let screen = Terminal::sized(command.env("VISUAL", format!("sh {}", editor.display())), 80, 24);
    screen.sees("Which port?");
    screen.press("Enter");
    screen.sees("Esc list");
    screen.types("first");
    screen.sees("your answer: first");
    screen.press("C-o");
    eventually("the editor has the terminal", || {
        (screen.property("alternate_on") == "0").then_some(())
    });
    screen.types(" and 8080");
    screen.press("Enter");
    screen.sees("your answer: firstand 8080");
    screen.press("Enter");
    sends(&screen);
    assert!(client.finish().printed(0).starts_with("firstand 8080\n"));
}

#[test]
fn undo_decline_close_note_and_search() {
    let home = Home::new();
    let agent = home.join();
    let (client, _) = home.ask(&agent, "Which port?", None);
    let Some(screen) = open(&home, WIDE) else { return };
    screen.sees("Which port?");
    screen.press("Enter");
    screen.sees("Esc list");
    screen.types("8080");
    screen.press("Enter");
    sends(&screen);
    screen.sees("u takes back");
    screen.press("u");
    screen.sees("your answer: 8080");
    screen.press("d");
    screen.sees("Why?");
    screen.types("not today");
    screen.press("Enter");
    assert!(client.finish().printed(0).contains("not today"));
    screen.sees("asks nothing right now");
    screen.press("n");
    screen.sees("Note for");
    screen.types("use staging");
    screen.press("Enter");
    screen.sees("note saved:");
    let (client, _) = home.ask(&agent, "Which host?", None);
    screen.sees("Which host?");
    screen.press("Home");
    screen.press("x");
    screen.sees("without an answer");
    screen.press("Enter");
    client.finish().printed(4);
    screen.press("/");
    screen.types("port");
    screen.press("Enter");
    screen.sees("1 past question");
    leaves(&screen, "C-c", "exit=0");
}

#[test]
fn signals_end_it_with_a_clean_terminal_and_ctrl_z_gives_the_shell_back() {
    for (signal, exit) in [
        (Signal::TERM, "exit=143"),
        (Signal::HUP, "exit=143"),
        (Signal::INT, "exit=130"),
    ] {
        let home = Home::new();
        home.join();
        let Some(screen) = open(&home, SMALL) else { return };
        screen.sees("1 agent");
        let pid = tui_of(&home);
        send_signal(pid, signal);
        screen.sees(exit);
        assert_eq!(screen.property("alternate_on"), "0");
    }
    let home = Home::new();
    home.join();
    let Some(_) = open(&home, SMALL) else { return };
    let mut shell = home.command_of("/bin/bash".as_ref(), &["--norc", "-i"]);
    let screen = Terminal::sized(shell.env("PS1", "ready> "), 80, 24);
    screen.sees("ready>");
    screen.types(&format!("{} tui", home.binary().display()));
    screen.press("Enter");
    screen.sees("1 agent");
    screen.press("C-z");
    screen.sees("Stopped");
    assert_eq!(screen.property("alternate_on"), "0");
    screen.types("fg");
    screen.press("Enter");
    screen.sees("1 agent");
    leaves_shell(&screen);
}

#[test]
fn a_panic_gives_the_terminal_back_before_it_is_reported() {
    // Only a program that was built with debug assertions can be asked to panic.
    if !cfg!(debug_assertions) {
        return cueme_tests::not_run("a released program cannot be asked to panic");
    }
    let home = Home::new();
    home.join();
    if !Terminal::is_available() {
        return not_run_without("tmux");
    }
    let mut command = home.command(&["tui", "--mouse"]);
    command
        .env("CUEME_TEST_TUI_PANIC", "1")
        .env("RUST_BACKTRACE", "0");
    let screen = Terminal::sized(&command, 80, 24);
    let seen = screen.sees("exit=101");
    assert!(seen.contains("asked to panic"), "{seen}");
    for (property, value) in [
        ("alternate_on", "0"),
        ("cursor_flag", "1"),
        ("mouse_any_flag", "0"),
        ("mouse_button_flag", "0"),
    ] {
        assert_eq!(screen.property(property), value, "{property}");
    }
}

#[test]
fn the_mouse_is_the_terminals_until_it_is_asked_for_and_then_selects_and_scrolls() {
    let home = Home::new();
    let agent = home.join();
    let lines: String = (0..90).map(|line| format!("line-{line:02}\n")).collect();
    let (_first, _) = home.ask(&agent, &format!("First question\n{lines}"), None);
    let other = home.join();
    let (_second, _) = home.ask(&other, "Second question", None);
    let Some(screen) = open(&home, SMALL) else { return };
    screen.sees("line-05");
    assert_eq!(screen.property("mouse_any_flag"), "0");
    screen.press("m");
    screen.sees("the mouse selects and scrolls");
    assert_eq!(screen.property("mouse_any_flag"), "1");
    let wheel_down = |column: u16, row: u16| screen.types(&format!("\u{1b}[<65;{column};{row}M"));
    let click = |column: u16, row: u16| screen.types(&format!("\u{1b}[<0;{column};{row}M"));
    for _ in 0..20 {
        wheel_down(10, 12);
    }
    screen.sees("line-60");
    // The second row of the list, below the title.
    click(10, 3);
    eventually("the second question is selected", || {
        let seen = screen.screen();
        let selected = seen.lines().find(|line| line.starts_with('>'))?;
        selected.contains("Second question").then_some(())
    });
    click(10, 3);
    screen.sees("Esc list");
    // A click never sends.
    click(10, 20);
    screen.press("Escape");
    screen.press("m");
    screen.sees("the terminal selects text");
    assert_eq!(screen.property("mouse_any_flag"), "0");
    screen.press("m");
    eventually("the mouse is taken", || {
        (screen.property("mouse_any_flag") == "1").then_some(())
    });
    leaves(&screen, "C-c", "exit=0");
    assert_eq!(screen.property("mouse_any_flag"), "0");
    assert_eq!(home.open_cues().len(), 2);
}

fn leaves_shell(screen: &Terminal) {
    screen.press("q");
    eventually("the shell is back", || {
        (screen.property("alternate_on") == "0").then_some(())
    });
}

fn tui_of(home: &Home) -> u32 {
    eventually("the inbox runs", || {
        let found = processes_with("CUEME_HOME", home.path());
        found.into_iter().find(|pid| {
            let line = std::fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            line.ends_with("\0tui\0") && line.starts_with(&home.binary().display().to_string())
        })
    })
}

#[test]
fn without_colours_nothing_is_lost_and_without_a_terminal_it_says_what_to_use() {
    let home = Home::new();
    let agent = home.join();
    let (_client, _) = home.ask(&agent, "Which port?", None);
    let refused = home.run(&["tui"]);
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("cueme inbox"), "{}", refused.stderr);
    if !Terminal::is_available() {
        return not_run_without("tmux");
    }
    let screen = Terminal::sized(home.command(&["tui"]).env("NO_COLOR", "1"), 80, 24);
    let seen = screen.sees("Which port?");
    assert!(seen.contains("* ") && seen.contains("1 open"), "{seen}");
    let painted = screen.painted();
    let mut colours = (31..=37).chain(90..=97).map(|code| format!("\u{1b}[{code}m"));
    assert!(!colours.any(|colour| painted.contains(&colour)), "{painted:?}");
}
