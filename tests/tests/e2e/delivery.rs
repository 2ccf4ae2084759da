//! An answer is never lost, never answers another question, and is never repeated without saying so.

use std::process::Stdio;

use cueme_tests::{Client, Home, Signal, envelope};

#[test]
fn a_killed_client_asks_again_and_continues_the_same_question() {
    let home = Home::new();
    let agent = home.join();
    let (client, cue) = home.ask(&agent, "Which port?", None);
    client.kill();
    assert_eq!(
        home.wait_for("Which port?", 0),
        cue,
        "it is open, and nobody listens"
    );
    let detached = home.show(&cue);
    assert!(detached["detached_at"].is_string(), "{detached}");
    let (client, again) = home.ask(&agent, "Which port?", None);
    assert_eq!(again, cue);
    home.ok(&["answer", &cue, "8080"]);
    let run = client.finish();
    assert!(
        run.printed(0).starts_with("8080\n"),
        "no repeat, no label: {run:?}"
    );
    assert_eq!(home.delivery(&cue), "acknowledged");
}

#[test]
fn a_late_answer_waits_for_the_agent_that_stopped_listening() {
    let home = Home::new();
    let agent = home.join();
    let (client, cue) = home.ask(&agent, "Which port?", None);
    client.kill();
    home.wait_for("Which port?", 0);
    let said = home.ok(&["answer", &cue, "8080"]);
    assert!(
        said.contains("is not listening") && said.contains("when it asks again"),
        "the human is told the truth: {said}"
    );
    assert_eq!(home.delivery(&cue), "none");
    let client = home.start_cue(&agent, "Which port?", None);
    let run = client.finish();
    assert!(
        run.printed(0).starts_with("8080\n"),
        "it was never handed over before: {run:?}"
    );
    assert_eq!(home.delivery(&cue), "acknowledged");
}

#[test]
fn an_answer_that_was_handed_over_but_never_acknowledged_is_repeated_with_a_mark() {
    let home = Home::new();
    let agent = home.join();
    let (client, cue) = home.ask(&agent, "Which port?", None);
    client.signal(Signal::STOP);
    home.ok(&["answer", &cue, "8080"]);
    assert_eq!(home.delivery(&cue), "handed");
    client.kill();
    let run = home.start_cue(&agent, "Which port?", None).finish();
    let (mark, rest) = run.printed(0).split_once('\n').unwrap();
    assert!(
        mark.starts_with("[repeat: ") && mark.contains("\"Which port?\"") && mark.contains("T"),
        "{mark}"
    );
    assert!(rest.starts_with("8080\n"), "{rest}");
    assert_eq!(home.delivery(&cue), "acknowledged");
}

#[test]
fn the_same_words_after_the_acknowledgement_are_a_new_question() {
    let home = Home::new();
    let agent = home.join();
    let (client, first) = home.ask(&agent, "Continue?", None);
    home.ok(&["answer", &first, "yes"]);
    client.finish().printed(0);
    let (client, second) = home.ask(&agent, "Continue?", None);
    assert_ne!(first, second, "the old yes answers nothing any more");
    home.ok(&["answer", &second, "no"]);
    assert!(client.finish().printed(0).starts_with("no\n"));
}

#[test]
fn questions_that_differ_only_in_verb_or_payload_are_different_questions() {
    let home = Home::new();
    let agent = home.join();
    let (_plain, plain) = home.ask(&agent, "Go?", None);
    let payload = Some(r#"{"type":"confirm"}"#);
    let _confirm = home.start_cue(&agent, "Go?", payload);
    let _pause = Client::start(&mut home.command(&["pause", &agent, "Go?"]), b"");
    let cues = cueme_tests::eventually("three questions", || {
        let cues = home.open_cues();
        (cues.len() == 3 && cues.iter().all(|cue| cue.waiting == 1)).then_some(cues)
    });
    assert!(cues.iter().any(|cue| cue.cue_id.to_string() == plain));
}

#[test]
fn two_clients_of_one_question_get_the_same_answer() {
    let home = Home::new();
    let agent = home.join();
    let (first, cue) = home.ask(&agent, "Which port?", None);
    let second = home.start_cue(&agent, "Which port?", None);
    assert_eq!(home.wait_for("Which port?", 2), cue);
    let said = home.ok(&["answer", &cue, "8080"]);
    assert!(said.contains("(2 clients)"), "{said}");
    let (first, second) = (first.finish(), second.finish());
    assert_eq!(first.printed(0), second.printed(0), "nobody is displaced");
    assert!(first.stdout.starts_with("8080\n"));
    assert_eq!(home.delivery(&cue), "acknowledged");
    let events = home.json(&["history", "--json"]);
    assert_eq!(events.as_array().unwrap().len(), 1, "one question, not two");
}

#[test]
fn a_second_answer_is_refused_and_changes_nothing() {
    let home = Home::new();
    let agent = home.join();
    let (client, cue) = home.ask(&agent, "Which port?", None);
    client.kill();
    home.ok(&["answer", &cue, "8080"]);
    for words in [
        vec!["answer", &cue, "9090"],
        vec!["decline", &cue],
        vec!["cancel", &cue],
    ] {
        home.run(&words)
            .refused(1, &["was answered by tester", "cueme show"]);
    }
    let run = home.start_cue(&agent, "Which port?", None).finish();
    assert!(run.printed(0).starts_with("8080\n"), "{run:?}");
}

#[test]
fn a_decline_is_a_word_too() {
    let home = Home::new();
    let agent = home.join();
    let (client, cue) = home.ask(&agent, "May I drop the table?", None);
    home.ok(&["decline", &cue, "not before the release"]);
    assert!(
        client
            .finish()
            .printed(0)
            .starts_with("declined: not before the release\n")
    );
    let (client, cue) = home.ask(&agent, "May I now?", None);
    client.kill();
    home.wait_for("May I now?", 0);
    home.ok(&["decline", &cue]);
    let run = home.start_cue(&agent, "May I now?", None).finish();
    assert!(run.printed(0).starts_with("declined"), "later too: {run:?}");
    assert_eq!(home.show(&cue)["outcome"], "declined");
}

#[test]
fn a_cancellation_is_neither_an_answer_nor_a_refusal() {
    let home = Home::new();
    let agent = home.join();
    let (client, cue) = home.ask(&agent, "Which port?", None);
    home.ok(&["cancel", &cue]);
    let run = client.finish();
    let text = run.printed(4);
    assert!(text.contains("closed without an answer"), "{text}");
    assert!(!text.starts_with("declined"), "{text}");
    let (client, cue) = home.ask(&agent, "Which host?", None);
    client.kill();
    home.wait_for("Which host?", 0);
    home.ok(&["cancel", &cue, "answered", "in", "the", "chat"]);
    let run = home.start_cue(&agent, "Which host?", None).finish();
    assert!(run.printed(4).contains("answered in the chat"), "{run:?}");
    assert_eq!(home.delivery(&cue), "acknowledged");
    assert!(home.open_cues().is_empty());
}

#[test]
fn two_agents_with_the_same_words_do_not_hear_each_other() {
    let home = Home::new();
    let (one, other) = (home.join(), home.join());
    assert_ne!(one, other);
    let first = home.start_cue(&one, "Continue?", None);
    let second = home.start_cue(&other, "Continue?", None);
    let cues = cueme_tests::eventually("two questions", || {
        let cues = home.open_cues();
        (cues.len() == 2 && cues.iter().all(|cue| cue.waiting == 1)).then_some(cues)
    });
    for cue in &cues {
        let word = format!("for {}", cue.agent_id);
        home.ok(&["answer", cue.cue_id.as_str(), &word]);
    }
    assert!(first.finish().printed(0).starts_with(&format!("for {one}\n")));
    assert!(second.finish().printed(0).starts_with(&format!("for {other}\n")));
}

#[test]
fn questions_of_one_agent_are_open_at_once_and_answered_in_any_order() {
    let home = Home::new();
    let agent = home.join();
    let prompts: Vec<String> = (0..5).map(|number| format!("Sub-agent {number}?")).collect();
    let mut asked: Vec<Option<(Client, String)>> = prompts
        .iter()
        .map(|prompt| Some(home.ask(&agent, prompt, None)))
        .collect();
    assert_eq!(home.open_cues().len(), prompts.len(), "none overwrote another");
    for number in [3, 0, 4, 2, 1] {
        let (client, cue) = asked[number].take().unwrap();
        home.ok(&["answer", &cue, &format!("answer {number}")]);
        let run = client.finish();
        assert!(
            run.printed(0).starts_with(&format!("answer {number}\n")),
            "{run:?}"
        );
    }
}

#[test]
fn an_answer_that_could_not_be_printed_is_not_acknowledged() {
    let home = Home::new();
    let agent = home.join();
    for closed in ["closed", "broken pipe", "full"] {
        let prompt = format!("Into a {closed} stdout?");
        let stdin = envelope(&prompt, None);
        let mut command = match closed {
            "closed" => {
                let mut shell = home.command_of(
                    "/bin/sh".as_ref(),
                    &["-c", "exec \"$CUEME_BIN\" cue \"$0\" - >&-", &agent],
                );
                shell.stdout(Stdio::null());
                shell
            }
            "broken pipe" => {
                let mut command = home.command(&["cue", &agent, "-"]);
                let (reader, writer) = std::io::pipe().unwrap();
                drop(reader);
                command.stdout(writer);
                command
            }
            _ => {
                let mut command = home.command(&["cue", &agent, "-"]);
                command.stdout(std::fs::File::options().write(true).open("/dev/full").unwrap());
                command
            }
        };
        let client = Client::start_with_own_stdout(&mut command, stdin.as_bytes());
        let cue = home.wait_for(&prompt, 1);
        home.ok(&["answer", &cue, "heard?"]);
        let run = client.finish();
        run.refused(74, &["stdout", "nothing was acknowledged", "same command again"]);
        assert_eq!(home.delivery(&cue), "handed", "{closed}");
        let run = home.start_cue(&agent, &prompt, None).finish();
        assert!(run.printed(0).starts_with("[repeat: "), "{closed}: {run:?}");
        assert!(run.stdout.contains("]\nheard?\n"), "{closed}: {run:?}");
        assert_eq!(home.delivery(&cue), "acknowledged", "{closed}");
    }
}

#[test]
fn the_last_answer_is_printed_again_on_request() {
    let home = Home::new();
    let agent = home.join();
    home.run(&["last", &agent]).refused(1, &["hint: "]);
    home.ask_and_answer(&agent, "First?", None, &["one"]);
    home.ask_and_answer(&agent, "Second?", None, &["two"]);
    assert_eq!(home.ok(&["last", &agent]), "two\n");
    assert_eq!(home.json(&["last", &agent, "--json"])["prompt"], "Second?");
}
