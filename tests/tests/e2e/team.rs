//! Brokers with homes of their own and one database: an agent at the first, a human at the second.

use std::io::{BufRead, BufReader, Write};
use std::sync::{Arc, Mutex};

use cueme_test_kit::free_port;
use cueme_test_kit::nginx::Nginx;
use cueme_test_kit::postgres::Server;
use cueme_test_kit::postgres_proxy::Proxy;
use cueme_tests::phone_fakes::Ntfy;
use cueme_tests::{Client, Home, Http, eventually, within};
use protocol_spec::answer::Answer;
use protocol_spec::message::{GiveAnswer, Reply, Request, Watch};
use rustix::process::Signal;

use crate::gate::Gate;

/// The time for which a broker that died may still count as present.
const LEASE: std::time::Duration = std::time::Duration::from_secs(30);
/// The time after which a token must be known, or no longer be known, at every broker.
const LOCKED_OUT_MAX: std::time::Duration = std::time::Duration::from_secs(4);

/// The agent's machine, the human's machine, and the database between them.
struct Team {
    server: &'static Server,
    url: String,
    agents: Home,
    humans: Home,
}

impl Team {
    fn new() -> Option<Self> {
        let server = Server::start()?;
        let url = server.database();
        let home = || {
            let home = Home::new();
            home.configure(&format!("store = \"{url}\"\n"));
            home.ok(&["inbox"]);
            home
        };
        let (agents, humans) = (home(), home());
        Some(Self {
            server,
            url,
            agents,
            humans,
        })
    }

    /// Asks at the agent's machine; returns who waits and the question, once the human's machine shows it.
    fn ask(&self, prompt: &str, payload: Option<&str>) -> (Client, String) {
        let agent = self.agents.join();
        let client = self.agents.start_cue(&agent, prompt, payload);
        let cue = self.humans.wait_for(prompt, 1);
        (client, cue)
    }
}

#[test]
fn what_is_asked_at_one_broker_is_answered_at_another() {
    let Some(team) = Team::new() else { return };
    let (client, cue) = team.ask("Which port?", None);
    team.humans.ok(&["answer", &cue, "8080"]);
    assert!(client.finish().printed(0).contains("8080"));
    for home in [&team.agents, &team.humans] {
        eventually("acknowledged everywhere", || {
            (home.delivery(&cue) == "acknowledged").then_some(())
        });
        let found = home.ok(&["history", "--search", "port"]);
        assert!(found.contains("Which port?"), "{found}");
    }
    // Nothing of it is in a file of either machine.
    for home in [&team.agents, &team.humans] {
        assert!(!home.database().exists(), "{}", home.database().display());
    }
}

#[test]
fn an_answer_at_another_broker_can_be_taken_back_and_given_again() {
    let Some(team) = Team::new() else { return };
    let (client, cue) = team.ask("Delete the table?", None);
    let mut wire = team.humans.wire();
    let held = wire.call(&Request::Answer(GiveAnswer {
        cue: cue.clone(),
        answer: Answer {
            text: Some("yes".into()),
            ..Answer::default()
        },
        by: None,
        hold_ms: 60_000,
    }));
    assert!(matches!(held, Some(Reply::Decided(_))), "{held:?}");
    team.humans.ok(&["undo", &cue]);
    team.humans.ok(&["answer", &cue, "no"]);
    let run = client.finish();
    let printed = run.printed(0);
    assert!(printed.contains("no") && !printed.contains("yes"), "{printed}");
}

#[test]
fn a_question_is_declined_and_notes_arrive_over_brokers() {
    let Some(team) = Team::new() else { return };
    let agent = team.agents.join();
    team.humans.ok(&["say", &agent, "mind the tests"]);
    let client = team.agents.start_cue(&agent, "May I push?", None);
    let cue = team.humans.wait_for("May I push?", 1);
    team.humans.ok(&["decline", &cue, "not today"]);
    let run = client.finish();
    let told = format!("{}{}", run.stdout, run.stderr);
    assert!(told.contains("not today"), "{told}");
    assert!(told.contains("mind the tests"), "{told}");
}

#[test]
fn a_password_goes_through_and_leaves_no_row_behind() {
    let Some(team) = Team::new() else { return };
    let form = r#"{"type":"form","fields":[{"label":"Key","kind":"password"}]}"#;
    let (client, cue) = team.ask("Which key?", Some(form));
    team.humans.ok(&["answer", &cue, "--field", "Key=hunter2-secret"]);
    assert!(client.finish().printed(0).contains("hunter2-secret"));
    eventually("acknowledged", || {
        (team.humans.delivery(&cue) == "acknowledged").then_some(())
    });
    let sql = "SELECT count(*) FROM decisions WHERE text LIKE '%hunter2%' OR answer LIKE '%hunter2%'";
    assert_eq!(team.server.run(&team.url, sql), "0");
}

#[test]
fn the_agents_broker_is_killed_before_the_answer() {
    let Some(team) = Team::new() else { return };
    let (client, cue) = team.ask("Which port?", None);
    team.agents.kill_broker();
    team.humans.ok(&["answer", &cue, "8080"]);
    assert!(client.finish().printed(0).contains("8080"));
}

#[test]
fn the_humans_broker_is_killed_after_the_answer() {
    let Some(team) = Team::new() else { return };
    let (client, cue) = team.ask("Which port?", None);
    team.humans.ok(&["answer", &cue, "8080"]);
    team.humans.kill_broker();
    assert!(client.finish().printed(0).contains("8080"));
    assert_eq!(team.agents.show(&cue)["text"], "8080");
}

#[test]
fn a_broker_that_died_does_not_wait_for_ever() {
    let Some(team) = Team::new() else { return };
    let (client, cue) = team.ask("Which port?", None);
    // The client dies first, so nobody starts its broker again.
    let broker = team.agents.broker_pid();
    client.signal(Signal::STOP);
    team.agents.kill_brokers(&[broker]);
    client.signal(Signal::KILL);
    let is_alone = within(LEASE, || (team.humans.show(&cue)["waiting"] == 0).then_some(()));
    assert!(is_alone.is_some(), "{}", team.humans.show(&cue));
}

#[test]
fn the_database_restarts_while_somebody_waits() {
    let Some(server) = Server::own(&[]) else { return };
    let url = server.database();
    let (agents, humans) = (Home::new(), Home::new());
    for home in [&agents, &humans] {
        home.configure(&format!("store = \"{url}\"\n"));
        home.ok(&["inbox"]);
    }
    let agent = agents.join();
    let client = agents.start_cue(&agent, "Which port?", None);
    let cue = humans.wait_for("Which port?", 1);
    server.stop("immediate");
    let refused = humans.run(&["answer", &cue, "1"]);
    assert_ne!(refused.code, Some(0), "{}", refused.stdout);
    server.restart();
    eventually("answered once the database is back", || {
        (humans.run(&["answer", &cue, "8080"]).code == Some(0)).then_some(())
    });
    assert!(client.finish().printed(0).contains("8080"));
}

fn port_of(web: &str) -> u16 {
    let port = web.rsplit_once(':').unwrap().1.trim_end_matches('/');
    port.parse().unwrap()
}

/// Waits for a status. A right token is never refused, however often a wrong one was sent.
#[track_caller]
fn comes_to(status: impl Fn() -> u16, wanted: u16) {
    let came = within(LOCKED_OUT_MAX, || (status() == wanted).then_some(()));
    assert!(came.is_some(), "never {wanted}, but {}", status());
}

#[test]
fn who_is_locked_out_at_one_broker_is_out_at_the_other() {
    let Some(team) = Team::new() else { return };
    let token = team.humans.ok(&["token", "--scope", "human"]).trim().to_owned();
    let status = || {
        let bearer = format!("Bearer {token}");
        let http = Http::new(port_of(&team.agents.status().web.unwrap()));
        let headers = [("Host", http.host()), ("Authorization", bearer)];
        let headers = headers.each_ref().map(|(name, value)| (*name, value.as_str()));
        http.send("GET", "/api/v1/state", &headers, b"").status
    };
    comes_to(status, 200);
    let listed = team.humans.json(&["token", "list", "--json"]);
    let id = listed[0]["token_id"].as_str().unwrap().to_owned();
    team.humans.ok(&["token", "revoke", &id]);
    comes_to(status, 401);
}

#[test]
fn a_broker_that_did_not_hear_of_a_revocation_neither_joins_nor_asks_for_the_token() {
    let Some(team) = Team::new() else { return };
    let token = team.agents.ok(&["token"]).trim().to_owned();
    let bearer = format!("Bearer {token}");
    let web = team.agents.status().web.unwrap();
    let post = |path: &str, body: serde_json::Value| {
        let http = Http::new(port_of(&web));
        let host = http.host();
        let headers = [
            ("host", host.as_str()),
            ("authorization", &bearer),
            ("content-type", "application/json"),
        ];
        let path = format!("/api/v1/hap{path}");
        http.send("POST", &path, &headers, body.to_string().as_bytes())
    };
    let call = |words: &[&str]| {
        let mut command = team.agents.command(words);
        command.env("CUEME_URL", &web).env("CUEME_TOKEN", &token);
        Client::start(&mut command, b"").finish()
    };
    let joined = post("/join", serde_json::json!({ "runtime": "cloud" })).ok(201);
    let agent = joined["agent_id"].as_str().unwrap().to_owned();
    let ask = |prompt: &str| {
        let id = uuid::Uuid::now_v7();
        serde_json::json!({ "id": id, "agent_id": agent, "prompt": prompt, "wait_ms": 1 })
    };
    post("/cue", ask("Before?")).ok(202);
    let count = "SELECT (SELECT count(*) FROM agents) || ' ' || (SELECT count(*) FROM cues)";
    assert_eq!(team.server.run(&team.url, count), "1 1");
    // Another broker revokes it, and no notification arrives.
    team.server.run(&team.url, "DELETE FROM tokens");
    post("/cue", ask("After?")).ok(403);
    post("/pause", ask("After?")).ok(403);
    post("/join", serde_json::json!({ "runtime": "cloud" })).ok(403);
    call(&["join", "patient"]).refused(2, &["revoked"]);
    assert_eq!(team.server.run(&team.url, count), "1 1");
}

/// Two brokers behind one address; the second one gets no notification.
struct Replicas {
    gate: Gate,
    first: Home,
    second: Home,
    ports: [u16; 2],
    /// In front of the database of the second one.
    proxy: Proxy,
}

impl Replicas {
    fn new() -> Option<Self> {
        let server = Server::start()?;
        let url = server.database();
        let proxy = Proxy::start(server.port());
        let gate = Gate::start();
        let home = |url: &str| {
            let home = Home::new();
            home.configure(&format!("store = \"{url}\"\n{}", gate.configuration()));
            home.ok(&["inbox"]);
            home
        };
        let (first, second) = (home(&url), home(&proxy.url(&url)));
        let ports = [&first, &second].map(|home| port_of(&home.status().web.unwrap()));
        gate.lead_to(&ports);
        proxy.drop_notifications();
        Some(Self {
            gate,
            first,
            second,
            ports,
            proxy,
        })
    }

    /// Asks the second broker for its state.
    fn status_at_second(&self, header: (&str, &str)) -> u16 {
        let http = Http::new(self.ports[1]);
        let host = http.host();
        http.send("GET", "/api/v1/state", &[("host", &host), header], b"")
            .status
    }
}

#[test]
fn a_new_token_opens_a_broker_that_has_not_heard_of_it_at_once() {
    /// More than the failures that are allowed in a minute.
    const TOKENS: usize = 25;
    let Some(replicas) = Replicas::new() else { return };
    for _ in 0..TOKENS {
        let token = replicas.first.ok(&["token", "--scope", "human"]);
        let bearer = format!("Bearer {}", token.trim());
        assert_eq!(replicas.status_at_second(("authorization", &bearer)), 200);
    }
    // Nobody counts these as wrong tokens; a wrong one still is.
    let token = replicas.first.ok(&["token", "--name", "listed"]);
    let listed = replicas.second.ok(&["token", "list"]);
    assert!(listed.contains("listed"), "{listed}");
    let wrong = format!("Bearer {}x", token.trim());
    assert_eq!(replicas.status_at_second(("authorization", &wrong)), 401);
    replicas.first.ok(&["token", "--name", "revoked"]);
    replicas.second.ok(&["token", "revoke", "revoked"]);
}

#[test]
fn many_wrong_tokens_read_the_shared_store_a_few_times_only() {
    /// The reads of a reload, and the reloads in a second.
    const READS: u32 = 3;
    const RELOADS: u32 = 10;
    let Some(replicas) = Replicas::new() else { return };
    let started = std::time::Instant::now();
    let turns = replicas.proxy.turns();
    std::thread::scope(|scope| {
        for number in 0..20 {
            let replicas = &replicas;
            scope.spawn(move || {
                for round in 0..20 {
                    let bearer = format!("Bearer wrong-{number}-{round}");
                    let status = replicas.status_at_second(("authorization", &bearer));
                    assert!([401, 429].contains(&status), "{status}");
                }
            });
        }
    });
    // Some more are for the lease of the broker.
    let seconds = u32::try_from(started.elapsed().as_secs()).unwrap() + 2;
    let turns = replicas.proxy.turns() - turns;
    assert!(turns <= seconds * (RELOADS * READS + 5), "{turns} in {seconds} s");
    let token = replicas.first.ok(&["token", "--scope", "human"]);
    let bearer = format!("Bearer {}", token.trim());
    assert_eq!(replicas.status_at_second(("authorization", &bearer)), 200);
}

#[test]
fn who_signs_in_at_one_broker_is_signed_in_at_the_other() {
    let Some(replicas) = Replicas::new() else { return };
    let link = replicas.first.ok(&["ui", "--print-url"]);
    let cookie = Http::new(replicas.ports[0]).sign_in(link.trim());
    assert_eq!(replicas.status_at_second(("cookie", &cookie)), 200);
}

#[test]
fn a_machine_is_linked_whichever_broker_takes_the_code_and_whichever_checks_the_token() {
    let Some(replicas) = Replicas::new() else { return };
    for round in 0..20 {
        let home = [&replicas.first, &replicas.second][round % 2];
        let link = home.ok(&["ui", "--print-url"]);
        let (_, code) = link.trim().rsplit_once('/').unwrap();
        let machine = Home::new();
        machine.ok(&["link", &format!("{}/login/{code}", replicas.gate.url())]);
        // The third connection, so that the next code goes to the other broker.
        machine.ok(&["link", "--status"]);
    }
}

#[test]
fn a_machine_whose_link_cannot_be_checked_is_linked_all_the_same() {
    let Some(replicas) = Replicas::new() else { return };
    let link = replicas.first.ok(&["ui", "--print-url"]);
    let (_, code) = link.trim().rsplit_once('/').unwrap();
    let machine = Home::new();
    // It forwards the exchange, and then does not forward the upgrade.
    replicas.gate.answer_after(1, "426 Upgrade Required");
    machine
        .run(&["link", &format!("{}/login/{code}", replicas.gate.url())])
        .refused(2, &["has to forward the headers", "cueme link --status"]);
    replicas.gate.pass();
    machine.ok(&["link", "--status"]);
}

#[test]
fn of_many_who_decide_at_two_brokers_one_wins() {
    let Some(team) = Team::new() else { return };
    let (client, cue) = team.ask("Which port?", None);
    let answers: Vec<String> = (0..8).map(|number| format!("port {number}")).collect();
    let won: Vec<&String> = std::thread::scope(|scope| {
        let deciders: Vec<_> = answers
            .iter()
            .enumerate()
            .map(|(number, answer)| {
                let home = if number % 2 == 0 {
                    &team.agents
                } else {
                    &team.humans
                };
                let cue = &cue;
                scope.spawn(move || (home.run(&["answer", cue, answer]).code == Some(0)).then_some(answer))
            })
            .collect();
        deciders
            .into_iter()
            .filter_map(|decider| decider.join().unwrap())
            .collect()
    });
    let [winner] = won[..] else { panic!("{won:?}") };
    assert!(client.finish().printed(0).contains(winner.as_str()));
}

#[test]
fn a_file_reaches_an_agent_whose_broker_has_another_disk() {
    let Some(team) = Team::new() else { return };
    let (client, cue) = team.ask("How should it look?", None);
    let picture = team.humans.scratch().join("sketch 图.txt");
    let words: String = (0..100_000).map(|number| format!("line {number}\n")).collect();
    std::fs::write(&picture, &words).unwrap();
    // The agent's machine has nothing of the human's disk.
    client.signal(Signal::STOP);
    let path = picture.display().to_string();
    team.humans.ok(&["answer", &cue, "like this", "--attach", &path]);
    std::fs::remove_file(&picture).unwrap();
    let attachments = team.humans.path().join("home/data/attachments");
    let attachments = [attachments, team.humans.path().join("data/attachments")]
        .into_iter()
        .find(|path| path.exists())
        .unwrap();
    std::fs::rename(&attachments, attachments.with_extension("gone")).unwrap();
    client.signal(Signal::CONT);
    let run = client.finish();
    let printed = run.printed(0);
    let line = printed.lines().find(|line| line.contains("sketch")).unwrap();
    let path = line.trim().trim_start_matches("- ");
    assert!(
        path.starts_with(team.agents.path().to_str().unwrap()),
        "{printed}"
    );
    assert_eq!(std::fs::read_to_string(path).unwrap(), words);
}

#[test]
fn a_deleted_file_is_removed_from_the_disk_of_every_broker() {
    let Some(team) = Team::new() else { return };
    let (client, cue) = team.ask("How should it look?", None);
    let words = "a sketch\n".repeat(50_000);
    let picture = team.humans.scratch().join("sketch.txt");
    std::fs::write(&picture, &words).unwrap();
    client.signal(Signal::STOP);
    let path = picture.display().to_string();
    team.humans.ok(&["answer", &cue, "like this", "--attach", &path]);
    // The agent's machine has nothing of the human's disk.
    let uploads = team.humans.database().with_file_name("attachments");
    let away = uploads.with_extension("away");
    std::fs::rename(&uploads, &away).unwrap();
    client.signal(Signal::CONT);
    let run = client.finish();
    std::fs::rename(&away, &uploads).unwrap();
    let copies = team.agents.database().with_file_name("attachments").join(&cue);
    assert!(copies.is_dir(), "{}", run.printed(0));
    let count = |directory: &std::path::Path| std::fs::read_dir(directory).unwrap().count();
    assert_eq!(count(&uploads), 1);
    eventually("acknowledged", || {
        (team.humans.delivery(&cue) == "acknowledged").then_some(())
    });
    team.humans.ok(&["purge", "--older-than", "0s"]);
    // Whichever broker leads forgets the file when it starts, and each sweeps its disk when it does.
    eventually("both disks are empty", || {
        for home in [&team.agents, &team.humans] {
            home.ok(&["broker", "stop"]);
            home.ok(&["inbox"]);
        }
        within(std::time::Duration::from_secs(3), || {
            (count(&uploads) == 0 && !copies.exists()).then_some(())
        })
    });
    assert_eq!(team.server.run(&team.url, "SELECT count(*) FROM blobs"), "0");
}

#[test]
fn the_inbox_is_moved_there_and_back_and_who_waits_notices_nothing() {
    let Some(server) = Server::start() else { return };
    let home = Home::new();
    let agent = home.join();
    let prompts = ["Which port?", "Which host?"];
    let mut waiting = prompts.map(|prompt| home.ask(&agent, prompt, None));
    let url = server.database();
    // The address may hold a password, which others would read in the list of processes.
    let moved = home.run_with(&["store", "move", "-"], &format!("{url}\n"));
    let moved = moved.printed(0).to_owned();
    assert!(moved.contains("moved 2 questions"), "{moved}");
    assert_eq!(home.ok(&["store"]).trim(), url);
    assert!(!home.database().exists());
    for prompt in prompts {
        home.wait_for(prompt, 1);
    }
    let (client, cue) = std::mem::replace(&mut waiting[0], home.ask(&agent, "Which disk?", None));
    home.ok(&["answer", &cue, "8080"]);
    assert!(client.finish().printed(0).contains("8080"));

    let moved = home.ok(&["store", "move", "sqlite"]);
    assert!(moved.contains("moved 3 questions"), "{moved}");
    assert!(home.database().exists());
    for (client, cue) in waiting {
        home.ok(&["answer", &cue, "yes"]);
        assert!(client.finish().printed(0).contains("yes"));
    }
    let found = home.ok(&["history", "--search", "port"]);
    assert!(found.contains("8080"), "{found}");
    // The database has an inbox that is in force nowhere; it is not overwritten by another one.
    home.run(&["store", "move", &url])
        .refused(74, &["holds other questions"]);
}

#[test]
fn a_colleague_is_told_where_the_inbox_was_moved_to() {
    let Some(team) = Team::new() else { return };
    let (client, cue) = team.ask("Which port?", None);
    client.kill();
    for home in [&team.agents, &team.humans] {
        home.ok(&["broker", "stop"]);
    }
    team.humans.ok(&["store", "move", "sqlite"]);
    let file = team.humans.database().display().to_string();
    // The colleague would see an old copy of the same questions.
    team.agents
        .run(&["inbox"])
        .refused(69, &["was moved to the file", &file, "`store`"]);
    team.agents
        .run(&["store", "move", "sqlite"])
        .refused(74, &["was moved to the file", &file]);
    team.humans.ok(&["answer", &cue, "8080"]);
    // Nothing has changed since, in another inbox: the same content is put back into force there.
    let (home, url) = (Home::new(), team.server.database());
    home.join();
    home.ok(&["store", "move", &url]);
    home.ok(&["store", "move", "sqlite"]);
    home.ok(&["broker", "stop"]);
    home.ok(&["store", "move", &url]);
    assert_eq!(home.ok(&["store"]).trim(), url);
    home.ok(&["inbox"]);
}

#[test]
fn a_backup_is_restored_into_a_shared_store() {
    let Some(team) = Team::new() else { return };
    let (client, cue) = team.ask("Which port?", None);
    team.humans.ok(&["answer", &cue, "8080"]);
    client.finish().printed(0);
    let file = team.humans.scratch().join("copy.db").display().to_string();
    team.humans.ok(&["backup", &file]);
    let (client, cue) = team.ask("Asked after the backup?", None);
    team.humans.ok(&["answer", &cue, "yes"]);
    client.finish().printed(0);
    let restored = team.humans.ok(&["restore", &file]);
    assert!(restored.contains("restored 1 question "), "{restored}");
    for home in [&team.humans, &team.agents] {
        eventually("the other broker reads it anew", || {
            let history = home.ok(&["history"]);
            (history.contains("8080") && !history.contains("after the backup")).then_some(())
        });
    }
}

/// Listens to the events of a home's page, as an open page does; returns what it hears.
fn open_page(home: &Home) -> Arc<Mutex<Vec<String>>> {
    let link = home.ok(&["ui", "--print-url"]);
    let (address, _) = link.trim().split_once("/login/").unwrap();
    let http = Http::new(address.rsplit_once(':').unwrap().1.parse().unwrap());
    let cookie = http.sign_in(link.trim().strip_prefix(address).unwrap());
    let mut stream = http.connect();
    let head = format!(
        "GET /api/v1/events HTTP/1.1\r\nhost: {}\r\ncookie: {cookie}\r\n\r\n",
        http.host()
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.set_read_timeout(None).unwrap();
    let heard = Arc::<Mutex<Vec<String>>>::default();
    let writing = Arc::clone(&heard);
    std::thread::spawn(move || {
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            writing.lock().unwrap().push(line);
        }
    });
    hears(&heard, "event: ready");
    heard
}

fn hears(heard: &Mutex<Vec<String>>, wanted: &str) {
    eventually(wanted, || {
        let heard = heard.lock().unwrap();
        heard.iter().any(|line| line.contains(wanted)).then_some(())
    });
}

#[test]
fn open_pages_and_waiting_calls_notice_that_a_shared_store_was_restored() {
    let Some(team) = Team::new() else { return };
    let (_kept, kept_cue) = team.ask("Asked before the backup?", None);
    let file = team.humans.scratch().join("copy.db").display().to_string();
    team.humans.ok(&["backup", &file]);
    for number in 0..3 {
        let (client, cue) = team.ask(&format!("Asked after it, {number}?"), None);
        team.humans.ok(&["answer", &cue, "yes"]);
        client.finish().printed(0);
    }
    let (lost, _) = team.ask("Lost by the restore?", None);
    let token = team.humans.ok(&["token", "--scope", "human"]).trim().to_owned();
    let page = open_page(&team.agents);
    let state = |token: &str| {
        let web = team.agents.status().web.unwrap();
        let port = web
            .trim_end_matches('/')
            .rsplit_once(':')
            .unwrap()
            .1
            .parse()
            .unwrap();
        let (http, bearer) = (Http::new(port), format!("Bearer {token}"));
        let headers = [("host", http.host()), ("authorization", bearer)];
        let headers = headers.each_ref().map(|(name, value)| (*name, value.as_str()));
        http.send("GET", "/api/v1/state", &headers, b"").status
    };
    comes_to(|| state(&token), 200);
    team.humans.ok(&["restore", &file]);
    // The question is not there any more: the call ends, and asks it anew when it is made again.
    lost.finish().refused(75, &["no longer known", "same command"]);
    // The page's own device was restored away with everything else, so its stream ends; one that signs in now goes on.
    comes_to(|| state(&token), 401);
    let page_after = open_page(&team.agents);
    drop(page);
    let (client, cue) = team.ask("Asked of the restored store?", None);
    hears(&page_after, &cue);
    for cue in [&cue, &kept_cue] {
        team.humans.ok(&["answer", cue, "yes"]);
    }
    client.finish().printed(0);
}

#[test]
fn an_open_page_goes_on_where_the_history_became_shorter() {
    let Some(team) = Team::new() else { return };
    let page = open_page(&team.agents);
    for number in 0..3 {
        let (client, cue) = team.ask(&format!("Before, {number}?"), None);
        team.humans.ok(&["answer", &cue, "yes"]);
        client.finish().printed(0);
    }
    // As a standby has it that was promoted without the newest commits.
    team.server.run(
        &team.url,
        "DELETE FROM cues WHERE cue_id IN (SELECT cue_id FROM events WHERE id > 4);
         DELETE FROM events WHERE id > 4; UPDATE head SET event = 4",
    );
    let agent = team.agents.join();
    hears(&page, "event: resync");
    let client = team.agents.start_cue(&agent, "After?", None);
    let cue = team.humans.wait_for("After?", 1);
    hears(&page, &cue);
    team.humans.ok(&["answer", &cue, "yes"]);
    client.finish().printed(0);
}

/// Follows the events of a home's page by a token until a line begins like this; returns that line.
fn read_events(home: &Home, token: &str, last: Option<&str>, wanted: &str) -> Option<String> {
    let http = Http::new(port_of(&home.status().web.unwrap()));
    let mut stream = http.connect();
    let last = last.map(|last| format!("last-event-id: {last}\r\n"));
    let head = format!(
        "GET /api/v1/events HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {token}\r\n{}\r\n",
        http.host(),
        last.unwrap_or_default()
    );
    stream.write_all(head.as_bytes()).unwrap();
    let lines = BufReader::new(stream).lines().map_while(Result::ok);
    let mut lines = lines.take_while(|line| line != "event: ready");
    lines.find(|line| line.starts_with(wanted))
}

#[test]
fn a_page_reads_anew_where_the_history_lost_its_newest_part_and_grew_beyond_its_cursor() {
    let Some(primary) = Server::own(&[]) else { return };
    let url = primary.database();
    let proxy = Proxy::start(primary.port());
    let home = Home::new();
    home.configure(&format!("store = \"{}\"\n", proxy.url(&url)));
    let token = home.ok(&["token", "--scope", "human"]).trim().to_owned();
    home.join();
    let standby = primary.standby();
    standby.stop_following();
    home.join();
    let cursor = read_events(&home, &token, None, "id: ").unwrap();
    let cursor = cursor.strip_prefix("id: ").unwrap();
    assert_eq!(read_events(&home, &token, Some(cursor), "event: resync"), None);
    // The broker restarts, too, and remembers nothing of the part that was lost.
    home.ok(&["broker", "stop"]);
    primary.stop("immediate");
    standby.promote();
    proxy.lead_to(standby.port());
    (0..3).for_each(|_| drop(home.join()));
    assert!(home.log().contains("lost its newest part"), "{}", home.log());
    assert_eq!(
        read_events(&home, &token, Some(cursor), "event: resync").as_deref(),
        Some("event: resync")
    );
    let plain = cursor.split('-').next().unwrap();
    assert_eq!(
        read_events(&home, &token, Some(plain), "event: resync"),
        None,
        "a number alone is taken as it is"
    );
}

#[test]
fn a_watcher_is_told_of_a_replaced_history_although_it_grew_beyond_what_was_sent() {
    let Some(team) = Team::new() else { return };
    team.agents.join();
    let mut wire = team.agents.wire();
    wire.send(&Request::Watch(Watch { after: Some(0) }));
    assert!(matches!(wire.hear(), Some(Reply::Event(_))));
    team.server.run(
        &team.url,
        "UPDATE head SET identity = gen_random_uuid(), event = event + 5;
         INSERT INTO events (id, at, what, agent_id) SELECT id, 0, 0, agent_id FROM generate_series(2, 6) AS id, agents",
    );
    let lagged = eventually("the watcher is told", || match wire.hear() {
        Some(Reply::Lagged(lagged)) => Some(lagged.newest),
        _ => None,
    });
    assert!(lagged >= 6, "{lagged}");
}

#[test]
fn doctor_tells_what_a_shared_store_is_like() {
    let Some(server) = Server::own(&["full_page_writes = off"]) else {
        return;
    };
    let home = Home::new();
    home.configure(&format!("store = \"{}\"\n", server.database()));
    home.ok(&["inbox"]);
    let found = home.ok(&["doctor", "--quick"]);
    for wanted in [
        "database server: PostgreSQL ",
        "durability: fsync=on, full_page_writes=off, synchronous_commit=on",
        "turn full_page_writes on",
        "replication: no standby",
        "notifications: arrive after",
        "uses it",
    ] {
        assert!(found.contains(wanted), "{wanted:?} is not in {found}");
    }
    assert!(!found.contains("database file"), "{found}");
    let standby = server.standby();
    let found = home.ok(&["doctor", "--quick"]);
    assert!(found.contains("1 asynchronous standby"), "{found}");
    drop(standby);
    server.stop("fast");
    let found = home.run(&["doctor", "--quick"]);
    assert!(found.stdout.contains("fail  database server"), "{found:?}");
    assert!(!found.stdout.contains("fail  socket"), "{found:?}");
}

#[test]
fn behind_a_balancer_a_broker_that_is_told_to_end_leaves_its_calls_to_the_other() {
    let Some(server) = Server::start() else { return };
    let url = server.database();
    let ports = [free_port(), free_port()];
    let place = tempfile::tempdir().unwrap();
    let Some(proxy) = Nginx::start(place.path(), &ports) else {
        return;
    };
    let brokers = ports.map(|port| {
        let home = Home::new();
        home.configure(&format!(
            "store = \"{url}\"\nlisten = \"127.0.0.1:{port}\"\n[web]\nurl = \"https://localhost:{}\"\n",
            proxy.port
        ));
        home.ok(&["inbox"]);
        home
    });
    let machine = Home::new();
    let token = brokers[0].ok(&["token"]).trim().to_owned();
    let elsewhere = |words: &[&str]| {
        let mut command = machine.command(words);
        command
            .env("CUEME_URL", format!("https://localhost:{}", proxy.port))
            .env("CUEME_TOKEN", &token)
            .env("SSL_CERT_FILE", &proxy.certificate);
        command
    };
    let ready = |port: u16| {
        let http = Http::new(port);
        http.send("GET", "/readyz", &[("Host", &http.host())], b"").status
    };
    // The token is known at both of them, whichever nginx asks.
    let agent = eventually("joined through nginx", || {
        let joined = Client::start(&mut elsewhere(&["join", "patient"]), b"").finish();
        let id = joined
            .stdout
            .lines()
            .find_map(|line| line.strip_prefix("agent_id="));
        id.map(str::to_owned)
    });
    let client = Client::start(
        &mut elsewhere(&["cue", &agent, "-"]),
        cueme_tests::envelope("Which port?", None).as_bytes(),
    );
    let cue = brokers[1].wait_for("Which port?", 1);
    assert_eq!(ports.map(ready), [200, 200]);
    let ending = brokers[0].broker_pid();
    let ending = rustix::process::Pid::from_raw(i32::try_from(ending).unwrap()).unwrap();
    rustix::process::kill_process(ending, Signal::TERM).unwrap();
    eventually("its probe says so", || (ready(ports[0]) == 503).then_some(()));
    eventually("it has ended", || brokers[0].brokers().is_empty().then_some(()));
    brokers[1].wait_for("Which port?", 1);
    brokers[1].ok(&["answer", &cue, "8080"]);
    assert!(client.finish().printed(0).contains("8080"));
}

#[test]
fn a_move_to_a_server_that_would_lose_answers_changes_nothing() {
    let Some(server) = Server::start() else { return };
    let home = Home::new();
    let agent = home.join();
    let (client, cue) = home.ask(&agent, "Which port?", None);
    let url = server.database();
    let name = url.rsplit('/').next().unwrap();
    server.run(
        &server.url("postgres"),
        &format!("ALTER ROLE cueme IN DATABASE {name} SET synchronous_commit = off"),
    );
    let run = home.run(&["store", "move", &url]);
    run.refused(74, &["synchronous_commit is off", "ALTER ROLE"]);
    assert_eq!(home.ok(&["store"]).trim(), home.database().display().to_string());
    home.wait_for("Which port?", 1);
    home.ok(&["answer", &cue, "8080"]);
    assert!(client.finish().printed(0).contains("8080"));
}

#[test]
fn a_configuration_with_a_password_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let Some(server) = Server::start() else { return };
    let home = Home::new();
    home.configure("reminder = false\n");
    let config = home.path().join("config.toml");
    let mode = || std::fs::metadata(&config).unwrap().permissions().mode() & 0o777;
    std::fs::set_permissions(&config, std::fs::Permissions::from_mode(0o644)).unwrap();
    let url = server.database();
    home.ok(&["store", "move", &url]);
    assert_eq!(mode(), 0o644);
    home.ok(&["store", "move", "sqlite"]);
    let other = server.database().replace("cueme@", "cueme:hunter2@");
    home.ok(&["store", "move", &other]);
    assert_eq!(mode(), 0o600);
}

/// A rule that answers what an agent says of a step.
const RULE: &str = "[[policy]]\nname = \"go on\"\ntext = \"Step .*\"\nanswer = \"Continue.\"\n";

#[test]
fn of_two_brokers_one_notifies_and_one_applies_a_rule_also_after_the_leader_died() {
    const QUESTIONS: usize = 4;
    const STEPS: usize = 3;
    let Some(server) = Server::start() else { return };
    let (url, ntfy) = (server.database(), Ntfy::start());
    let homes = [Home::new(), Home::new()];
    for home in &homes {
        home.configure(&format!("store = \"{url}\"\n{}{RULE}", ntfy.section()));
        home.ok(&["inbox"]);
    }
    let ask = |number: usize, prompt: &str| {
        let home = &homes[number % homes.len()];
        home.start_cue(&home.join(), prompt, None)
    };
    let mut waiting = Vec::new();
    for number in 0..QUESTIONS {
        let prompt = format!("Which port {number}?");
        waiting.push(ask(number, &prompt));
        ntfy.wait_for(&prompt);
    }
    for number in 0..STEPS {
        let run = ask(number, &format!("Step {number} is done. Next?")).finish();
        assert_eq!(run.printed(0).matches("Continue.").count(), 1, "{run:?}");
    }
    let leader = || server.run(&url, "SELECT name FROM leader JOIN brokers USING (broker)");
    let first = leader();
    let pid: u32 = first.rsplit(':').next().unwrap().parse().unwrap();
    let dying = homes.iter().find(|home| home.brokers().contains(&pid)).unwrap();
    dying.kill_brokers(&[pid]);
    eventually("another broker leads", || {
        let now = leader();
        (!now.is_empty() && now != first).then_some(())
    });
    // The new leader has looked at all questions when it notifies of the next one.
    waiting.push(ask(0, "And the host?"));
    ntfy.wait_for("And the host?");
    let run = ask(1, "Step last is done. Next?").finish();
    assert_eq!(run.printed(0).matches("Continue.").count(), 1, "{run:?}");
    eventually("every waiting question is notified of once", || {
        (ntfy.notifications().len() == waiting.len()).then_some(())
    });
    let wanted = format!("{0}|{0}", STEPS + 1);
    assert_eq!(
        server.run(&url, "SELECT count(*), count(DISTINCT cue_id) FROM automatic"),
        wanted
    );
    let by_rule = "SELECT count(*), count(DISTINCT seq) FROM decisions WHERE decided_by = 'policy: go on'";
    assert_eq!(server.run(&url, by_rule), wanted);
}
