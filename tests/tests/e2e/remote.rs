//! Agents and humans on machines without a broker: the same verbs, over a connection that the web side upgrades.

use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use cueme_test_kit::free_port;
use cueme_test_kit::nginx::Nginx;
use cueme_tests::{Client, Home, Http, Run, envelope, eventually};
use rustix::process::Signal;

use crate::gate::Gate;

/// A machine whose calls go to the broker of another home, with a token in the environment.
struct Elsewhere {
    home: Home,
    url: String,
    token: String,
}

impl Elsewhere {
    fn new(broker: &Home, token: &[&str]) -> Self {
        let words: Vec<&str> = ["token"].iter().chain(token).copied().collect();
        let token = broker.ok(&words).trim().to_owned();
        Self {
            home: Home::new(),
            url: url_of(broker),
            token,
        }
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = self.home.command(words);
        command
            .env("CUEME_URL", &self.url)
            .env("CUEME_TOKEN", &self.token);
        command
    }

    #[track_caller]
    fn run(&self, words: &[&str]) -> Run {
        Client::start(&mut self.command(words), b"").finish()
    }

    #[track_caller]
    fn join(&self) -> String {
        agent_in(self.run(&["join", "patient"]).printed(0))
    }

    fn start_cue(&self, agent: &str, prompt: &str, payload: Option<&str>) -> Client {
        let stdin = envelope(prompt, payload);
        Client::start(&mut self.command(&["cue", agent, "-"]), stdin.as_bytes())
    }
}

#[track_caller]
fn agent_in(joined: &str) -> String {
    let id = joined.lines().find_map(|line| line.strip_prefix("agent_id="));
    id.unwrap_or_else(|| panic!("no agent_id in {joined}")).to_owned()
}

/// Returns the address of a home's page, without the sign-in link.
fn url_of(broker: &Home) -> String {
    let link = broker.ok(&["ui", "--print-url"]);
    let (url, _) = link.split_once("/login/").unwrap();
    url.to_owned()
}

fn page_of(broker: &Home) -> Http {
    let web = broker.status().web.unwrap();
    Http::new(
        web.rsplit_once(':')
            .unwrap()
            .1
            .trim_end_matches('/')
            .parse()
            .unwrap(),
    )
}

#[test]
fn the_four_verbs_say_the_same_as_on_the_brokers_machine() {
    let broker = Home::new();
    let machine = Elsewhere::new(&broker, &[]);
    let agent = machine.join();
    let asking = machine.start_cue(
        &agent,
        "哪个数据库?",
        Some(r#"{"type":"choice","options":["SQLite","PostgreSQL"]}"#),
    );
    let cue = broker.wait_for("哪个数据库?", 1);
    broker.ok(&["answer", &cue, "--select", "SQLite"]);
    let here = asking.finish();
    assert!(here.printed(0).starts_with("SQLite\n"), "{here:?}");
    eventually("the acknowledgement", || {
        (broker.delivery(&cue) == "acknowledged").then_some(())
    });

    // The same answer, word for word, as an agent of that machine reads it.
    let local = broker.join();
    let there = broker.ask_and_answer(
        &local,
        "Which?",
        Some(r#"{"type":"choice","options":["SQLite"]}"#),
        &["--select", "SQLite"],
    );
    assert_eq!(here.stdout.replace(&agent, &local), there.stdout);

    let recalled = machine.run(&["recall", "数据库"]);
    assert!(
        recalled.printed(0).contains(&format!("agent_id={agent}")),
        "{recalled:?}"
    );
    let pausing = Client::start(&mut machine.command(&["pause", &agent, "look at the diff"]), b"");
    let pause = broker.wait_for("look at the diff", 1);
    broker.ok(&["answer", &pause, "go on"]);
    assert!(pausing.finish().printed(0).starts_with("go on\n"));
    assert!(
        machine.home.brokers().is_empty(),
        "no broker is started where it is not used"
    );
}

#[test]
fn a_wait_outlives_the_broker_and_is_answered_by_its_successor() {
    let broker = Home::new();
    let machine = Elsewhere::new(&broker, &[]);
    let agent = machine.join();
    let asking = machine.start_cue(&agent, "Still there?", None);
    let cue = broker.wait_for("Still there?", 1);
    broker.kill_broker();
    assert!(asking.is_running());
    // The page keeps its port, so the address stays the same.
    broker.ok(&["inbox"]);
    broker.wait_for("Still there?", 1);
    broker.ok(&["answer", &cue, "yes"]);
    assert!(asking.finish().printed(0).starts_with("yes\n"));
    eventually("the acknowledgement", || {
        (broker.delivery(&cue) == "acknowledged").then_some(())
    });
}

#[test]
fn a_killed_client_attaches_again_by_the_same_call_and_a_signal_leaves_the_question_open() {
    let broker = Home::new();
    let machine = Elsewhere::new(&broker, &[]);
    let agent = machine.join();
    let asking = machine.start_cue(&agent, "Again?", None);
    let cue = broker.wait_for("Again?", 1);
    asking.kill();
    broker.wait_for("Again?", 0);
    let asking = machine.start_cue(&agent, "Again?", None);
    assert_eq!(broker.wait_for("Again?", 1), cue);
    asking.signal(Signal::INT);
    assert!(asking.finish().stderr.contains("stays open"));
    let mut command = machine.command(&["cue", &agent, "-"]);
    let resting = Client::start(
        command.env("CUEME_WAIT", "1s"),
        envelope("Again?", None).as_bytes(),
    );
    assert!(resting.finish().printed(75).contains("same command"));
    broker.ok(&["answer", &cue, "now"]);
    let asking = machine.start_cue(&agent, "Again?", None);
    assert!(asking.finish().printed(0).contains("now\n"));
}

#[test]
fn an_agents_token_acts_for_its_own_agents_and_does_nothing_of_a_human() {
    let broker = Home::new();
    let mine = Elsewhere::new(&broker, &[]);
    let other = Elsewhere::new(&broker, &[]);
    let agent = mine.join();
    let asking = mine.start_cue(&agent, "Mine?", None);
    let cue = broker.wait_for("Mine?", 1);
    let foreign = other.start_cue(&agent, "Yours?", None).finish();
    foreign.refused(3, &["no such agent"]);
    other.run(&["recall", "Mine"]).refused(1, &["no agent matches"]);
    for words in [
        vec!["inbox"],
        vec!["answer", &cue, "yes"],
        vec!["say", &agent, "hello"],
        vec!["history"],
        vec!["agents"],
        vec!["token"],
        vec!["ui", "--print-url"],
        vec!["backup", "copy.db"],
        vec!["purge", "--older-than", "1d"],
    ] {
        mine.run(&words)
            .refused(2, &["does not accept this token for a human's calls"]);
    }
    let bound = broker.ok(&["token", "--agent", &agent]);
    let bound = Elsewhere {
        token: bound.trim().to_owned(),
        ..Elsewhere::new(&broker, &[])
    };
    bound
        .run(&["join", "patient"])
        .refused(2, &["cannot join another"]);
    broker.ok(&["answer", &cue, "yes"]);
    assert!(asking.finish().printed(0).starts_with("yes\n"));
}

#[test]
fn a_human_elsewhere_answers_under_the_name_of_the_token() {
    let broker = Home::new();
    let agent = broker.join();
    let machine = Elsewhere::new(&broker, &["--scope", "human", "--name", "devbox"]);
    let (asking, cue) = broker.ask(&agent, "Who?", None);
    let listed = machine.run(&["inbox", "--json"]);
    assert!(listed.printed(0).contains(&cue), "{listed:?}");
    machine.run(&["answer", &cue, "me"]).printed(0);
    assert!(asking.finish().printed(0).starts_with("me\n"));
    assert_eq!(broker.show(&cue)["by"], "devbox");
    machine.run(&["broker", "status"]).printed(1);
    machine
        .run(&["backup", "copy.db"])
        .refused(2, &["the token of a human does not allow"]);
    machine
        .run(&["join", "patient"])
        .refused(2, &["does not accept this token for agents' calls"]);
    machine
        .run(&["answer", &cue, "x", "--attach", "/etc/hostname"])
        .refused(2, &["attach them on the page"]);
}

#[test]
fn a_revoked_token_is_out_at_once_even_while_it_waits() {
    let broker = Home::new();
    let machine = Elsewhere::new(&broker, &[]);
    let agent = machine.join();
    let asking = machine.start_cue(&agent, "Secret?", None);
    let cue = broker.wait_for("Secret?", 1);
    let tokens = broker.json(&["token", "list", "--json"]);
    let token = tokens[0]["token_id"].as_str().unwrap();
    assert!(broker.ok(&["token", "list"]).contains(token));
    broker
        .run(&["token", "revoke", "nobody"])
        .refused(1, &["cueme token list"]);
    broker.ok(&["token", "revoke", &token[..8]]);
    broker.ok(&["answer", &cue, "for nobody"]);
    let ended = asking.finish();
    ended.refused(2, &["does not know this token"]);
    assert!(!ended.stdout.contains("for nobody"));
    assert_ne!(broker.delivery(&cue), "acknowledged");
}

#[test]
fn a_link_is_made_by_a_code_that_works_once() {
    let broker = Home::new();
    broker.join();
    let machine = Home::new();
    let link = broker.ok(&["ui", "--print-url"]).trim().to_owned();
    let linked = machine.run(&["link", &link, "--human", "--name", "devbox"]);
    assert!(
        linked.printed(0).contains("linked to http://127.0.0.1:"),
        "{linked:?}"
    );
    machine.run(&["link", &link]).refused(2, &["used or is too old"]);
    let file = machine.path().join("link.json");
    let kept = std::fs::read_to_string(&file).unwrap();
    assert_eq!(
        std::fs::metadata(&file).unwrap().permissions().mode() & 0o777,
        0o600
    );
    let kept: serde_json::Value = serde_json::from_str(&kept).unwrap();
    for token in ["agent_token", "human_token"] {
        let token = kept[token].as_str().unwrap();
        assert!(token.len() > 20 && !linked.stdout.contains(token) && !linked.stderr.contains(token));
    }
    let agent = machine.join();
    let (asking, cue) = {
        let client = machine.start_cue(&agent, "Linked?", None);
        (client, broker.wait_for("Linked?", 1))
    };
    machine.ok(&["answer", &cue, "yes"]);
    assert!(asking.finish().printed(0).starts_with("yes\n"));
    assert!(machine.ok(&["link", "--status"]).contains("agents and human"));
    machine.ok(&["link", "--remove"]);
    machine.run(&["link", "--status"]).printed(1);
    assert!(!file.exists());
}

#[test]
fn a_link_file_that_somebody_else_owns_is_not_followed() {
    if !crate::door::is_root() {
        return cueme_tests::not_run("only root can give a file away");
    }
    let machine = Home::new();
    std::fs::create_dir_all(machine.path()).unwrap();
    let file = machine.path().join("link.json");
    std::fs::write(&file, r#"{"url":"http://127.0.0.1:9/","agent_token":"stolen"}"#).unwrap();
    std::os::unix::fs::chown(&file, Some(crate::door::NOBODY), None).unwrap();
    let refused = machine.run(&["join", "patient"]);
    assert_ne!(refused.code, Some(0), "{refused:?}");
    assert!(refused.stderr.contains("link.json"), "{refused:?}");
}

#[test]
fn a_wrong_address_or_token_is_named_with_its_remedy() {
    let broker = Home::new();
    let machine = Elsewhere::new(&broker, &[]);
    let with = |url: &str, token: Option<&str>| {
        let mut command = machine.home.command(&["join", "patient"]);
        command.env("CUEME_URL", url);
        token.map(|token| command.env("CUEME_TOKEN", token));
        Client::start(&mut command, b"").finish()
    };
    with("http://inbox.example", Some("t")).refused(2, &["use https"]);
    with(&machine.url, None).refused(2, &["CUEME_TOKEN is not"]);
    with(&machine.url, Some("wrong")).refused(2, &["does not know this token", "cueme link"]);
    with(&machine.url, Some("two words")).refused(2, &["CUEME_TOKEN is not a token"]);
    with("http://127.0.0.1:9", Some("t")).refused(69, &["could not reach the broker"]);
    assert!(
        with(&machine.url, Some("wrong-secret"))
            .stderr
            .lines()
            .all(|line| !line.contains("wrong-secret"))
    );
}

#[test]
fn probes_tell_health_and_readiness_without_a_token() {
    let broker = Home::new();
    broker.join();
    let server = page_of(&broker);
    for (path, text) in [("/healthz", "ok\n"), ("/readyz", "ready\n")] {
        let answer = server.send("GET", path, &[("host", "10.0.0.7:8080")], b"");
        assert_eq!((answer.status, answer.text().as_str()), (200, text));
    }
    assert_eq!(
        server
            .send("GET", "/api/v1/connect", &[("host", &server.host())], b"")
            .status,
        401
    );
}

#[test]
fn https_through_nginx_is_the_same_and_a_certificate_of_nobody_is_refused() {
    let broker = Home::new();
    let port = free_port();
    // It gives its directory to the user of its workers.
    let directory = broker.scratch().join("nginx");
    std::fs::create_dir(&directory).unwrap();
    let Some(proxy) = Nginx::start(&directory, &[port]) else {
        return;
    };
    broker.configure(&format!(
        "listen = \"127.0.0.1:{port}\"\n[web]\nurl = \"https://localhost:{}\"\n",
        proxy.port
    ));
    let token = broker.ok(&["token"]).trim().to_owned();
    let machine = Elsewhere {
        home: Home::new(),
        url: format!("https://localhost:{}", proxy.port),
        token,
    };
    machine.run(&["join", "patient"]).refused(69, &["certificate"]);
    let trusting = |words: &[&str]| {
        let mut command = machine.command(words);
        command.env("SSL_CERT_FILE", &proxy.certificate);
        command
    };
    let joined = Client::start(&mut trusting(&["join", "patient"]), b"").finish();
    let agent = agent_in(joined.printed(0));
    let long = "数".repeat(200_000);
    let asking = Client::start(
        &mut trusting(&["cue", &agent, "-"]),
        envelope(&long, None).as_bytes(),
    );
    let cue = broker.wait_for(&long, 1);
    let answer = "据".repeat(200_000);
    broker
        .run_with(&["answer", &cue, "-"], answer.as_bytes())
        .printed(0);
    assert!(asking.finish().printed(0).starts_with(&answer));
    eventually("the acknowledgement", || {
        (broker.delivery(&cue) == "acknowledged").then_some(())
    });
}

/// A broker behind a proxy, and a machine that calls it through there.
fn behind_a_gate() -> (Gate, Home, Elsewhere) {
    let gate = Gate::start();
    let broker = Home::new();
    broker.configure(&gate.configuration());
    let port = url_of(&broker).rsplit_once(':').unwrap().1.parse().unwrap();
    gate.lead_to(&[port]);
    let machine = Elsewhere {
        url: gate.url(),
        ..Elsewhere::new(&broker, &[])
    };
    (gate, broker, machine)
}

#[test]
fn a_wait_goes_on_while_a_proxy_answers_for_a_broker_that_is_replaced() {
    let (gate, broker, machine) = behind_a_gate();
    let agent = machine.join();
    let asking = machine.start_cue(&agent, "Still there?", None);
    let cue = broker.wait_for("Still there?", 1);
    let refusals = [
        "404 Not Found",
        "426 Upgrade Required",
        "429 Too Many Requests",
        "502 Bad Gateway",
        "503 Service Unavailable",
    ];
    for refusal in refusals {
        let before = gate.answered();
        gate.answer(refusal, u32::MAX);
        gate.cut();
        eventually(refusal, || (gate.answered() >= before + 2).then_some(()));
        assert!(asking.is_running(), "{refusal}");
        gate.pass();
        broker.wait_for("Still there?", 1);
    }
    broker.ok(&["answer", &cue, "yes"]);
    assert!(asking.finish().printed(0).starts_with("yes\n"));

    let asking = machine.start_cue(&agent, "And with this token?", None);
    broker.wait_for("And with this token?", 1);
    gate.answer("401 Unauthorized", u32::MAX);
    gate.cut();
    asking.finish().refused(2, &["does not know this token"]);
}

#[test]
fn a_first_call_waits_some_seconds_for_a_broker_behind_a_proxy_and_no_longer() {
    let (gate, broker, machine) = behind_a_gate();
    gate.answer("502 Bad Gateway", 3);
    let agent = machine.join();
    gate.answer("503 Service Unavailable", 3);
    let asking = machine.start_cue(&agent, "Which port?", None);
    let cue = broker.wait_for("Which port?", 1);
    broker.ok(&["answer", &cue, "8080"]);
    assert!(asking.finish().printed(0).starts_with("8080\n"));

    gate.answer("504 Gateway Timeout", u32::MAX);
    let before = gate.answered();
    machine
        .start_cue(&agent, "Nobody?", None)
        .finish()
        .refused(69, &["HTTP 504", "in a moment"]);
    assert!(gate.answered() > before + 3);
    machine.run(&["join", "patient"]).refused(69, &["HTTP 504"]);
    // These may be for good, and are not repeated at the first call.
    for (refusal, exit, said) in [
        ("404 Not Found", 2, "there is no cueme broker at"),
        ("426 Upgrade Required", 2, "has to forward the headers"),
        ("401 Unauthorized", 2, "does not know this token"),
        ("403 Forbidden", 2, "does not accept this token"),
        ("429 Too Many Requests", 75, "in a minute"),
    ] {
        gate.answer(refusal, u32::MAX);
        let before = gate.answered();
        machine
            .start_cue(&agent, "Nobody?", None)
            .finish()
            .refused(exit, &[said]);
        assert_eq!(gate.answered(), before + 1, "{refusal}");
    }
}

#[test]
fn a_code_is_sent_to_the_address_that_was_given_and_nowhere_else() {
    let (gate, broker, machine) = behind_a_gate();
    let link = broker.ok(&["ui", "--print-url"]);
    let (_, code) = link.trim().rsplit_once('/').unwrap();
    let elsewhere = Gate::start();
    elsewhere.answer("200 OK", u32::MAX);
    let link = |command: &mut Command| Client::start(command, b"").finish();
    let through_gate = format!("{}/login/{code}", gate.url());

    // A proxy would read the code.
    let mut command = machine.home.command(&["link", &through_gate]);
    for variable in ["http_proxy", "HTTP_PROXY", "ALL_PROXY"] {
        command.env(variable, elsewhere.url());
    }
    command.env_remove("NO_PROXY").env_remove("no_proxy");
    link(&mut command).printed(0);
    assert_eq!(elsewhere.answered(), 0);

    let target = format!("308 Permanent Redirect\r\nlocation: {}/", elsewhere.url());
    gate.answer(&target, u32::MAX);
    let refused = link(&mut machine.home.command(&["link", &through_gate]));
    refused.refused(2, &["redirects"]);
    assert_eq!(elsewhere.answered(), 0);
    for secret in [code, "hunter2"] {
        let address = format!("http://me:hunter2@inbox.example/login/{code}");
        let refused = machine.home.run(&["link", &address]);
        assert!(!refused.stderr.contains(secret), "{refused:?}");
        refused.refused(2, &["inbox.example"]);
    }
}

#[test]
fn a_link_file_that_others_can_read_is_refused_with_its_remedy() {
    let broker = Home::new();
    broker.join();
    let machine = Home::new();
    let link = broker.ok(&["ui", "--print-url"]).trim().to_owned();
    machine.ok(&["link", &link]);
    let file = machine.path().join("link.json");
    let set = |mode| std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
    for mode in [0o644, 0o640, 0o620] {
        set(mode);
        machine
            .run(&["join", "patient"])
            .refused(69, &["link.json", "chmod 600", "cueme token revoke"]);
    }
    set(0o600);
    machine.join();
    // A wrong mode does not keep anybody from removing the link.
    set(0o644);
    machine.ok(&["link", "--remove"]);
}
