//! Messages that arrive while no question waits: earlier outcomes, and messages left before a question.

use cueme_tests::{Client, Home};

const CHOICE: &str = r#"{"type":"choice","options":["a","b"]}"#;

/// Leaves an answer undelivered: asks, kills the client, answers.
fn missed(home: &Home, agent: &str, prompt: &str, answer: &[&str]) -> String {
    let (client, cue) = home.ask(agent, prompt, None);
    client.kill();
    home.wait_for(prompt, 0);
    let words: Vec<&str> = [answer[0], &cue]
        .into_iter()
        .chain(answer[1..].iter().copied())
        .collect();
    home.ok(&words);
    cue
}

#[test]
fn another_question_gets_the_earlier_outcome_labelled_and_stays_open_itself() {
    let home = Home::new();
    let agent = home.join();
    let earlier = missed(&home, &agent, "Which port?", &["answer", "8080"]);
    let run = home.start_cue(&agent, "Which host?", None).finish();
    let text = run.printed(75);
    assert!(
        text.starts_with("[outcome of your earlier question \"Which port?\"]\n8080\n"),
        "{text}"
    );
    assert!(text.contains("your new question is open"), "{text}");
    assert_eq!(home.delivery(&earlier), "acknowledged");
    let cue = home.wait_for("Which host?", 0);
    let (client, again) = home.ask(&agent, "Which host?", None);
    assert_eq!(again, cue, "the same command waits for it");
    home.ok(&["answer", &cue, "localhost"]);
    assert!(client.finish().printed(0).starts_with("localhost\n"));
}

#[test]
fn every_kind_of_missed_outcome_is_in_the_mailbox_oldest_first() {
    let home = Home::new();
    let agent = home.join();
    // All three are open before the first is decided; a decided one would be handed to the next question.
    let clients: Vec<(Client, String)> = ["One?", "Two?", "Three?"]
        .iter()
        .map(|prompt| home.ask(&agent, prompt, None))
        .collect();
    let cues: Vec<String> = clients
        .into_iter()
        .map(|(client, cue)| {
            client.kill();
            cue
        })
        .collect();
    for prompt in ["One?", "Two?", "Three?"] {
        home.wait_for(prompt, 0);
    }
    home.ok(&["cancel", &cues[2]]);
    home.ok(&["decline", &cues[1], "no"]);
    home.ok(&["answer", &cues[0], "yes"]);
    let stdin = cueme_tests::envelope("Four?", None);
    let run = home.run_with(&["cue", &agent, "-", "--json"], stdin.as_bytes());
    let mailbox: serde_json::Value = serde_json::from_str(run.printed(75)).unwrap();
    assert_eq!(mailbox["result"], "mailbox");
    let outcomes: Vec<&str> = mailbox["earlier"]
        .as_array()
        .unwrap()
        .iter()
        .map(|told| told["outcome"].as_str().unwrap())
        .collect();
    assert_eq!(outcomes, ["answered", "declined", "cancelled"]);
    for cue in &cues {
        assert_eq!(home.delivery(cue), "acknowledged");
    }
    let (client, cue) = home.ask(&agent, "Four?", None);
    home.ok(&["answer", &cue, "4"]);
    assert!(client.finish().printed(0).starts_with("4\n"), "nothing twice");
}

#[test]
fn an_outcome_that_somebody_waits_for_is_not_put_into_the_mailbox() {
    let home = Home::new();
    let agent = home.join();
    let (first, cue) = home.ask(&agent, "One?", None);
    first.signal(cueme_tests::Signal::STOP);
    home.ok(&["answer", &cue, "mine"]);
    let (second, other) = home.ask(&agent, "Two?", None);
    first.signal(cueme_tests::Signal::CONT);
    let first = first;
    assert!(first.finish().printed(0).starts_with("mine\n"));
    home.ok(&["answer", &other, "yours"]);
    assert!(second.finish().printed(0).starts_with("yours\n"));
}

#[test]
fn a_note_closes_no_question_and_stands_above_the_next_answer() {
    let home = Home::new();
    let agent = home.join();
    let said = home.ok(&["say", &agent, "use the staging database"]);
    assert!(
        said.contains("note saved: ") && said.contains("1 message waits"),
        "{said}"
    );
    home.run_with(&["say", &agent, "-"], "第二句\n".as_bytes())
        .printed(0);
    let (client, cue) = home.ask(&agent, "What next?", None);
    assert!(client.is_running(), "a note is not an answer");
    home.ok(&["answer", &cue, "go"]);
    let run = client.finish();
    let text = run.printed(0);
    assert!(text.starts_with("[note, written "), "{text}");
    assert!(text.contains(" before this question, 20"), "{text}");
    assert!(text.contains("]\nuse the staging database\n"), "{text}");
    assert!(text.contains("]\n第二句\n\n[answer]\ngo\n"), "{text}");
    let (client, cue) = home.ask(&agent, "And now?", None);
    home.ok(&["answer", &cue, "rest"]);
    assert!(
        client.finish().printed(0).starts_with("rest\n"),
        "notes are used once"
    );
}

#[test]
fn a_queued_answer_answers_the_next_plain_question_unseen_and_never_an_approval() {
    let home = Home::new();
    let agent = home.join();
    let said = home.ok(&["say", &agent, "--next", "go on"]);
    assert!(
        said.starts_with("queued: ") && said.contains("before you see it"),
        "{said}"
    );
    let (client, cue) = home.ask(&agent, "a or b?", Some(CHOICE));
    assert!(client.is_running(), "words are not a choice");
    home.ok(&["answer", &cue, "--select", "a"]);
    assert!(client.finish().printed(0).starts_with("a\n"));
    let run = home.start_cue(&agent, "What next?", None).finish();
    let text = run.printed(0);
    assert!(
        text.starts_with("[the human has not seen this question: an answer queued "),
        "{text}"
    );
    assert!(text.contains("]\ngo on\n"), "{text}");
    let shown = home.ok(&["history", "--limit", "1"]);
    assert!(
        shown.contains("answered from the queue, before a human saw it"),
        "{shown}"
    );
}

#[test]
fn the_inbox_lists_what_the_queue_answered_until_a_human_has_seen_it() {
    let home = Home::new();
    let agent = home.join();
    home.ok(&["say", &agent, "--next", "go on"]);
    home.start_cue(&agent, "Step two?", None).finish().printed(0);
    let cue = home.json(&["history", "--json", "--limit", "1"])[0]["cue_id"].clone();
    let cue = cue.as_str().unwrap();
    for _ in 0..2 {
        let inbox = home.ok(&["inbox"]);
        assert!(
            inbox.contains("no agent is waiting for you") && inbox.contains("Step two?"),
            "{inbox}"
        );
        assert!(
            inbox.contains("answered from the queue, before a human saw it")
                && inbox.contains(&format!("`cueme show {cue}` shows what the agent got")),
            "{inbox}"
        );
        // A restart forgets nothing of it.
        home.ok(&["broker", "restart"]);
    }
    assert_eq!(
        home.json(&["inbox", "--json"]),
        serde_json::json!([]),
        "nothing is open"
    );
    let shown = home.ok(&["show", cue]);
    assert!(shown.contains("go on"), "{shown}");
    assert_eq!(home.ok(&["inbox"]), "no agent is waiting for you\n");
    // An answer that a human gave to a question is not listed.
    home.ask_and_answer(&agent, "Step three?", None, &["yes"]);
    assert_eq!(home.ok(&["inbox"]), "no agent is waiting for you\n");
}

#[test]
fn a_message_does_not_choose_an_option_but_stands_above_the_choice() {
    let home = Home::new();
    let agent = home.join();
    home.ok(&["say", &agent, "mind the budget"]);
    let (client, cue) = home.ask(&agent, "a or b?", Some(CHOICE));
    assert!(client.is_running(), "words are not a choice");
    home.ok(&["answer", &cue, "--select", "a"]);
    let run = client.finish();
    let text = run.printed(0);
    assert!(text.starts_with("[note, written "), "{text}");
    assert!(text.contains("]\nmind the budget\n\n[answer]\na\n"), "{text}");
}

#[test]
fn a_message_does_not_end_a_pause_but_stands_above_continue() {
    let home = Home::new();
    let agent = home.join();
    home.ok(&["say", &agent, "read the log first"]);
    let client = Client::start(&mut home.command(&["pause", &agent, "Stop?"]), b"");
    let cue = home.wait_for("Stop?", 1);
    home.ok(&["answer", &cue, "--confirm"]);
    let run = client.finish();
    assert!(
        run.printed(0)
            .contains("]\nread the log first\n\n[answer]\nContinue\n"),
        "{run:?}"
    );
}

#[test]
fn a_message_survives_a_cancelled_question_and_a_crash() {
    let home = Home::new();
    let agent = home.join();
    home.ok(&["say", &agent, "keep this"]);
    let (client, cue) = home.ask(&agent, "a or b?", Some(CHOICE));
    home.ok(&["cancel", &cue]);
    assert!(!client.finish().printed(4).contains("keep this"));
    home.kill_broker();
    let (client, cue) = home.ask(&agent, "Anything?", None);
    home.ok(&["answer", &cue, "no"]);
    let run = client.finish();
    assert!(run.printed(0).contains("]\nkeep this\n"), "{run:?}");
}

#[test]
fn a_human_who_says_something_to_a_waiting_agent_is_shown_how_to_answer() {
    let home = Home::new();
    let agent = home.join();
    let (client, cue) = home.ask(&agent, "Which port?", None);
    let said = home.ok(&["say", &agent, "later"]);
    assert!(said.contains(&format!("cueme answer {cue}")), "{said}");
    assert!(client.is_running(), "a message is for the next question");
    home.ok(&["answer", &cue, "8080"]);
    assert!(client.finish().printed(0).contains("8080"));
}

#[test]
fn a_human_who_says_something_to_an_agent_that_left_is_not_promised_that_it_hears_at_once() {
    let home = Home::new();
    let agent = home.join();
    let (client, cue) = home.ask(&agent, "Which port?", None);
    client.kill();
    home.wait_for("Which port?", 0);
    let said = home.ok(&["say", &agent, "later"]);
    assert!(!said.contains("at once"), "{said}");
    assert!(
        said.contains(&format!("`cueme answer {cue}` reaches it when it asks again")),
        "{said}"
    );
}
