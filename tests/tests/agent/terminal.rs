//! The view of `cueme agent run` in a real terminal.

use std::fs;

use cueme_tests::{Client, Terminal, not_run_without};

use crate::stage::{QUESTION, Stage};

fn open(stage: &Stage, words: &[&str]) -> Option<Terminal> {
    if !Terminal::is_available() {
        not_run_without("tmux");
        return None;
    }
    Some(Terminal::running(&stage.command(words)))
}

#[test]
fn text_tools_the_wait_and_the_usage_are_on_the_screen() {
    let stage = Stage::new("hap_ask");
    let Some(terminal) = open(&stage, &["agent", "run", "do it"]) else {
        return;
    };
    let screen = terminal.sees("waiting for you");
    let order = [
        "chat ",
        "Working.",
        "AskQuestion",
        "rejected",
        "All done.",
        "waiting for you",
    ];
    let places: Vec<_> = order.iter().map(|words| screen.find(words)).collect();
    assert!(places.iter().all(Option::is_some), "{places:?}\n{screen}");
    assert!(places.is_sorted(), "{places:?}\n{screen}");
    assert!(
        !screen.contains("{\"type\""),
        "no events in a terminal:\n{screen}"
    );
    stage.answer(&["answer", "--select", "A"]);
    terminal.sees("you answered; the agent goes on");
    stage.answer(&["decline"]);
    let screen = terminal.sees("exit=0");
    assert!(screen.contains("you declined; the conversation ends"), "{screen}");
    assert!(
        screen.contains("tokens: 20 in, 14 from the cache, 4 out"),
        "{screen}"
    );
    stage.nothing_is_left();
}

#[test]
fn done_in_the_full_screen_inbox_ends_the_run() {
    let stage = Stage::new("hap_ask");
    let run = Client::start(&mut stage.command(&["agent", "run", "do it"]), b"");
    let Some(terminal) = open(&stage, &["tui"]) else {
        return;
    };
    terminal.sees("1 open");
    terminal.press("Enter");
    terminal.sees("Esc list");
    terminal.types("that is all");
    terminal.press("Enter");
    terminal.sees("d sends it and ends the run");
    terminal.press("d");
    run.finish().expect(0);
    terminal.press("q");
    terminal.sees("exit=0");
    stage.nothing_is_left();
}

#[test]
fn a_question_is_shown_and_answered_in_the_terminal_of_the_run() {
    let stage = Stage::new("hap_ok");
    let Some(terminal) = open(&stage, &["agent", "run", "--once", "do it"]) else {
        return;
    };
    let screen = terminal.sees(QUESTION);
    assert!(!screen.contains("exit="), "{screen}");
    terminal.sees("your answer:");
    terminal.types("ship it");
    terminal.press("Enter");
    terminal.sees("send it?");
    terminal.types("y");
    terminal.press("Enter");
    let screen = terminal.sees("exit=0");
    let cue = &stage.questions()[0];
    assert_eq!(cue["answer"]["text"], "ship it", "{cue}\n{screen}");
}

#[test]
fn the_page_may_answer_first_and_the_prompt_of_the_terminal_is_withdrawn() {
    let stage = Stage::new("hap_ok");
    let Some(terminal) = open(&stage, &["agent", "run", "--once", "do it"]) else {
        return;
    };
    terminal.sees("your answer:");
    terminal.types("half a sente");
    stage.answer(&["answer", "from the page"]);
    terminal.sees("answered elsewhere");
    let screen = terminal.sees("exit=0");
    assert_eq!(
        stage.questions()[0]["answer"]["text"],
        "from the page",
        "{screen}"
    );
}

#[test]
fn text_appears_as_it_is_streamed_and_ctrl_c_ends_everything() {
    let stage = Stage::new("hang_mid");
    let Some(terminal) = open(&stage, &["agent", "run", "--no-hap", "do it"]) else {
        return;
    };
    // The double says half a sentence and then nothing for an hour.
    terminal.sees("Half");
    terminal.press("C-c");
    terminal.sees("exit=130");
    stage.nothing_is_left();
}

#[test]
fn failed_tools_and_failed_turns_say_what_happened_and_what_to_do() {
    let stage = Stage::new("tools");
    let Some(terminal) = open(&stage, &["agent", "run", "--no-hap", "do it"]) else {
        return;
    };
    let screen = terminal.sees("exit=0");
    for words in [
        "Read  /w/a.txt",
        "Bash  ls -1 | wc -l",
        "Bash: failure, exit 1",
        "Reading first.",
        "Done.",
    ] {
        assert!(screen.contains(words), "{words}\n{screen}");
    }
    let stage = Stage::new("no_login");
    let Some(terminal) = open(&stage, &["agent", "run", "--no-hap", "do it"]) else {
        return;
    };
    let screen = terminal.sees("exit=1");
    assert!(
        screen.contains("MODEL_AUTH_ERROR") && screen.contains("hint: run `agent login`"),
        "{screen}"
    );
}

#[test]
fn json_is_written_to_a_terminal_only_when_asked_for() {
    let stage = Stage::new("simple");
    let Some(terminal) = open(&stage, &["agent", "run", "--no-hap", "--json", "do it"]) else {
        return;
    };
    let screen = terminal.sees("exit=0");
    assert!(
        screen.contains(r#"{"type":"done","data":{"finishReason":"stop"}}"#),
        "{screen}"
    );
}

#[test]
fn json_on_a_terminal_spells_out_what_nobody_sees_and_to_a_program_it_is_as_it_was() {
    let stage = Stage::new("");
    let file = stage.home.path().join("recording");
    let line =
        r#"{"type":"assistant","message":{"content":[{"type":"text","text":"a\u009b31mb\u202ec\u200bd"}]}}"#;
    fs::write(
        &file,
        format!("{line}\n{{\"type\":\"result\",\"result\":\"\"}}\n"),
    )
    .unwrap();
    let stage = stage.with("FAKE_CURSOR_SCENARIO", format!("replay:{}", file.display()));
    let recording = file.to_str().unwrap();
    for words in [
        vec!["agent", "run", "--no-hap", "--json", "do it"],
        vec!["agent", "replay", recording],
    ] {
        let Some(terminal) = open(&stage, &words) else {
            return;
        };
        terminal.sees("exit=0");
        // The line is longer than the screen is wide.
        let screen = terminal.screen().replace('\n', "");
        assert!(
            screen.contains(r"a\u009b31mb\u202ec\u200bd"),
            "{words:?}\n{screen}"
        );
        let piped = stage.command(&words).output().unwrap();
        let text = String::from_utf8(piped.stdout).unwrap();
        assert!(
            text.contains("a\u{9b}31mb\u{202e}c\u{200b}d"),
            "{words:?}\n{text}"
        );
    }
}

#[test]
fn control_characters_of_an_agent_never_reach_the_terminal() {
    let stage = Stage::new("");
    let file = stage.home.path().join("recording");
    let line = r#"{"type":"assistant","message":{"content":[{"type":"text","text":"safe\u001b]0;owned\u0007\u001b[2J text"}]}}"#;
    fs::write(
        &file,
        format!("{line}\n{{\"type\":\"result\",\"result\":\"\"}}\n"),
    )
    .unwrap();
    let stage = stage.with("FAKE_CURSOR_SCENARIO", format!("replay:{}", file.display()));
    let Some(terminal) = open(&stage, &["agent", "run", "--no-hap", "do it"]) else {
        return;
    };
    let screen = terminal.sees("exit=0");
    assert!(screen.contains("safe") && screen.contains("text"), "{screen}");
}
