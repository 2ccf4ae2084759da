//! The broker's life: started by the first process that needs it, alone, replaceable, and gone without a trace when
//! stopped.

use std::os::unix::net::UnixListener;
use std::time::Duration;

use cueme_tests::{Client, Home, Signal, eventually, is_alive, remains, send_signal};
use protocol_spec::message::{Nothing, Reply, Request, Retire};

#[test]
fn forty_clients_at_once_start_exactly_one_broker() {
    const CLIENTS: usize = 40;
    let home = Home::new();
    let clients: Vec<Client> = (0..CLIENTS)
        .map(|_| Client::start(&mut home.command(&["join", "cursor"]), b""))
        .collect();
    let mut agents: Vec<String> = clients
        .into_iter()
        .map(|client| client.finish().printed(0).lines().next().unwrap().to_owned())
        .collect();
    agents.sort();
    agents.dedup();
    assert_eq!(agents.len(), CLIENTS, "every agent has an id of its own");
    assert_eq!(home.brokers(), [home.broker_pid()]);
    let log = home.log();
    assert_eq!(log.matches("the broker is ready").count(), 1, "{log}");
    assert_eq!(home.status().agents as usize, CLIENTS);
}

#[test]
fn many_waiting_clients_that_lose_their_broker_start_exactly_one_other() {
    let home = Home::new();
    let agent = home.join();
    let clients: Vec<Client> = (0..12)
        .map(|number| home.start_cue(&agent, &format!("Question {number}?"), None))
        .collect();
    eventually("twelve wait", || (home.status().waiting == 12).then_some(()));
    home.kill_broker();
    eventually("twelve wait again", || {
        (home.open_cues().iter().filter(|cue| cue.waiting == 1).count() == 12).then_some(())
    });
    assert_eq!(home.brokers(), [home.broker_pid()]);
    assert_eq!(home.log().matches("the broker is ready").count(), 2);
    for cue in home.open_cues() {
        home.ok(&["answer", cue.cue_id.as_str(), &format!("to {}", cue.prompt)]);
    }
    for (number, client) in clients.into_iter().enumerate() {
        let run = client.finish();
        assert!(
            run.printed(0).starts_with(&format!("to Question {number}?\n")),
            "{run:?}"
        );
    }
}

#[test]
fn a_stale_socket_is_taken_over() {
    let home = Home::new();
    std::fs::create_dir_all(home.path()).unwrap();
    drop(UnixListener::bind(home.socket()).unwrap());
    assert!(home.socket().exists(), "nobody listens on it");
    home.join();
    home.kill_broker();
    assert!(home.socket().exists(), "a killed broker leaves its socket");
    home.join();
    assert_eq!(home.brokers().len(), 1);
}

#[test]
fn a_second_broker_on_the_same_home_is_refused() {
    let home = Home::new();
    home.join();
    let first = home.broker_pid();
    home.run(&["broker", "run"])
        .refused(69, &["another broker is running", "cueme broker stop"]);
    assert_eq!(home.broker_pid(), first);
}

#[test]
fn status_and_stop_never_start_a_broker() {
    let home = Home::new();
    let run = home.run(&["broker", "status", "--json"]);
    assert_eq!(run.printed(1), "{\"running\":false}\n");
    home.run(&["broker", "status"]).printed(1);
    home.run(&["broker", "stop"]).printed(1);
    assert!(!home.socket().exists() && home.brokers().is_empty());
    let agent = home.join();
    let _waiting = home.ask(&agent, "Which port?", None);
    let status = home.json(&["broker", "status", "--json"]);
    assert_eq!(status["running"], true);
    assert_eq!(status["pid"], home.broker_pid());
    assert_eq!(status["socket"], home.socket().to_str().unwrap());
    assert_eq!(status["database"], home.database().to_str().unwrap());
    assert_eq!(status["open_cues"], 1);
    assert_eq!(status["waiting"], 1);
    assert!(status["version"].is_string());
}

#[test]
fn waiting_clients_outlast_a_restart_and_a_stop() {
    let home = Home::new();
    let agent = home.join();
    let (client, cue) = home.ask(&agent, "Which port?", None);
    let mut pids = vec![home.broker_pid()];
    for verb in ["restart", "stop"] {
        home.ok(&["broker", verb]);
        assert_eq!(home.wait_for("Which port?", 1), cue, "after {verb}");
        pids.push(home.broker_pid());
    }
    pids.dedup();
    assert_eq!(pids.len(), 3, "each time another process");
    home.ok(&["answer", &cue, "8080"]);
    let run = client.finish();
    assert!(run.printed(0).starts_with("8080\n"), "{run:?}");
    assert_eq!(run.stderr, "");
    home.ok(&["broker", "stop"]);
    assert!(!home.socket().exists(), "an orderly stop leaves no socket");
    eventually("no broker is left", || home.brokers().is_empty().then_some(()));
}

#[test]
fn a_broker_that_is_asked_to_end_by_a_signal_leaves_things_in_order() {
    let home = Home::new();
    home.join();
    for signal in [Signal::TERM, Signal::INT] {
        let broker = home.broker_pid();
        send_signal(broker, signal);
        eventually("its end", || (!is_alive(broker)).then_some(()));
        assert!(!home.socket().exists());
        home.ok(&["agents"]);
    }
}

#[test]
fn a_broker_outlives_the_terminal_of_whoever_started_it() {
    let home = Home::new();
    let script = "\"$CUEME_BIN\" join cursor; kill -HUP $$";
    let mut shell = home.command_of("/bin/sh".as_ref(), &["-c", script]);
    Client::start(&mut shell, b"").finish();
    let broker = home.broker_pid();
    let stat = std::fs::read_to_string(format!("/proc/{broker}/stat")).unwrap();
    let session: u32 = stat
        .rsplit_once(") ")
        .and_then(|(_, rest)| rest.split_whitespace().nth(3)?.parse().ok())
        .unwrap();
    assert_eq!(session, broker, "it leads a session of its own");
}

fn retire(home: &Home, version: &str, executable: &std::path::Path) -> Option<Reply> {
    home.wire().call(&Request::Retire(Retire {
        version: version.to_owned(),
        executable: executable.display().to_string(),
    }))
}

#[test]
fn an_upgrade_replaces_the_broker_and_nobody_notices() {
    let home = Home::new();
    let agent = home.join();
    let (one, first) = home.ask(&agent, "Which port?", None);
    let (other, second) = home.ask(&agent, "Which host?", None);
    let newer = home.copy_of_binary("cueme-newer");
    let before = home.broker_pid();
    assert!(matches!(
        retire(&home, "999.0.0", &newer),
        Some(Reply::Stopping(_))
    ));
    assert_eq!(home.wait_for("Which port?", 1), first);
    assert_eq!(home.wait_for("Which host?", 1), second);
    let status = home.status();
    assert_ne!(status.pid, before);
    assert_eq!(
        status.executable,
        newer.display().to_string(),
        "older clients start the newer program"
    );
    assert_eq!(home.brokers().len(), 1);
    home.ok(&["answer", &first, "8080"]);
    home.ok(&["answer", &second, "localhost"]);
    for (client, text) in [(one, "8080\n"), (other, "localhost\n")] {
        let run = client.finish();
        assert!(run.printed(0).starts_with(text), "{run:?}");
        assert_eq!(run.stderr, "");
    }
}

#[test]
fn a_broker_does_not_retire_for_one_that_is_not_newer() {
    let home = Home::new();
    home.join();
    let broker = home.broker_pid();
    for version in ["0.0.1", protocol_spec::version::PROGRAM, "not a version"] {
        assert!(
            matches!(retire(&home, version, home.binary()), Some(Reply::Error(_))),
            "{version}"
        );
    }
    assert_eq!(home.broker_pid(), broker);
}

#[test]
fn an_older_client_starts_the_newer_program_recorded_beside_the_database() {
    let home = Home::new();
    home.join();
    let newer = home.copy_of_binary("cueme-newer");
    retire(&home, "999.0.0", &newer);
    eventually("the old broker is gone", || {
        (home.brokers().is_empty() && !home.socket().exists()).then_some(())
    });
    home.ok(&["agents"]);
    assert_eq!(home.status().executable, newer.display().to_string());
}

/// Pretends to be an older broker in front of a real one: says an old version, and leaves when asked to retire.
mod older {
    use std::io::{BufRead, BufReader, Write};
    use std::os::unix::net::{UnixListener, UnixStream};
    use std::path::{Path, PathBuf};

    /// Listens where the real broker did, which is reached under `real`.
    pub(super) fn stand_in_front(
        socket: &Path,
        real: PathBuf,
        leave: impl Fn() + Send + Sync + Clone + 'static,
    ) {
        let listener = UnixListener::bind(socket).unwrap();
        std::thread::spawn(move || {
            while let Ok((client, _)) = listener.accept() {
                let Ok(server) = UnixStream::connect(&real) else {
                    return;
                };
                let leave = leave.clone();
                let (from, to) = (server.try_clone().unwrap(), client.try_clone().unwrap());
                std::thread::spawn(move || age(&from, to));
                std::thread::spawn(move || guard(client, server, &leave));
            }
        });
    }

    /// Passes replies on, with the greeting of an old version.
    fn age(from: &UnixStream, mut to: UnixStream) {
        let ours = format!("\"version\":\"{}\"", protocol_spec::version::PROGRAM);
        for line in BufReader::new(from).lines().map_while(Result::ok) {
            let line = line.replace(&ours, "\"version\":\"0.0.1\"");
            if to.write_all(format!("{line}\n").as_bytes()).is_err() {
                return;
            }
        }
        let _ = to.shutdown(std::net::Shutdown::Both);
    }

    /// Passes requests on, but for the one to retire.
    fn guard(client: UnixStream, mut server: UnixStream, leave: &impl Fn()) {
        for line in BufReader::new(client).lines().map_while(Result::ok) {
            if line.contains("\"op\":\"retire\"") {
                leave();
                return;
            }
            if server.write_all(format!("{line}\n").as_bytes()).is_err() {
                return;
            }
        }
        let _ = server.shutdown(std::net::Shutdown::Both);
    }
}

#[test]
fn a_newer_client_replaces_an_older_broker_and_goes_on_waiting() {
    let home = Home::new();
    let agent = home.join();
    let real = home.scratch().join("real.sock");
    std::fs::rename(home.socket(), &real).unwrap();
    let (broker, socket) = (
        {
            let mut wire = cueme_tests::Wire::connect(&real).unwrap();
            let Some(Reply::Status(status)) = wire.call(&Request::Status(Nothing {})) else {
                panic!("no status")
            };
            status.pid
        },
        home.socket(),
    );
    older::stand_in_front(&socket.clone(), real, move || {
        let _ = std::fs::remove_file(&socket);
        send_signal(broker, Signal::TERM);
    });
    let client = home.start_cue(&agent, "Which port?", None);
    eventually("the older broker is gone", || (!is_alive(broker)).then_some(()));
    let cue = home.wait_for("Which port?", 1);
    assert_ne!(home.broker_pid(), broker);
    home.ok(&["answer", &cue, "8080"]);
    let run = client.finish();
    assert!(run.printed(0).starts_with("8080\n"), "{run:?}");
    assert_eq!(home.json(&["history", "--json"]).as_array().unwrap().len(), 1);
}

#[test]
fn a_changed_configuration_is_in_force_at_once_and_a_broken_one_is_not() {
    let home = Home::new();
    let agent = home.join();
    let reminder_is = |expected: &str| {
        eventually(&format!("the reminder is {expected:?}"), || {
            let run = home.ask_and_answer(&agent, "Well?", None, &["yes"]);
            (run.printed(0) == format!("yes\n{expected}")).then_some(())
        });
    };
    home.configure("reminder = \"Ask again, please.\"\n");
    reminder_is("\nAsk again, please.\n");
    home.configure("reminder = 'unclosed\nwait = 5\n");
    let broken = eventually("the broken configuration is reported", || {
        home.status().config_error
    });
    assert!(broken.contains("config.toml"), "{broken}");
    reminder_is("\nAsk again, please.\n");
    let status = home.ok(&["broker", "status"]);
    assert!(status.contains("configuration: "), "{status}");
    let doctor = home.run(&["doctor", "--quick"]);
    assert!(
        doctor.printed(1).contains("fail  configuration: "),
        "{}",
        doctor.stdout
    );
    assert!(home.log().contains("the last good one stays in force"));
    home.configure("remindre = \"typo\"\n");
    eventually("the unknown key is reported", || {
        home.status()
            .config_error
            .filter(|error| error.contains("remindre"))
    });
    home.configure("reminder = false\n");
    reminder_is("");
    assert_eq!(home.status().config_error, None);
}

#[test]
fn a_broker_without_a_configuration_notices_one_that_is_written_later() {
    let home = Home::new();
    let agent = home.join();
    home.configure("reminder = false\n");
    eventually("the reminder is off", || {
        (home.ask_and_answer(&agent, "Well?", None, &["yes"]).stdout == "yes\n").then_some(())
    });
}

#[test]
fn an_idle_broker_leaves_and_one_that_is_waited_for_stays() {
    let home = Home::new();
    home.configure("idle_exit = \"300ms\"\n");
    let agent = home.join();
    let (client, cue) = home.ask(&agent, "Which port?", None);
    let broker = home.brokers();
    // Twice the limit, in which nobody but the waiting client is connected.
    remains("the broker", Duration::from_millis(700), || {
        home.brokers() == broker
    });
    home.ok(&["answer", &cue, "8080"]);
    client.finish().printed(0);
    eventually("the idle broker leaves", || {
        (home.brokers().is_empty() && !home.socket().exists()).then_some(())
    });
    assert!(
        home.ok(&["agents"]).contains(&agent),
        "and comes back when needed"
    );
}

#[test]
fn a_home_too_deep_for_a_socket_works_too() {
    let home = Home::new();
    let deep = home.scratch().join("d".repeat(100)).join("e".repeat(60));
    let run = {
        let mut command = home.command(&["join", "cursor"]);
        command.env("CUEME_HOME", &deep);
        Client::start(&mut command, b"").finish()
    };
    run.printed(0);
    let mut status = home.command(&["broker", "status", "--json"]);
    status.env("CUEME_HOME", &deep);
    let run = Client::start(&mut status, b"").finish();
    let status: serde_json::Value = serde_json::from_str(run.printed(0)).unwrap();
    let socket = std::path::PathBuf::from(status["socket"].as_str().unwrap());
    assert!(socket.as_os_str().len() <= 103, "{}", socket.display());
    let mut stop = home.command(&["broker", "stop"]);
    stop.env("CUEME_HOME", &deep);
    Client::start(&mut stop, b"").finish().printed(0);
    std::fs::remove_dir_all(socket.parent().unwrap()).unwrap();
}

#[test]
fn a_home_that_is_not_absolute_or_cannot_be_made_says_what_to_do() {
    let home = Home::new();
    let mut command = home.command(&["join", "cursor"]);
    command.env("CUEME_HOME", "relative/path");
    Client::start(&mut command, b"")
        .finish()
        .refused(69, &["CUEME_HOME", "absolute"]);
    let mut command = home.command(&["join", "cursor"]);
    command.env("CUEME_HOME", "/proc/nowhere/cueme");
    Client::start(&mut command, b"")
        .finish()
        .refused(69, &["/proc/nowhere/cueme", "CUEME_HOME"]);
    let file = home.scratch().join("file");
    std::fs::write(&file, "").unwrap();
    let mut command = home.command(&["join", "cursor"]);
    command.env("CUEME_HOME", &file);
    Client::start(&mut command, b"")
        .finish()
        .refused(69, &["error: "]);
}
