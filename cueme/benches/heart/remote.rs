//! A client on a machine without a broker, against one beside it: from the committed answer to its end.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use cueme_test_kit::Wire;
use cueme_test_kit::free_port;
use cueme_test_kit::nginx::Nginx;
use protocol_spec::id::AgentId;

use crate::answer::waiting_cue;
use crate::client::GOAL_KIB;
use crate::home::{CUEME, Home, give_prompt};
use crate::process::{private_kib, ticks};
use crate::rows::PROMPT;
use crate::table::{Goal, Row, median, ratio, show};

/// The time for which a waiting client is watched.
const WATCHED: Duration = Duration::from_secs(20);

pub(crate) fn measure(scale: usize) -> Vec<Row> {
    let directory = tempfile::tempdir().expect("a directory");
    let port = free_port();
    let Some(proxy) = Nginx::start(directory.path(), &[port]) else {
        return Vec::new();
    };
    let https = format!("https://localhost:{}", proxy.port);
    let home = Home::start_with(&format!(
        "listen = \"127.0.0.1:{port}\"\n[web]\nurl = \"{https}\"\n"
    ));
    let token = home.command().arg("token").output().expect("a token").stdout;
    let token = String::from_utf8(token).expect("a token");
    let machine = tempfile::tempdir().expect("a directory");
    let elsewhere = |url: &str| {
        let mut command = Command::new(CUEME);
        command
            .env("CUEME_HOME", machine.path())
            .env("CUEME_URL", url)
            .env("CUEME_TOKEN", token.trim())
            .env("SSL_CERT_FILE", &proxy.certificate);
        command
    };
    let plain = format!("http://127.0.0.1:{port}");
    let joined = elsewhere(&https)
        .args(["join", "terminal"])
        .output()
        .expect("a join");
    let joined = String::from_utf8(joined.stdout).expect("an agent");
    let id = joined.lines().find_map(|line| line.strip_prefix("agent_id="));
    let remote: AgentId = id.expect("an agent").parse().expect("its id");
    let local = home.connect().join("terminal", "/");
    let mut human = home.connect();
    let mut times = [const { Vec::new() }; 3];
    for round in 0..20 * scale {
        let prompt = format!("question {round}");
        let clients: [&dyn Fn() -> Child; 3] = [
            &|| home.start_cue(&local, &prompt),
            &|| start_cue(elsewhere(&plain), &remote, &prompt),
            &|| start_cue(elsewhere(&https), &remote, &prompt),
        ];
        for (start, times) in clients.into_iter().zip(&mut times) {
            times.push(answer_to_exit(&mut human, start()));
        }
    }
    let waiting = waiting_client(|prompt| start_cue(elsewhere(&https), &remote, prompt));
    let [socket, plain, https] = times.map(|mut times| median(&mut times));
    let row = |what: &'static str, ours: Duration, aim| Row {
        id: "P18",
        what: what.into(),
        ours: show(ours),
        floor: show(socket),
        ratio: ratio(ours, socket),
        goal: Goal::Told,
        aim,
    };
    let mut rows = vec![
        row(
            "answer committed → client has exited, over HTTPS through nginx on loopback ÷ over the socket",
            https,
            Goal::AtMost(2.0),
        ),
        row("the same over plain HTTP", plain, Goal::Told),
    ];
    rows.extend(waiting);
    rows
}

/// Measures the memory and the processor time of a client that waits.
fn waiting_client(start: impl Fn(&str) -> Child) -> [Row; 2] {
    // A second client, so that pages of the program's file count as shared, as they are as soon as two agents wait.
    let mut clients = [PROMPT, "another question"].map(&start);
    std::thread::sleep(Duration::from_secs(1));
    let waiting = clients[0].id();
    let private = private_kib(waiting) as f64;
    let ticks_before = ticks(waiting);
    std::thread::sleep(WATCHED);
    let ticks = ticks(waiting) - ticks_before;
    for client in &mut clients {
        client.kill().and_then(|()| client.wait()).expect("its end");
    }
    [
        Row {
            id: "P18",
            what: "private memory of a client that waits over HTTPS, beside another one".into(),
            ours: format!("{:.2} MiB", private / 1024.0),
            floor: format!("{:.1} MiB", GOAL_KIB / 1024.0),
            ratio: private / GOAL_KIB,
            goal: Goal::Told,
            aim: Goal::Told,
        },
        Row {
            id: "P18",
            what: "processor ticks of that client while it waits".into(),
            ours: format!("{ticks} in {} s", WATCHED.as_secs()),
            floor: "0".into(),
            ratio: ticks as f64,
            goal: Goal::Told,
            aim: Goal::AtMost(1.0),
        },
    ]
}

fn start_cue(mut command: Command, agent: &AgentId, prompt: &str) -> Child {
    command.args(["cue", agent.as_str(), "-"]).stdout(Stdio::null());
    give_prompt(&mut command, prompt)
}

fn answer_to_exit(human: &mut Wire, mut client: Child) -> Duration {
    let cue = waiting_cue(human);
    // The client is in its read by now; a moment later it certainly is.
    std::thread::sleep(Duration::from_millis(10));
    human.answer(cue, "yes");
    let committed = Instant::now();
    assert!(client.wait().expect("its end").success());
    committed.elapsed()
}
