//! Operations over the wire that no command offers: attach by id, undo answers, follow, prove.

use cueme_test_kit::request::ask;
use cueme_tests::{Client, Home, Wire, envelope, eventually};
use protocol_spec::answer::Answer;
use protocol_spec::message::{
    Ack, Attach, Bind, ErrorCode, EventKind, GiveAnswer, Hello, Join, NAME_BYTES_MAX, Nothing, Receipts,
    Reply, Request, Rest, Show, Undo, Watch, encode_request,
};

fn answer(cue: &str, text: &str, hold_ms: u64) -> Request {
    Request::Answer(GiveAnswer {
        cue: cue.to_owned(),
        answer: Answer {
            text: Some(text.to_owned()),
            ..Answer::default()
        },
        by: Some("page".to_owned()),
        hold_ms,
    })
}

#[test]
fn an_answer_that_is_held_can_be_taken_back_before_the_agent_has_it() {
    let home = Home::new();
    let agent = home.join();
    let (client, cue) = home.ask(&agent, "Which port?", None);
    let mut wire = home.wire();
    let Some(Reply::Decided(decided)) = wire.call(&answer(&cue, "wrong", 60_000)) else {
        panic!("not decided")
    };
    assert!(decided.released_at.is_some());
    assert_eq!(home.delivery(&cue), "none");
    assert!(client.is_running() && client.stdout().is_empty());
    let undo = Request::Undo(Undo { cue: cue.clone() });
    let Some(Reply::Undone(undone)) = wire.call(&undo) else {
        panic!("not undone")
    };
    assert_eq!(
        undone.answer.and_then(|answer| answer.text).as_deref(),
        Some("wrong"),
        "the words come back as a draft"
    );
    wire.call(&answer(&cue, "right", 200));
    assert!(client.finish().printed(0).starts_with("right\n"));
    let Some(Reply::Error(failure)) = wire.call(&undo) else {
        panic!("undone too late")
    };
    assert_eq!(failure.code, ErrorCode::AlreadyReleased);
}

#[test]
fn a_held_answer_is_released_on_time_even_if_the_broker_died_meanwhile() {
    let home = Home::new();
    let agent = home.join();
    let (client, cue) = home.ask(&agent, "Which port?", None);
    home.wire().call(&answer(&cue, "8080", 1500));
    home.kill_broker();
    let run = client.finish();
    assert!(run.printed(0).starts_with("8080\n"), "{run:?}");
}

#[test]
fn a_follower_sees_everything_in_order_and_catches_up_from_where_it_was() {
    let home = Home::new();
    let agent = home.join();
    home.ask_and_answer(&agent, "Which port?", None, &["8080"]);
    let seen = |after: i64, count: usize| -> Vec<(i64, EventKind)> {
        let mut wire = home.wire();
        wire.send(&Request::Watch(Watch { after: Some(after) }));
        let mut events = Vec::new();
        while events.len() < count {
            match wire.hear() {
                Some(Reply::Event(event)) => events.extend(event.id.map(|id| (id, event.what))),
                other => panic!("{other:?}"),
            }
        }
        events
    };
    let all = seen(0, 4);
    let kinds: Vec<EventKind> = all.iter().map(|(_, what)| *what).collect();
    assert_eq!(
        kinds,
        [
            EventKind::Joined,
            EventKind::Asked,
            EventKind::Answered,
            EventKind::Delivered
        ]
    );
    assert!(all.windows(2).all(|pair| pair[0].0 < pair[1].0));
    home.kill_broker();
    home.ok(&["agents"]);
    assert_eq!(seen(all[1].0, 2), all[2..], "the log outlives the broker");
}

#[test]
fn a_follower_that_is_ahead_of_the_history_is_told_where_it_ends() {
    let home = Home::new();
    let agent = home.join();
    let mut wire = home.wire();
    wire.send(&Request::Watch(Watch { after: Some(1_000) }));
    let newest = match wire.hear() {
        Some(Reply::Lagged(lagged)) => lagged.newest,
        other => panic!("{other:?}"),
    };
    let (_client, _cue) = home.ask(&agent, "Which port?", None);
    let next = loop {
        match wire.hear() {
            Some(Reply::Event(event)) => {
                if let Some(id) = event.id {
                    break id;
                }
            }
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(next, newest + 1);
}

#[test]
fn a_turn_can_prove_what_was_delivered_in_it() {
    let home = Home::new();
    let agent = home.join();
    let mut command = home.command(&["cue", &agent, "-"]);
    command.env("CUEME_TURN", "turn-7");
    let client = Client::start(&mut command, envelope("Which port?", None).as_bytes());
    let cue = home.wait_for("Which port?", 1);
    home.ok(&["answer", &cue, "8080"]);
    client.finish().printed(0);
    let receipts = |nonce: &str| match home.wire().call(&Request::Receipts(Receipts {
        nonce: nonce.to_owned(),
    })) {
        Some(Reply::Receipts(list)) => list.receipts,
        other => panic!("{other:?}"),
    };
    let proof = receipts("turn-7");
    assert_eq!(proof.len(), 1);
    assert_eq!(proof[0].cue_id.as_str(), cue);
    assert!(receipts("turn-8").is_empty());
}

#[test]
fn a_conversation_that_joins_again_is_the_same_agent() {
    let home = Home::new();
    home.ok(&["agents"]);
    let join = |session: Option<&str>| {
        let request = Request::Join(Join {
            runtime: "cursor".parse().unwrap(),
            project_dir: "/srv/shop".to_owned(),
            terminal: "bash".to_owned(),
            session: session.map(str::to_owned),
        });
        match home.wire().call(&request) {
            Some(Reply::Joined(joined)) => joined,
            other => panic!("{other:?}"),
        }
    };
    let first = join(Some("chat-1"));
    let again = join(Some("chat-1"));
    assert_eq!((first.again, again.again), (false, true));
    assert_eq!(first.agent_id, again.agent_id);
    assert_ne!(join(Some("chat-2")).agent_id, first.agent_id);
    assert_ne!(join(None).agent_id, join(None).agent_id);

    // A conversation that got its name later is the same agent too, even if somebody joined under it meanwhile.
    let driven = join(None);
    for session in ["chat-3", "chat-2"] {
        let bind = Request::Bind(Bind {
            agent_id: driven.agent_id.clone(),
            session: session.to_owned(),
        });
        assert!(matches!(home.wire().call(&bind), Some(Reply::Joined(_))));
        let again = join(Some(session));
        assert_eq!(
            (again.again, again.agent_id),
            (true, driven.agent_id.clone()),
            "{session}"
        );
    }
    let nameless = Request::Bind(Bind {
        agent_id: driven.agent_id,
        session: " ".to_owned(),
    });
    let Some(Reply::Error(failure)) = home.wire().call(&nameless) else {
        panic!("bound to nothing")
    };
    assert_eq!(failure.code, ErrorCode::BadRequest);
}

#[test]
fn a_session_without_a_name_or_with_an_endless_one_is_refused_wherever_it_comes_in() {
    let home = Home::new();
    let agent = home.join();
    let too_long = "s".repeat(NAME_BYTES_MAX + 1);
    for (session, code) in [
        ("", ErrorCode::BadRequest),
        (" \t", ErrorCode::BadRequest),
        (&too_long, ErrorCode::TooLarge),
    ] {
        let join = Request::Join(Join {
            runtime: "cursor".parse().unwrap(),
            project_dir: "/srv/shop".to_owned(),
            terminal: "bash".to_owned(),
            session: Some(session.to_owned()),
        });
        let bind = Request::Bind(Bind {
            agent_id: agent.parse().unwrap(),
            session: session.to_owned(),
        });
        for request in [join, bind] {
            let Some(Reply::Error(failure)) = home.wire().call(&request) else {
                panic!("taken: {request:?}")
            };
            assert_eq!(failure.code, code, "{failure:?}");
        }
    }
    for (session, why) in [
        (" ", "the session has no name"),
        (&too_long, "longer than 4096 bytes"),
    ] {
        let mut command = home.command(&["join", "cursor"]);
        Client::start(command.env("CUEME_SESSION", session), b"")
            .finish()
            .refused(2, &[why]);
    }
    assert_eq!(home.json(&["agents", "--json"]).as_array().unwrap().len(), 1);
    // A variable that is set to nothing is not set.
    let mut command = home.command(&["join", "cursor"]);
    Client::start(command.env("CUEME_SESSION", ""), b"")
        .finish()
        .printed(0);
    // The longest name is a name.
    let mut command = home.command(&["join", "cursor"]);
    command.env("CUEME_SESSION", &too_long[1..]);
    let first = Client::start(&mut command, b"").finish().printed(0).to_owned();
    assert_eq!(Client::start(&mut command, b"").finish().printed(0), first);
}

#[test]
fn a_program_attaches_by_id_and_the_first_acknowledgement_counts() {
    let home = Home::new();
    let agent = home.join();
    let (client, cue) = home.ask(&agent, "Which port?", None);
    let attach = Request::Attach(Attach {
        cue_id: cue.parse().unwrap(),
        nonce: None,
    });
    let mut wire = home.wire();
    wire.send(&attach);
    assert!(matches!(wire.hear(), Some(Reply::Asked(asked)) if asked.again));
    home.wait_for("Which port?", 2);
    home.ok(&["answer", &cue, "8080"]);
    assert!(matches!(wire.hear(), Some(Reply::Outcome(told)) if told.text == "8080"));
    client.finish().printed(0);
    eventually("the command acknowledged", || {
        (home.delivery(&cue) == "acknowledged").then_some(())
    });
    let ack = Request::Ack(Ack {
        cue_ids: vec![cue.parse().unwrap()],
        nonce: None,
    });
    let Some(Reply::Acked(acked)) = wire.call(&ack) else {
        panic!("not acknowledged")
    };
    assert!(acked.cue_ids.is_empty(), "somebody was first");
    let unknown = Request::Attach(Attach {
        cue_id: "zzzzzzzzzzzz".parse().unwrap(),
        nonce: None,
    });
    assert!(
        matches!(home.wire().call(&unknown), Some(Reply::Error(failure)) if failure.code == ErrorCode::UnknownCue)
    );
}

#[test]
fn an_outcome_that_does_not_exist_cannot_be_acknowledged() {
    let home = Home::new();
    let agent = home.join();
    let (client, cue) = home.ask(&agent, "Which port?", None);
    let ack = Request::Ack(Ack {
        cue_ids: vec![cue.parse().unwrap()],
        nonce: None,
    });
    assert!(
        matches!(home.wire().call(&ack), Some(Reply::Error(failure)) if failure.code == ErrorCode::BadRequest)
    );
    assert!(client.is_running());
    assert_eq!(home.show(&cue)["outcome"], "open");
}

#[test]
fn the_broker_says_which_version_and_protocol_it_speaks() {
    let home = Home::new();
    home.ok(&["agents"]);
    let hello = Request::Hello(Hello {
        version: "0.0.1".to_owned(),
    });
    let Some(Reply::Welcome(welcome)) = home.wire().call(&hello) else {
        panic!("no welcome")
    };
    assert_eq!(welcome.version, protocol_spec::version::PROGRAM);
    assert_eq!(welcome.protocol, protocol_spec::version::PROTOCOL);
    assert_eq!(welcome.pid, home.broker_pid());
}

#[test]
fn a_greeting_is_answered_before_a_reply_that_is_long_in_coming() {
    let home = Home::new();
    home.join();
    let hello = Request::Hello(Hello {
        version: "0.0.1".to_owned(),
    });
    let mut wire = home.wire();
    let greeting = encode_request(Wire::mint(), &hello).unwrap();
    let watch = encode_request(Wire::mint(), &Request::Watch(Watch { after: None })).unwrap();
    wire.send_bytes(&[greeting.clone(), watch].concat());
    assert!(matches!(wire.hear(), Some(Reply::Welcome(_))));
    // And nothing is said twice or out of order where both come together.
    let mut wire = home.wire();
    let agents = encode_request(Wire::mint(), &Request::Agents(Nothing {})).unwrap();
    wire.send_bytes(&[greeting, agents].concat());
    let names: Vec<_> = (0..3).map(|_| wire.hear().unwrap().name()).collect();
    assert_eq!(names, ["welcome", "agent", "end"]);
}

/// A program that keeps its connection and has said that it stopped waiting does not count as waiting.
#[test]
fn who_rests_waits_no_longer() {
    let home = Home::new();
    let agent = home.join();
    let mut program = home.wire();
    let ask = |prompt| ask(&agent, prompt);
    let (Some(Reply::Asked(one)), Some(Reply::Asked(other))) =
        (program.call(&ask("one")), program.call(&ask("other")))
    else {
        panic!("not asked")
    };
    let rest = Request::Rest(Rest { cue_id: one.cue_id });
    assert!(matches!(program.call(&rest), Some(Reply::Rested(_))));
    let mut human = home.wire();
    let mut waiting = |cue: &str| match human.call(&Request::Show(Show { cue: cue.to_owned() })) {
        Some(Reply::Cue(shown)) => shown.waiting,
        other => panic!("{other:?}"),
    };
    assert_eq!(waiting(one.cue_id.as_str()), 0);
    assert_eq!(waiting(other.cue_id.as_str()), 1, "one rests, the other waits");
    let Some(Reply::Decided(decided)) = home.wire().call(&answer(one.cue_id.as_str(), "8080", 0)) else {
        panic!("not decided")
    };
    assert_eq!(decided.handed_to, 0, "nobody was there to be handed it");
}

/// Unfinished lines take memory; there is a limit to it, and a client beyond the limit gets `Busy` and may come again.
#[test]
fn unfinished_lines_take_no_more_memory_than_is_set_aside_for_them() {
    const LINE: usize = 70 << 20;
    let home = Home::new();
    home.join();
    let unfinished = vec![b'x'; LINE];
    let mut programs: Vec<Wire> = (0..3).map(|_| home.wire()).collect();
    for program in &mut programs {
        program.send_bytes(&unfinished);
    }
    let mut one_more = home.wire();
    one_more.send_bytes(&unfinished);
    let Some(Reply::Error(failure)) = one_more.hear() else {
        panic!("there was room for it")
    };
    assert_eq!(failure.code, ErrorCode::Busy, "{failure}");
    one_more.send_bytes(b"\n");
    assert!(one_more.hear().is_none(), "and the connection ends");
    assert!(home.status().running, "short lines are served all the while");
    drop(programs.pop());
    let mut one_more = home.wire();
    one_more.send_bytes(&unfinished);
    one_more.send_bytes(b"\n");
    let Some(Reply::Error(failure)) = one_more.hear() else {
        panic!("a line of one letter is a message")
    };
    assert_eq!(failure.code, ErrorCode::BadRequest, "there is room again");
}
