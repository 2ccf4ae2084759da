//! A waiting client whose runtime, broker or caller ends first.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use protocol_spec::message::{Asked, Reply, Request, Welcome, decode_request, encode_reply};

use cueme_tests::{Client, Home, Signal, envelope, eventually, remains};

#[test]
fn a_wait_that_reaches_its_budget_says_to_run_it_again_and_the_question_stays() {
    let home = Home::created();
    let agent = home.join_as("terminal");
    let started = Instant::now();
    let ended = home.ask_for("400ms", &agent, "A?", None).expect(75);
    assert!(started.elapsed() >= Duration::from_millis(400));
    assert!(ended.stdout.contains("same command again"), "{}", ended.stdout);
    let cue = home.open("A?").unwrap()["cue_id"].as_str().unwrap().to_owned();
    home.run(&["answer", &cue, "yes"]).expect(0);
    assert!(
        home.ask_for("20s", &agent, "A?", None)
            .expect(0)
            .stdout
            .starts_with("yes\n")
    );
}

#[test]
fn a_budget_comes_from_the_configuration_when_the_environment_sets_none() {
    let home = Home::created();
    std::fs::write(
        home.path().join("config.toml"),
        "[runtime.terminal]\nwait = \"300ms\"\n",
    )
    .unwrap();
    let agent = home.join_as("terminal");
    home.run_with(&["cue", &agent, "-"], &envelope("A?", None))
        .expect(75);
    home.ask_for("nonsense", &agent, "A?", None).expect(2);
}

#[test]
fn however_often_a_wait_was_in_vain_the_same_command_waits_on() {
    let home = Home::created();
    let agent = home.join_as("terminal");
    for _ in 0..40 {
        let ended = home.ask_for("5ms", &agent, "A?", None).expect(75);
        assert!(!ended.stdout.contains("End your turn"), "{}", ended.stdout);
    }
    assert!(home.open("A?").is_some());
}

#[test]
fn signals_leave_the_question_open_and_say_so() {
    let home = Home::created();
    let agent = home.join_as("terminal");
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let (asking, cue) = home.ask(&agent, "A?", None);
        asking.signal(signal);
        let ended = asking.finish().expect(code);
        assert!(
            ended.stderr.contains(&cue) && ended.stderr.contains("stays open"),
            "{}",
            ended.stderr
        );
        assert_eq!(ended.stdout, "");
        home.wait_until_unattended("A?");
    }
}

#[test]
fn an_outcome_that_could_not_be_written_is_handed_over_again() {
    let home = Home::created();
    let agent = home.join_as("terminal");
    let (read, write) = std::io::pipe().unwrap();
    let mut command = home.command(&["cue", &agent, "-"]);
    let asking = Client::start_with_own_stdout(command.stdout(write), envelope("A?", None).as_bytes());
    // The command keeps an end of the pipe.
    drop(command);
    let cue = home.wait_for("A?", 1);
    drop(read);
    home.run(&["answer", &cue, "yes"]).expect(0);
    asking.finish().expect(74);
    let again = home
        .run_with(&["cue", &agent, "-"], &envelope("A?", None))
        .expect(0)
        .stdout;
    let (header, text) = again.split_once('\n').unwrap();
    assert!(
        header.starts_with("[repeat: ") && header.contains("\"A?\""),
        "{header}"
    );
    assert!(text.starts_with("yes\n"), "{text}");
}

#[test]
fn a_killed_broker_is_replaced_by_its_waiting_clients_and_only_once() {
    let home = Home::created();
    let agent = home.join_as("terminal");
    let waiting: Vec<_> = (0..8).map(|n| home.ask(&agent, &format!("Q{n}"), None)).collect();
    let pid = home.run(&["broker", "status", "--json"]).expect(0).json()["pid"]
        .as_u64()
        .unwrap();
    let killed = std::process::Command::new("kill")
        .args(["-9", &pid.to_string()])
        .status();
    assert!(killed.unwrap().success());
    for (n, (running, cue)) in waiting.into_iter().enumerate() {
        assert_eq!(home.wait_for(&format!("Q{n}"), 1), cue);
        home.run(&["answer", &cue, &format!("A{n}")]).expect(0);
        assert!(running.finish().expect(0).stdout.starts_with(&format!("A{n}\n")));
    }
    let log = std::fs::read_to_string(home.path().join("logs/broker.log")).unwrap();
    assert_eq!(log.matches("the broker is ready").count(), 2, "{log}");
}

/// Serves one connection as a broker of version 0.0.1 that knows an agent would: names the question, then retires.
fn serve_as_older_broker(listener: &UnixListener) -> Vec<String> {
    let (stream, _) = listener.accept().unwrap();
    let mut writer = stream.try_clone().unwrap();
    let mut said = Vec::new();
    for line in BufReader::new(stream).split(b'\n') {
        let (id, request) = decode_request(&line.unwrap()).unwrap();
        said.push(request.name().to_owned());
        let reply = match request {
            Request::Hello(_) => Reply::Welcome(Welcome {
                version: "0.0.1".into(),
                protocol: 1,
                pid: 1,
            }),
            Request::Ask(_) => Reply::Asked(Asked {
                cue_id: protocol_spec::id::CueId::from_random(5),
                agent_runtime: "terminal".parse().unwrap(),
                again: false,
            }),
            Request::Retire(_) => return said,
            other => panic!("unexpected {}", other.name()),
        };
        writer.write_all(&encode_reply(id, &reply).unwrap()).unwrap();
    }
    said
}

#[test]
fn an_older_broker_is_asked_to_retire_and_the_newer_one_takes_over() {
    let home = Home::created();
    let socket = home.path().join("broker.sock");
    let listener = UnixListener::bind(&socket).unwrap();
    let asking = home.start_with(&["cue", "bako-nefi", "-"], &envelope("A?", None));
    let said = serve_as_older_broker(&listener);
    assert_eq!(said, ["hello", "ask", "retire"]);
    std::fs::remove_file(&socket).unwrap();
    drop(listener);
    // The stand-in had no database, so its question is unknown to the successor: the agent is told to ask anew.
    let ended = asking.finish().expect(75);
    assert!(ended.stderr.contains("ask it anew"), "{}", ended.stderr);
    let status = home.run(&["broker", "status", "--json"]).expect(0).json();
    assert_eq!(status["version"], protocol_spec::version::PROGRAM);
}

#[test]
fn a_broker_that_hangs_up_on_every_question_is_given_up_after_a_few_attempts() {
    let home = Home::created();
    let listener = UnixListener::bind(home.path().join("broker.sock")).unwrap();
    let connections = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&connections);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            drop(stream);
            counted.fetch_add(1, Ordering::SeqCst);
        }
    });
    let asking = home.start_with(&["cue", "bako-nefi", "-"], &envelope("A?", None));
    eventually("the end of the client", || {
        let connections = connections.load(Ordering::SeqCst);
        assert!(connections < 50, "{connections} connections");
        (!asking.is_running()).then_some(())
    });
    let ended = asking.finish().expect(69);
    assert!(ended.stderr.contains("hint: "), "{}", ended.stderr);
    assert_eq!(ended.stdout, "");
}

#[test]
fn a_waiting_client_does_nothing_and_needs_little() {
    let home = Home::created();
    let agent = home.join_as("terminal");
    let prompt = "x".repeat(4 << 20);
    let (asking, _) = home.ask(&agent, &prompt, None);
    let proc = format!("/proc/{}", asking.pid());
    let Ok(before) = std::fs::read_to_string(format!("{proc}/stat")) else {
        return;
    };
    let ticks = |stat: &str| -> Vec<u64> {
        let rest = stat.rsplit_once(')').unwrap().1;
        rest.split_whitespace()
            .skip(11)
            .take(2)
            .map(|ticks| ticks.parse().unwrap())
            .collect()
    };
    remains(
        "a waiting client leaves the processor alone",
        Duration::from_secs(1),
        || {
            let now = std::fs::read_to_string(format!("{proc}/stat")).unwrap();
            ticks(&now) == ticks(&before)
        },
    );
    let rollup = std::fs::read_to_string(format!("{proc}/smaps_rollup")).unwrap();
    // A debug build relocates about a megabyte of tables when it starts; a release build far less.
    const KIB_MAX: u64 = if cfg!(debug_assertions) { 3072 } else { 1536 };
    let dirty: u64 = rollup
        .lines()
        .filter_map(|line| line.strip_prefix("Private_Dirty:"))
        .map(|rest| rest.trim().trim_end_matches(" kB").parse::<u64>().unwrap())
        .sum();
    assert!(
        dirty < KIB_MAX,
        "a waiting client keeps {dirty} KiB of its own, with a prompt of 4 MiB"
    );
}
