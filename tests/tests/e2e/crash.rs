//! The broker dies at every stage of a question's life, and no answer is lost.
//!
//! Stages are reached without any hook in the program: a stopped process holds still at the point where it waits, and
//! a program that speaks the wire itself can leave any line unread or unsaid.

use cueme_test_kit::request::{answer, ask};
use cueme_tests::{Client, Home, Signal, eventually, is_alive, send_signal};
use protocol_spec::message::{Ack, Reply, Request};

/// Waits until a process has sent its request and sleeps until the reply: nothing of it is left to be written.
fn wait_until_sent(client: &Client) {
    eventually("the client waits for a reply", || {
        let descriptors = std::fs::read_dir(format!("/proc/{}/fd", client.pid())).ok()?;
        let has_socket = descriptors
            .flatten()
            .filter_map(|entry| std::fs::read_link(entry.path()).ok())
            .any(|target| target.to_string_lossy().starts_with("socket:"));
        (has_socket && sleeps(client.pid())).then_some(())
    });
}

fn sleeps(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ")
        .is_some_and(|(_, rest)| rest.starts_with('S'))
}

#[test]
fn killed_before_the_question_was_committed() {
    let home = Home::new();
    let agent = home.join();
    let broker = home.broker_pid();
    send_signal(broker, Signal::STOP);
    let client = home.start_cue(&agent, "Which port?", None);
    wait_until_sent(&client);
    home.kill_brokers(&[broker]);
    let cue = home.wait_for("Which port?", 1);
    home.ok(&["answer", &cue, "8080"]);
    assert!(client.finish().printed(0).starts_with("8080\n"));
    assert_eq!(
        home.json(&["history", "--json"]).as_array().unwrap().len(),
        1,
        "asked exactly once"
    );
}

#[test]
fn killed_after_the_commit_and_before_the_reply_was_heard() {
    let home = Home::new();
    let agent = home.join();
    let mut wire = home.wire();
    let request = wire.send(&ask(&agent, "Which port?"));
    // The reply may lie in the socket; this caller never reads it.
    let cue = home.wait_for("Which port?", 1);
    home.kill_broker();
    drop(wire);
    home.ok(&["agents"]);
    let mut wire = home.wire();
    wire.send_as(request, &ask(&agent, "Which port?"));
    let Some(Reply::Asked(asked)) = wire.hear() else {
        panic!("not asked")
    };
    assert_eq!(asked.cue_id.as_str(), cue, "the same call is the same question");
    assert!(asked.again);
    assert_eq!(home.open_cues().len(), 1);
}

#[test]
fn killed_while_the_question_waits() {
    let home = Home::new();
    let agent = home.join();
    let (client, cue) = home.ask(&agent, "Which port?", None);
    let broker = home.broker_pid();
    home.kill_brokers(&[broker]);
    assert_eq!(
        home.wait_for("Which port?", 1),
        cue,
        "the client starts another broker by itself"
    );
    assert_ne!(home.broker_pid(), broker);
    home.ok(&["answer", &cue, "8080"]);
    let run = client.finish();
    assert!(run.printed(0).starts_with("8080\n"), "{run:?}");
    assert_eq!(run.stderr, "", "nobody notices");
}

#[test]
fn killed_before_the_answer_was_committed() {
    let home = Home::new();
    let agent = home.join();
    let (client, cue) = home.ask(&agent, "Which port?", None);
    client.kill();
    home.wait_for("Which port?", 0);
    let broker = home.broker_pid();
    send_signal(broker, Signal::STOP);
    let human = Client::start(&mut home.command(&["answer", &cue, "8080"]), b"");
    wait_until_sent(&human);
    home.kill_brokers(&[broker]);
    assert!(human.finish().printed(0).starts_with("answered "));
    let run = home.start_cue(&agent, "Which port?", None).finish();
    assert!(run.printed(0).starts_with("8080\n"), "{run:?}");
}

#[test]
fn killed_after_the_answer_and_before_anyone_heard_it() {
    let home = Home::new();
    let agent = home.join();
    let (client, cue) = home.ask(&agent, "Which port?", None);
    client.kill();
    home.wait_for("Which port?", 0);
    let mut human = home.wire();
    let request = human.send(&answer(&cue, "8080"));
    eventually("the answer is on disk", || {
        (home.show(&cue)["outcome"] == "answered").then_some(())
    });
    home.kill_broker();
    drop(human);
    // The human never heard that it was taken, and says the same again.
    home.ok(&["agents"]);
    let mut human = home.wire();
    human.send_as(request, &answer(&cue, "8080"));
    assert!(
        matches!(human.hear(), Some(Reply::Decided(_))),
        "not a second answer"
    );
    let run = home.start_cue(&agent, "Which port?", None).finish();
    assert!(run.printed(0).starts_with("8080\n"), "{run:?}");
}

#[test]
fn killed_after_handing_over_and_before_the_acknowledgement() {
    let home = Home::new();
    let agent = home.join();
    let (client, cue) = home.ask(&agent, "Which port?", None);
    client.signal(Signal::STOP);
    home.ok(&["answer", &cue, "8080"]);
    assert_eq!(home.delivery(&cue), "handed");
    home.kill_broker();
    client.signal(Signal::CONT);
    let run = client.finish();
    assert!(
        run.printed(0).starts_with("8080\n"),
        "printed once, unmarked: {run:?}"
    );
    assert_eq!(run.stderr, "", "acknowledged to the successor");
    assert_eq!(home.delivery(&cue), "acknowledged");
    let (client, again) = home.ask(&agent, "Which port?", None);
    assert_ne!(again, cue, "and so the same words are a new question");
    home.ok(&["answer", &again, "9090"]);
    assert!(client.finish().printed(0).starts_with("9090\n"));
}

#[test]
fn client_and_broker_killed_before_the_acknowledgement() {
    let home = Home::new();
    let agent = home.join();
    let (client, cue) = home.ask(&agent, "Which port?", None);
    client.signal(Signal::STOP);
    home.ok(&["answer", &cue, "8080"]);
    home.kill_broker();
    client.kill();
    let run = home.start_cue(&agent, "Which port?", None).finish();
    assert!(run.printed(0).starts_with("[repeat: "), "{run:?}");
    assert!(run.stdout.contains("]\n8080\n"), "{run:?}");
    assert_eq!(home.delivery(&cue), "acknowledged");
}

#[test]
fn killed_after_the_acknowledgement_was_committed_and_before_it_was_confirmed() {
    let home = Home::new();
    let agent = home.join();
    let mut wire = home.wire();
    wire.send(&ask(&agent, "Which port?"));
    let cue = home.wait_for("Which port?", 1);
    home.ok(&["answer", &cue, "8080"]);
    assert!(matches!(wire.hear(), Some(Reply::Asked(_))));
    let Some(Reply::Outcome(told)) = wire.hear() else {
        panic!("no outcome")
    };
    let ack = Request::Ack(Ack {
        cue_ids: vec![told.cue_id],
        nonce: None,
    });
    let request = wire.send(&ack);
    eventually("the acknowledgement is on disk", || {
        (home.delivery(&cue) == "acknowledged").then_some(())
    });
    home.kill_broker();
    home.ok(&["agents"]);
    let mut wire = home.wire();
    wire.send_as(request, &ack);
    assert!(matches!(wire.hear(), Some(Reply::Acked(_))), "again is no error");
}

#[test]
fn a_program_that_never_acknowledges_gets_the_same_bytes_again() {
    let home = Home::new();
    let agent = home.join();
    let mut wire = home.wire();
    wire.send(&ask(&agent, "Which port?"));
    let cue = home.wait_for("Which port?", 1);
    home.ok(&["answer", &cue, "8080\n数据库"]);
    let mut texts = Vec::new();
    for round in 0..3 {
        loop {
            match wire.hear() {
                Some(Reply::Asked(_)) => {}
                Some(Reply::Outcome(told)) => {
                    assert_eq!(told.repeat_of.is_some(), round > 0);
                    texts.push(told.text);
                    break;
                }
                other => panic!("{other:?}"),
            }
        }
        home.kill_broker();
        home.ok(&["agents"]);
        wire = home.wire();
        wire.send(&ask(&agent, "Which port?"));
    }
    assert_eq!(texts, vec!["8080\n数据库"; 3]);
}

/// The broker is killed again and again while agents ask and humans answer.
#[test]
fn killed_at_random_while_eight_agents_ask() {
    const AGENTS: usize = 8;
    const KILLS: usize = 12;
    let home = Home::new();
    let agents: Vec<String> = (0..AGENTS).map(|_| home.join()).collect();
    let clients: Vec<Client> = agents
        .iter()
        .map(|agent| home.start_cue(agent, "Continue?", None))
        .collect();
    let mut killed = 0;
    eventually("every agent has its answer", || {
        if let Some(cue) = home.open_cues().first() {
            let word = format!("for {}", cue.agent_id);
            let human = Client::start(&mut home.command(&["answer", cue.cue_id.as_str(), &word]), b"");
            if killed < KILLS {
                // Somewhere between before the answer arrives and after it was handed over.
                std::thread::sleep(std::time::Duration::from_millis(3 * killed as u64));
                home.kill_brokers(&home.brokers());
                killed += 1;
            }
            let run = human.finish();
            assert!(
                run.code == Some(0) || run.stderr.contains("was answered"),
                "{run:?}"
            );
        }
        clients.iter().all(|client| !client.is_running()).then_some(())
    });
    for (client, agent) in clients.into_iter().zip(&agents) {
        let run = client.finish();
        assert!(run.printed(0).contains(&format!("for {agent}\n")), "{run:?}");
    }
    let settled = home.json(&["history", "--json"]);
    assert_eq!(settled.as_array().unwrap().len(), AGENTS);
    for cue in settled.as_array().unwrap() {
        assert_eq!(cue["delivery"], "acknowledged", "{cue}");
    }
    assert!(home.ok(&["doctor", "--quick"]).contains("ok    database: sound"));
}

#[test]
fn a_foreign_connection_does_not_disturb_the_others() {
    let home = Home::new();
    let agent = home.join();
    let (client, cue) = home.ask(&agent, "Which port?", None);
    let broker = home.broker_pid();
    for bytes in [
        &b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"[..],
        b"\xff\xfe\x00garbage\n",
        b"{\"v\":1}\n",
        b"{\"v\":99,\"id\":\"018f0000-0000-7000-8000-000000000000\",\"op\":\"hello\",\"body\":{}}\n",
        b"{\"v\":1,\"id\":\"018f0000-0000-7000-8000-000000000000\",\"op\":\"fly\",\"body\":{}}\n",
    ] {
        let mut wire = home.wire();
        wire.send_bytes(bytes);
        assert!(matches!(wire.hear(), Some(Reply::Error(_))), "{bytes:?}");
    }
    let mut half = home.wire();
    half.send_bytes(b"{\"v\":1,\"id\":");
    assert!(is_alive(broker));
    home.ok(&["answer", &cue, "8080"]);
    assert!(client.finish().printed(0).starts_with("8080\n"));
    assert_eq!(home.broker_pid(), broker);
}

#[test]
fn a_request_sent_again_with_other_content_is_refused() {
    let home = Home::new();
    let agent = home.join();
    let mut wire = home.wire();
    let request = wire.send(&ask(&agent, "Which port?"));
    assert!(matches!(wire.hear(), Some(Reply::Asked(_))));
    wire.send_as(request, &ask(&agent, "Which host?"));
    assert!(matches!(wire.hear(), Some(Reply::Error(_))));
    assert_eq!(home.open_cues().len(), 1);
}
