//! `cueme mcp` spoken to line by line, with the real broker and a human who answers.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};

use cueme_tests::{Home, PATIENCE, eventually, remains};

/// A client that speaks JSON-RPC over the server's stdin and stdout.
struct Client {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<Value>,
}

impl Client {
    fn start(home: &Home, version: &str) -> Self {
        Self::start_with(home, version, &json!({}))
    }

    fn start_with(home: &Home, version: &str, capabilities: &Value) -> Self {
        let mut client = Self::connect(home);
        let hello = json!({ "protocolVersion": version, "capabilities": capabilities,
                            "clientInfo": { "name": "test", "version": "1" } });
        let reply = client.call(1, "initialize", &hello);
        assert_eq!(reply["result"]["protocolVersion"], version, "{reply}");
        assert_eq!(reply["result"]["serverInfo"]["name"], "cueme");
        client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        client
    }

    fn connect(home: &Home) -> Self {
        let mut child = home
            .command(&["mcp"])
            .env_remove("CUEME_SESSION")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                let Ok(value) = serde_json::from_str(&line) else {
                    panic!("stdout carries something else than JSON: {line}")
                };
                if sender.send(value).is_err() {
                    return;
                }
            }
        });
        Self { child, stdin, lines }
    }

    fn send(&mut self, message: &Value) {
        let stdin = self.stdin.as_mut().unwrap();
        writeln!(stdin, "{message}").unwrap();
        stdin.flush().unwrap();
    }

    fn request(&mut self, id: u64, method: &str, parameters: &Value) {
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": parameters }));
    }

    /// Waits for the reply to a request; returns it with the notifications that came before.
    fn reply(&self, id: u64) -> (Value, Vec<Value>) {
        let mut before = Vec::new();
        loop {
            let line = self.lines.recv_timeout(PATIENCE).unwrap();
            if line["id"] == id {
                return (line, before);
            }
            before.push(line);
        }
    }

    fn call(&mut self, id: u64, method: &str, parameters: &Value) -> Value {
        self.request(id, method, parameters);
        self.reply(id).0
    }

    fn tool(&mut self, id: u64, name: &str, arguments: &Value) -> Value {
        let reply = self.call(id, "tools/call", &json!({ "name": name, "arguments": arguments }));
        reply["result"].clone()
    }

    fn join(&mut self) -> String {
        let joined = self.tool(2, "join", &json!({ "agent_runtime": "terminal" }));
        joined["structuredContent"]["agent_id"]
            .as_str()
            .unwrap_or_else(|| panic!("{joined}"))
            .to_owned()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_default()
}

#[test]
fn every_revision_with_a_handshake_is_spoken() {
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let home = Home::created();
        Client::start(&home, version);
    }
}

#[test]
fn the_four_tools_have_schemas_titles_and_annotations() {
    let home = Home::created();
    let mut client = Client::start(&home, "2025-06-18");
    let listed = client.call(2, "tools/list", &json!({}));
    let tools = listed["result"]["tools"].as_array().unwrap();
    let names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["join", "recall", "cue", "pause"]);
    for tool in tools {
        assert_eq!(tool["inputSchema"]["type"], "object", "{tool}");
        assert!(tool["inputSchema"]["required"].is_array(), "{tool}");
        assert_eq!(tool["outputSchema"]["type"], "object", "{tool}");
        assert!(
            tool["title"].is_string() && tool["description"].is_string(),
            "{tool}"
        );
        assert_eq!(tool["annotations"]["destructiveHint"], false, "{tool}");
    }
}

#[test]
fn an_agent_joins_asks_and_is_found_again() {
    let home = Home::created();
    let mut client = Client::start(&home, "2025-06-18");
    let joined = client.tool(2, "join", &json!({ "agent_runtime": "claude_code" }));
    let agent = joined["structuredContent"]["agent_id"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(text(&joined).starts_with(&format!("agent_id={agent}\nproject_dir=")));

    let question = json!({ "agent_id": agent, "prompt": "Which database?",
                           "payload": { "type": "choice", "options": ["SQLite", "PostgreSQL"] } });
    client.request(3, "tools/call", &json!({ "name": "cue", "arguments": question }));
    let cue = home.wait_for("Which database?", 1);
    home.run(&["answer", &cue, "--select", "SQLite"]).expect(0);
    let (reply, _) = client.reply(3);
    let result = &reply["result"];
    assert!(text(result).starts_with("SQLite\n"), "{result}");
    assert_ne!(result["isError"], true);
    assert_eq!(result["structuredContent"]["result"], "outcome");
    assert_eq!(
        result["structuredContent"]["answer"]["reply"]["selected"],
        json!(["SQLite"])
    );
    wait_for_delivery(&home, &cue, "acknowledged");

    client.request(
        4,
        "tools/call",
        &json!({ "name": "pause", "arguments": { "agent_id": agent } }),
    );
    let cue = home.wait_for_one(|_| true)["cue_id"].as_str().unwrap().to_owned();
    home.run(&["answer", &cue, "--confirm"]).expect(0);
    assert_ne!(client.reply(4).0["result"]["isError"], true);

    let recalled = client.tool(5, "recall", &json!({ "hints": "database" }));
    assert!(
        text(&recalled).starts_with(&format!("agent_id={agent}\n")),
        "{recalled}"
    );
    let nothing = client.tool(6, "recall", &json!({ "hints": "zzzzunheardof" }));
    assert_eq!(nothing["isError"], true, "{nothing}");
}

#[test]
fn mistakes_are_told_in_words_or_as_invalid_parameters() {
    let home = Home::created();
    let mut client = Client::start(&home, "2025-06-18");
    let agent = client.join();
    let unknown = client.tool(3, "cue", &json!({ "agent_id": "nobody-here", "prompt": "A?" }));
    assert_eq!(unknown["isError"], true, "{unknown}");
    let payload = json!({ "agent_id": agent, "prompt": "A?", "payload": { "type": "riddle" } });
    let wrong = client.tool(4, "cue", &payload);
    assert!(
        wrong["isError"] == true && text(&wrong).contains("hint: "),
        "{wrong}"
    );
    let missing = client.call(5, "tools/call", &json!({ "name": "cue", "arguments": {} }));
    assert_eq!(missing["error"]["code"], -32602, "{missing}");
    let tool = client.call(6, "tools/call", &json!({ "name": "rm", "arguments": {} }));
    assert_eq!(tool["error"]["code"], -32602, "{tool}");
}

#[test]
fn a_cancelled_call_leaves_its_question_and_the_same_call_waits_again() {
    let home = Home::created();
    let mut client = Client::start(&home, "2025-06-18");
    let agent = client.join();
    let call = json!({ "name": "cue", "arguments": { "agent_id": agent, "prompt": "Ship it?" } });
    client.request(3, "tools/call", &call);
    let cue = home.wait_for("Ship it?", 1);
    client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled",
                         "params": { "requestId": 3, "reason": "timeout" } }));
    home.wait_until_unattended("Ship it?");
    home.run(&["answer", &cue, "ship it"]).expect(0);
    client.request(4, "tools/call", &call);
    let result = client.reply(4).0["result"].clone();
    assert!(text(&result).contains("ship it\n"), "{result}");
    assert_eq!(result["structuredContent"]["cue_id"], cue.as_str());
}

#[test]
fn a_client_that_wants_progress_hears_that_we_wait() {
    let home = Home::created();
    let mut client = Client::start(&home, "2025-06-18");
    let agent = client.join();
    client.request(
        3,
        "tools/call",
        &json!({ "name": "cue", "arguments": { "agent_id": agent, "prompt": "A?" },
                 "_meta": { "progressToken": "p1" } }),
    );
    let progress = client.lines.recv_timeout(PATIENCE).unwrap();
    assert_eq!(progress["method"], "notifications/progress", "{progress}");
    assert_eq!(progress["params"]["progressToken"], "p1");
    home.run(&["answer", &home.wait_for("A?", 1), "yes"]).expect(0);
    assert!(text(&client.reply(3).0["result"]).starts_with("yes\n"));
}

#[test]
fn a_client_that_leaves_ends_the_server_and_the_question_stays() {
    let home = Home::created();
    let mut client = Client::start(&home, "2025-06-18");
    let agent = client.join();
    client.request(
        3,
        "tools/call",
        &json!({ "name": "cue", "arguments": { "agent_id": agent, "prompt": "A?" } }),
    );
    home.wait_for("A?", 1);
    client.stdin = None;
    eventually("the end of the server", || client.child.try_wait().unwrap());
    home.wait_until_unattended("A?");
}

#[test]
fn the_protocol_is_a_prompt_and_a_resource() {
    let home = Home::created();
    let mut client = Client::start(&home, "2025-06-18");
    let prompts = client.call(2, "prompts/list", &json!({}));
    assert_eq!(prompts["result"]["prompts"][0]["name"], "hap");
    let got = client.call(
        3,
        "prompts/get",
        &json!({ "name": "hap", "arguments": { "runtime": "cursor" } }),
    );
    let said = got["result"]["messages"][0]["content"]["text"].as_str().unwrap();
    assert_eq!(
        said,
        home.run(&["protocol", "cursor", "--language", "en"])
            .expect(0)
            .stdout
    );
    let listed = client.call(4, "resources/list", &json!({}));
    for resource in listed["result"]["resources"].as_array().unwrap() {
        let read = client.call(5, "resources/read", &json!({ "uri": resource["uri"] }));
        assert!(
            read["result"]["contents"][0]["text"]
                .as_str()
                .unwrap()
                .contains("cueme"),
            "{read}"
        );
    }
    let missing = client.call(6, "resources/read", &json!({ "uri": "cueme://nothing" }));
    assert!(missing["error"]["code"].is_number(), "{missing}");
}

/// Waits until the outcome of a question has travelled so far.
#[track_caller]
fn wait_for_delivery(home: &Home, cue: &str, delivery: &str) {
    eventually(delivery, || (home.delivery(cue) == delivery).then_some(()));
}

fn tasks_capability() -> Value {
    json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } })
}

/// A client that takes calls as tasks.
fn with_tasks(home: &Home) -> Client {
    let capabilities = tasks_capability();
    Client::start_with(home, "2025-11-25", &capabilities)
}

fn task_of(client: &mut Client, id: u64, agent: &str, prompt: &str) -> String {
    let arguments = json!({ "agent_id": agent, "prompt": prompt });
    let task = client.tool(id, "cue", &arguments);
    assert_eq!(task["resultType"], "task", "{task}");
    assert_eq!(task["status"], "working", "{task}");
    task["taskId"].as_str().unwrap().to_owned()
}

#[test]
fn a_client_with_tasks_gets_a_handle_at_once_and_the_outcome_counts_when_it_is_fetched() {
    let home = Home::created();
    let mut client = with_tasks(&home);
    let agent = client.join();
    let task = task_of(&mut client, 3, &agent, "Ship it?");
    let cue = home.wait_for("Ship it?", 1);
    let looked = client.call(4, "tasks/get", &json!({ "taskId": task }));
    assert_eq!(looked["result"]["status"], "working", "{looked}");
    home.run(&["answer", &cue, "ship it"]).expect(0);
    wait_for_delivery(&home, &cue, "handed");
    remains(
        "handed over, as nobody has fetched it",
        Duration::from_millis(100),
        || home.delivery(&cue) == "handed",
    );
    let mut id = 5;
    let result = eventually("the end of the task", || {
        id += 1;
        let looked = client.call(id, "tasks/get", &json!({ "taskId": task }));
        (looked["result"]["status"] == "completed").then(|| looked["result"]["result"].clone())
    });
    assert!(text(&result).starts_with("ship it\n"), "{result}");
    assert_eq!(result["structuredContent"]["cue_id"], cue.as_str());
    wait_for_delivery(&home, &cue, "acknowledged");
}

#[test]
fn a_cancelled_task_leaves_its_question_open() {
    let home = Home::created();
    let mut client = with_tasks(&home);
    let agent = client.join();
    let task = task_of(&mut client, 3, &agent, "Ship it?");
    home.wait_for("Ship it?", 1);
    let cancelled = client.call(4, "tasks/cancel", &json!({ "taskId": task }));
    assert!(cancelled["error"].is_null(), "{cancelled}");
    home.wait_until_unattended("Ship it?");
    let mut id = 5;
    eventually("the end of the task", || {
        id += 1;
        let looked = client.call(id, "tasks/get", &json!({ "taskId": task }));
        (looked["result"]["status"] == "cancelled").then_some(())
    });
    let unknown = client.call(100, "tasks/get", &json!({ "taskId": "nothing" }));
    assert!(unknown["error"]["code"].is_number(), "{unknown}");
}

#[test]
fn the_newest_revision_is_spoken_without_a_handshake() {
    let home = Home::created();
    let mut client = Client::connect(&home);
    let about = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": { "elicitation": { "form": {} } }
    });
    let found = client.call(1, "server/discover", &json!({ "_meta": about }));
    let versions = found["result"]["supportedVersions"].as_array().unwrap();
    assert!(
        versions.contains(&json!("2024-11-05")) && versions.contains(&json!("2026-07-28")),
        "{found}"
    );
    let join = json!({ "name": "join", "arguments": { "agent_runtime": "terminal" }, "_meta": about });
    let joined = client.call(2, "tools/call", &join);
    let agent = joined["result"]["structuredContent"]["agent_id"]
        .as_str()
        .unwrap();
    // A server may not ask its client in this revision, so the dialog is left out and the broker asks alone.
    let ask =
        json!({ "name": "cue", "arguments": { "agent_id": agent, "prompt": "Ship it?" }, "_meta": about });
    client.request(3, "tools/call", &ask);
    home.run(&["answer", &home.wait_for("Ship it?", 1), "ship it"])
        .expect(0);
    let (reply, before) = client.reply(3);
    assert!(text(&reply["result"]).starts_with("ship it\n"), "{reply}");
    assert!(before.is_empty(), "{before:?}");
}

#[test]
fn a_result_that_could_not_be_written_is_not_delivered() {
    answers_nobody_who_reads(&json!({}));
}

#[test]
fn a_task_whose_end_could_not_be_written_is_not_delivered() {
    answers_nobody_who_reads(&tasks_capability());
}

/// Answers a question of a client that has stopped to read; it must come again.
#[track_caller]
fn answers_nobody_who_reads(capabilities: &Value) {
    let home = Home::created();
    let agent = home.join_as("terminal");
    let mut server = home
        .command(&["mcp"])
        .env_remove("CUEME_SESSION")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = server.stdin.take().unwrap();
    let mut stdout = BufReader::new(server.stdout.take().unwrap());
    let mut send = |message: &Value| writeln!(stdin, "{message}").unwrap();
    let mut line = || {
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        serde_json::from_str::<Value>(&line).unwrap()
    };
    send(
        &json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": capabilities,
            "clientInfo": { "name": "test", "version": "1" } } }),
    );
    line();
    send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    send(
        &json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
            "name": "cue", "arguments": { "agent_id": agent, "prompt": "Which port?" } } }),
    );
    let cue = home.wait_for("Which port?", 1);
    let task = (capabilities != &json!({})).then(|| line()["result"]["taskId"].clone());
    // The client stops reading the server's output.
    drop(stdout);
    home.run(&["answer", &cue, "8080"]).expect(0);
    wait_for_delivery(&home, &cue, "handed");
    if let Some(task) = task {
        send(&json!({ "jsonrpc": "2.0", "id": 3, "method": "tasks/get", "params": { "taskId": task } }));
    }
    remains("handed over, as nobody reads it", Duration::from_secs(1), || {
        home.delivery(&cue) == "handed"
    });
    let told = home.ask_for("20s", &agent, "Next?", None).expect(75).stdout;
    assert!(told.contains("8080"), "{told}");
    server.kill().unwrap();
    server.wait().unwrap();
}

/// Runs a client that speaks to `cueme mcp` by itself and ends with `ok` when all of it held.
#[track_caller]
pub(crate) fn run_mcp_client(home: &Home, client: &Command) {
    let mut command = home.command_of(Path::new(client.get_program()), &[]);
    command
        .args(client.get_args())
        .arg(home.binary())
        .env_remove("CUEME_SESSION");
    let run = cueme_tests::Client::start(&mut command, b"").finish().expect(0);
    assert!(run.stdout.ends_with("ok\n"), "{run:?}");
    println!("{}", run.stdout);
}
