//! The end of a wait without an answer.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixListener;
use std::time::Duration;

use cueme_test_kit::request::ask;
use cueme_tests::{Client, Home, Signal, envelope, eventually, remains};
use protocol_spec::id::CueId;
use protocol_spec::message::{
    Ack, Asked, Decline, Reply, Request, Rested, Welcome, decode_request, encode_reply,
};
use protocol_spec::version::PROGRAM;

/// Asks with a wait budget, to the end.
fn wait(home: &Home, agent: &str, prompt: &str, budget: &str) -> cueme_tests::Run {
    let mut command = home.command(&["cue", agent, "-"]);
    command.env("CUEME_WAIT", budget);
    Client::start(&mut command, envelope(prompt, None).as_bytes()).finish()
}

#[test]
fn a_wait_budget_ends_the_call_and_not_the_question() {
    let home = Home::new();
    let agent = home.join();
    let started = std::time::Instant::now();
    let run = wait(&home, &agent, "Which port?", "1s");
    assert!(started.elapsed() >= std::time::Duration::from_secs(1));
    let text = run.printed(75);
    for words in ["still open", "exactly the same command again", "not a refusal"] {
        assert!(text.contains(words), "{text}");
    }
    assert_eq!(text.lines().count(), 1, "{text}");
    let cue = home.wait_for("Which port?", 0);
    let (client, again) = home.ask(&agent, "Which port?", None);
    assert_eq!(again, cue);
    home.ok(&["answer", &cue, "8080"]);
    assert!(client.finish().printed(0).starts_with("8080\n"));
}

#[test]
fn the_configuration_sets_the_budget_of_a_runtime() {
    let home = Home::new();
    home.configure("[runtime.codex]\nwait = \"300ms\"\n");
    let (limited, free) = (home.join_as("codex"), home.join());
    let (unlimited, cue) = home.ask(&free, "Which port?", None);
    let run = home.start_cue(&limited, "Which host?", None).finish();
    assert!(run.printed(75).contains("still open"));
    assert!(unlimited.is_running());
    home.ok(&["answer", &cue, "8080"]);
    unlimited.finish().printed(0);
    let mut command = home.command(&["cue", &limited, "-"]);
    command.env("CUEME_WAIT", "0");
    let client = Client::start(&mut command, envelope("Which host?", None).as_bytes());
    let cue = home.wait_for("Which host?", 1);
    home.ok(&["answer", &cue, "localhost"]);
    assert!(
        client.finish().printed(0).starts_with("localhost\n"),
        "the environment lifts the limit"
    );
}

#[test]
fn a_budget_that_is_no_length_of_time_is_refused_before_anything_is_asked() {
    let home = Home::new();
    let agent = home.join();
    wait(&home, &agent, "Which port?", "soon").refused(2, &["CUEME_WAIT", "90s"]);
    assert!(home.open_cues().is_empty());
}

#[test]
fn however_many_waits_end_the_agent_is_told_to_ask_again() {
    let home = Home::new();
    let agent = home.join();
    for _ in 0..25 {
        let run = wait(&home, &agent, "Anybody?", "20ms");
        let text = run.printed(75);
        assert!(text.contains("exactly the same command again"), "{text}");
    }
}

/// Serves one connection as a broker that has not seen a human for an hour.
fn serve_while_the_human_is_away(listener: &UnixListener) {
    let (stream, _) = listener.accept().unwrap();
    let mut writer = stream.try_clone().unwrap();
    for line in BufReader::new(stream).split(b'\n') {
        let (id, request) = decode_request(&line.unwrap()).unwrap();
        let cue_id = CueId::from_random(5);
        let reply = match request {
            Request::Hello(_) => Reply::Welcome(Welcome {
                version: PROGRAM.into(),
                protocol: 1,
                pid: 1,
            }),
            Request::Ask(_) => Reply::Asked(Asked {
                cue_id,
                agent_runtime: "claude_code".parse().unwrap(),
                again: false,
            }),
            Request::Rest(_) => Reply::Rested(Rested {
                cue_id,
                rounds: 450,
                give_up: true,
            }),
            other => panic!("unexpected {}", other.name()),
        };
        writer.write_all(&encode_reply(id, &reply).unwrap()).unwrap();
    }
}

#[test]
fn only_an_agent_whose_turn_a_hook_holds_is_told_to_end_it() {
    let home = Home::new();
    let joined = home.join_as("claude_code");
    let start = r#"{"session_id":"sess-1","cwd":"/","hook_event_name":"SessionStart","source":"startup"}"#;
    let mut hook = home.command(&["hook", "claude_code", "session_start"]);
    let told = Client::start(&mut hook, start.as_bytes()).finish();
    let (_, rest) = told.printed(0).split_once("your agent_id is ").unwrap();
    let held = rest.split('.').next().unwrap().to_owned();
    home.ok(&["broker", "stop"]);
    let listener = UnixListener::bind(home.socket()).unwrap();
    for (agent, code, words) in [
        (&joined, 75, "same command again"),
        (&held, 76, "End your turn now"),
    ] {
        std::thread::scope(|scope| {
            scope.spawn(|| serve_while_the_human_is_away(&listener));
            let run = wait(&home, agent, "Anybody?", "20ms");
            assert!(run.printed(code).contains(words), "{agent}");
        });
    }
    home.configure("[runtime.claude_code]\nlanguage = \"zh\"\n");
    for (agent, code, words) in [
        (&joined, 75, "原样再次运行同一条命令"),
        (&held, 76, "结束你的回合"),
    ] {
        std::thread::scope(|scope| {
            scope.spawn(|| serve_while_the_human_is_away(&listener));
            let run = wait(&home, agent, "Anybody?", "20ms");
            assert!(run.printed(code).contains(words), "{agent}");
        });
    }
}

#[test]
fn a_wait_that_ends_says_so_as_json_too() {
    let home = Home::new();
    let agent = home.join();
    let mut command = home.command(&["cue", &agent, "-", "--json"]);
    command.env("CUEME_WAIT", "200ms");
    let run = Client::start(&mut command, envelope("Which port?", None).as_bytes()).finish();
    let object: serde_json::Value = serde_json::from_str(run.printed(75)).unwrap();
    assert_eq!(object["result"], "open");
    assert_eq!(object["rounds"], 1);
    assert_eq!(object["give_up"], false);
    assert_eq!(object["cue_id"], home.wait_for("Which port?", 0));
}

#[test]
fn an_interrupted_call_leaves_the_question_open_and_says_so() {
    let home = Home::new();
    let agent = home.join();
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let (client, cue) = home.ask(&agent, "Which port?", None);
        client.signal(signal);
        client.finish().refused(
            code,
            &[&format!("question {cue} stays open"), "same command again"],
        );
        assert_eq!(home.wait_for("Which port?", 0), cue);
    }
    let (client, cue) = home.ask(&agent, "Which port?", None);
    home.ok(&["answer", &cue, "8080"]);
    client.finish().printed(0);
}

#[test]
fn a_waiting_client_uses_no_processor_time() {
    let home = Home::new();
    let agent = home.join();
    let (client, _cue) = home.ask(&agent, "Which port?", None);
    let switches = || {
        let status = std::fs::read_to_string(format!("/proc/{}/status", client.pid())).unwrap();
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
        line.unwrap().trim().parse::<u64>().unwrap()
    };
    eventually("the client sleeps", || {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", client.pid())).ok()?;
        stat.rsplit_once(") ")?.1.starts_with('S').then_some(())
    });
    let before = switches();
    remains("the client sleeps", Duration::from_millis(1500), || {
        switches() == before
    });
}

/// A program that lives long keeps one connection.
#[test]
fn one_connection_may_ask_any_number_of_questions_one_after_the_other() {
    /// More than may wait at once on one connection.
    const QUESTIONS: usize = 1_100;
    let home = Home::new();
    let agent = home.join();
    let (mut client, mut human) = (home.wire(), home.wire());
    for number in 0..QUESTIONS {
        let ask = ask(&agent, &format!("Question {number}?"));
        let Some(Reply::Asked(asked)) = client.call(&ask) else {
            panic!("question {number} was refused")
        };
        let decline = Request::Decline(Decline {
            cue: asked.cue_id.to_string(),
            reason: None,
            by: None,
        });
        assert!(matches!(human.call(&decline), Some(Reply::Decided(_))));
        assert!(matches!(client.hear(), Some(Reply::Outcome(_))));
        let ack = Request::Ack(Ack {
            cue_ids: vec![asked.cue_id],
            nonce: None,
        });
        assert!(matches!(client.call(&ack), Some(Reply::Acked(_))));
    }
}
