//! The hook at the end of a turn tells the truth: about what the agent asked, and about who still waits.

use std::fs;
use std::io::Write;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::fs::inotify;
use serde_json::{Value, json};

use cueme_tests::{Client, Home, Signal, cueme, eventually, is_alive, next_millisecond};

/// A hook that waits for nobody is over by then even on a busy machine.
const AT_ONCE: Duration = Duration::from_secs(20);

/// The system's notices that a file was read to its end and closed.
struct Reads(OwnedFd);

impl Reads {
    fn of(path: &Path) -> Self {
        let notices = inotify::init(inotify::CreateFlags::NONBLOCK | inotify::CreateFlags::CLOEXEC).unwrap();
        inotify::add_watch(&notices, path, inotify::WatchFlags::CLOSE_NOWRITE).unwrap();
        Self(notices)
    }

    fn wait_for_one(&self) {
        let mut space = [MaybeUninit::uninit(); 512];
        let mut notices = inotify::Reader::new(&self.0, &mut space);
        eventually("a read of the file", || notices.next().is_ok().then_some(()));
    }
}

/// One end of a turn in one host.
struct Scene {
    home: Home,
    host: &'static str,
}

impl Scene {
    fn new(host: &'static str) -> Self {
        let home = Home::created();
        Self { home, host }
    }

    /// Returns the host's input at an event, about a transcript of ours.
    fn input(&self, event: &str) -> Value {
        let path = format!(
            "{}/../adapter-core/runtimes/tests/hooks/{}.{event}.json",
            env!("CARGO_MANIFEST_DIR"),
            self.host
        );
        let mut input: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
        for member in ["transcript_path", "transcriptPath"] {
            if input.get(member).is_some() {
                input[member] = json!(self.transcript());
            }
        }
        input
    }

    fn transcript(&self) -> std::path::PathBuf {
        self.home.path().join("transcript")
    }

    fn record(&self, lines: &[Value]) {
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        fs::write(self.transcript(), text).unwrap();
    }

    fn append(&self, lines: &[Value]) {
        let mut file = fs::OpenOptions::new()
            .append(true)
            .open(self.transcript())
            .unwrap();
        for line in lines {
            file.write_all(format!("{line}\n").as_bytes()).unwrap();
        }
    }

    /// The agent of the session, after the human has typed there.
    fn agent(&self) -> String {
        self.run("prompt_submit", &self.input("prompt_submit"));
        // The turn's beginning and what happens in it must not fall into the same millisecond.
        next_millisecond();
        let agents = self.home.run(&["agents", "--json"]).expect(0).json();
        agents[0]["agent_id"].as_str().unwrap().to_owned()
    }

    fn start(&self, event: &str, input: &Value) -> Client {
        self.home.start_hook(self.host, event, input)
    }

    fn run(&self, event: &str, input: &Value) -> Value {
        ended(self.start(event, input))
    }

    /// Returns the number of recorded sessions.
    fn records(&self) -> usize {
        fs::read_dir(self.home.path().join("data/sessions"))
            .into_iter()
            .flatten()
            .count()
    }

    fn inbox(&self) -> Vec<Value> {
        self.home.inbox()
    }

    /// Waits until a hook's question is waited for.
    fn asked(&self) -> Value {
        self.home.wait_for_one(|cue| cue["origin"] == "hook")
    }

    fn shown(&self, cue: &Value) -> Value {
        self.home.show(id(cue))
    }

    /// Asserts that a question was closed, and why.
    #[track_caller]
    fn is_closed(&self, cue: &Value, reason: &str) {
        let shown = eventually("the end of the question", || {
            Some(self.shown(cue)).filter(|shown| shown["outcome"] != "open")
        });
        assert_eq!(shown["outcome"], "cancelled", "{shown}");
        assert!(shown["text"].as_str().unwrap().contains(reason), "{shown}");
        if cue["origin"] != "agent" {
            let words = self.home.run(&["show", id(cue)]).expect(0).stdout;
            assert!(
                words.contains("withdrawn by the program that asked") && !words.contains("received"),
                "{words}"
            );
        }
    }
}

fn id(cue: &Value) -> &str {
    cue["cue_id"].as_str().unwrap()
}

#[track_caller]
fn ended(hook: Client) -> Value {
    let began = Instant::now();
    let run = hook.finish().expect(0);
    assert!(began.elapsed() < AT_ONCE, "the hook waited");
    run.json()
}

/// The lines of a turn whose last call ran a command and ended like this, in each host's own words.
fn turn(host: &str, command: &str, exit: i64) -> Vec<Value> {
    match host {
        "claude_code" => vec![
            json!({ "type": "user", "uuid": "u0", "message": { "role": "user", "content": "fix it" } }),
            json!({ "type": "assistant", "uuid": "u1", "message": { "role": "assistant", "content": [
                { "type": "tool_use", "id": "t1", "name": "Bash", "input": { "command": command } }] } }),
            json!({ "type": "user", "uuid": "u2", "message": { "role": "user", "content": [
                { "type": "tool_result", "tool_use_id": "t1", "is_error": exit != 0,
                  "content": if exit == 0 { "yes".to_owned() } else { format!("Exit code {exit}\nerror") } }] } }),
            json!({ "type": "assistant", "uuid": "u3", "message": { "role": "assistant", "content": [
                { "type": "text", "text": "Done." }] } }),
        ],
        "codex" => vec![
            json!({ "timestamp": "t0", "type": "response_item", "payload": { "type": "message", "role": "user",
                    "content": [{ "type": "input_text", "text": "fix it" }] } }),
            json!({ "timestamp": "t1", "type": "response_item", "payload": { "type": "function_call",
                    "name": "exec_command", "call_id": "c1", "arguments": json!({ "cmd": command }).to_string() } }),
            json!({ "timestamp": "t2", "type": "response_item", "payload": { "type": "function_call_output",
                    "call_id": "c1", "output": format!(
                        "Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code {exit}\nOutput:\nyes\n") } }),
            json!({ "timestamp": "t3", "type": "response_item", "payload": { "type": "message", "role": "assistant",
                    "content": [{ "type": "output_text", "text": "Done." }] } }),
        ],
        "copilot_cli" => vec![
            json!({ "type": "user.message", "id": "e0", "data": { "content": "fix it" } }),
            json!({ "type": "assistant.message", "id": "e1", "data": { "content": "", "toolRequests": [
                { "toolCallId": "c1", "name": "bash", "arguments": { "command": command } }] } }),
            json!({ "type": "tool.execution_complete", "id": "e2", "data": { "toolCallId": "c1", "success": true,
                    "shellExecution": { "exitCode": exit } } }),
            json!({ "type": "assistant.message", "id": "e3", "data": { "content": "Done.", "toolRequests": [] } }),
        ],
        "gemini_cli" => vec![
            json!({ "id": "m0", "type": "user", "content": [{ "text": "fix it" }] }),
            json!({ "id": "m1", "type": "gemini", "content": "", "toolCalls": [
                { "id": "c1", "name": "run_shell_command", "args": { "command": command }, "status": "success",
                  "result": [{ "functionResponse": { "response": { "output": if exit == 0 {
                      "Output: yes\nProcess Group PGID: 7".to_owned()
                  } else {
                      format!("Output: error\nExit Code: {exit}\nProcess Group PGID: 7")
                  } } } }] }] }),
            json!({ "id": "m2", "type": "gemini", "content": "Done." }),
        ],
        "qwen_code" => vec![
            json!({ "uuid": "m0", "type": "user", "message": { "parts": [{ "text": "fix it" }] } }),
            json!({ "uuid": "m1", "type": "assistant", "message": { "parts": [
                { "functionCall": { "id": "c1", "name": "run_shell_command", "args": { "command": command } } }] } }),
            json!({ "uuid": "m2", "type": "tool_result", "message": { "parts": [
                { "functionResponse": { "id": "c1", "name": "run_shell_command", "response": { "output": "yes" } } }] },
                "toolCallResult": { "callId": "c1", "status": if exit == 0 { "success" } else { "error" },
                                    "resultDisplay": { "type": "shell_result", "exitCode": exit } } }),
            json!({ "uuid": "m3", "type": "assistant", "message": { "parts": [{ "text": "Done." }] } }),
        ],
        other => panic!("{other} has no transcript here"),
    }
}

/// The input of a stop after a command that ended like this.
fn stop_after(scene: &Scene, command: &str, exit: i64) -> Value {
    let mut input = scene.input("stop");
    if scene.host == "opencode" {
        input["last_tool"] = json!({ "name": "bash", "input": { "command": command }, "status": "completed",
                                     "exit": exit });
    } else {
        scene.record(&turn(scene.host, command, exit));
    }
    input
}

const HOSTS: [&str; 6] = [
    "claude_code",
    "codex",
    "copilot_cli",
    "gemini_cli",
    "qwen_code",
    "opencode",
];

/// The input of a stop after a cue that ended like this, in a turn in which another cue was answered.
fn stop_after_second_cue(scene: &Scene, exit: i64) -> Value {
    let agent = scene.agent();
    let (asking, cue) = scene.home.ask(&agent, "Go?", None);
    scene.home.run(&["answer", &cue, "yes"]).expect(0);
    asking.finish().expect(0);
    stop_after(scene, &format!("cueme cue {agent} - < question.txt"), exit)
}

#[test]
fn a_cue_that_failed_is_no_cue_though_the_agent_asked_before_in_the_same_turn() {
    let failures = HOSTS.map(|host| (host, 2)).into_iter();
    for (host, exit) in failures.chain([3, 4, 69].map(|exit| ("claude_code", exit))) {
        let scene = Scene::new(host);
        let hook = scene.start("stop", &stop_after_second_cue(&scene, exit));
        let asked = scene.asked();
        assert_eq!(asked["origin"], "hook", "{host} {exit}: {asked}");
        scene.home.run(&["decline", id(&asked)]).expect(0);
        assert_eq!(ended(hook), json!({}), "{host} {exit}");
    }
}

#[test]
fn a_cue_that_succeeded_lets_the_turn_end() {
    for host in HOSTS {
        let scene = Scene::new(host);
        let input = stop_after_second_cue(&scene, 0);
        assert_eq!(scene.run("stop", &input), json!({}), "{host}");
        assert!(scene.inbox().is_empty(), "{host}");
    }
}

#[test]
fn a_question_that_is_still_open_is_held_and_no_second_one_is_asked() {
    for host in HOSTS {
        let scene = Scene::new(host);
        let agent = scene.agent();
        scene.home.ask_for("1ms", &agent, "Which port?", None).expect(75);
        let command = format!("cueme cue {agent} - < question.txt");
        let hook = scene.start("stop", &stop_after(&scene, &command, 75));
        let cue = scene.home.wait_for("Which port?", 1);
        assert_eq!(scene.inbox().len(), 1, "{host}");
        scene.home.run(&["answer", &cue, "8080"]).expect(0);
        assert!(ended(hook).to_string().contains("8080"), "{host}");
    }
}

#[test]
fn an_old_open_question_does_not_stand_for_one_that_was_never_asked() {
    let scene = Scene::new("codex");
    let agent = scene.agent();
    scene.home.ask_for("1ms", &agent, "Which port?", None).expect(75);
    // A new turn; the recorded prompt would close the question, so only the turn's beginning is noted.
    let first = scene.start("stop", &stop_after(&scene, "make", 0));
    let asked = scene.asked();
    scene.home.run(&["answer", id(&asked), "go on"]).expect(0);
    ended(first);
    let mut input = stop_after(&scene, &format!("cueme cue {agent} -"), 2);
    input["turn_id"] = json!("turn-4");
    let hook = scene.start("stop", &input);
    let asked = scene.asked();
    assert!(asked["prompt"].as_str().unwrap().starts_with("Done."), "{asked}");
    scene.home.run(&["decline", id(&asked)]).expect(0);
    ended(hook);
}

#[test]
fn a_cue_in_codex_counts_when_its_output_was_read_on_or_came_by_mcp() {
    let item = |payload: Value| json!({ "timestamp": "t", "type": "response_item", "payload": payload });
    let prompt = item(json!({ "type": "message", "role": "user", "content": [] }));
    let said = item(json!({ "type": "message", "role": "assistant", "content": [
        { "type": "output_text", "text": "Done." }] }));
    let call = |id: &str, name: &str, arguments: Value| json!({ "type": "function_call", "call_id": id, "name": name, "arguments": arguments.to_string() });
    let output = |id: &str, head: &str| {
        item(json!({ "type": "function_call_output", "call_id": id,
                     "output": format!("Wall time: 1 seconds\n{head}Output:\n") }))
    };
    let scene = Scene::new("codex");
    let agent = scene.agent();
    let (asking, cue) = scene.home.ask(&agent, "Go?", None);
    scene.home.run(&["answer", &cue, "yes"]).expect(0);
    asking.finish().expect(0);
    scene.record(&[
        prompt.clone(),
        item(call(
            "c1",
            "exec_command",
            json!({ "cmd": format!("cueme cue {agent} -") }),
        )),
        output("c1", "Process running with session ID 77\n"),
        item(call(
            "c2",
            "write_stdin",
            json!({ "session_id": 77, "chars": "" }),
        )),
        output("c2", "Process exited with code 0\n"),
        said.clone(),
    ]);
    assert_eq!(scene.run("stop", &scene.input("stop")), json!({}));
    let mut tool = call("c3", "cue", json!({ "agent_id": agent, "prompt": "Go?" }));
    tool["namespace"] = json!("mcp__cueme");
    let completed = json!({ "timestamp": "t", "type": "event_msg", "payload": { "type": "item_completed", "item":
        { "type": "McpToolCall", "id": "c3", "status": "completed", "result": { "isError": false } } } });
    scene.record(&[prompt, item(tool), completed, output("c3", ""), said]);
    let mut input = scene.input("stop");
    input["turn_id"] = json!("turn-4");
    assert_eq!(scene.run("stop", &input), json!({}));
    assert!(scene.inbox().is_empty());
}

#[test]
fn the_message_shown_is_the_one_the_agent_ended_with() {
    for (host, member) in [
        ("copilot_cli", None),
        ("claude_code", Some("last_assistant_message")),
    ] {
        let scene = Scene::new(host);
        let mut lines = turn(host, "make test", 0);
        let last = lines.pop().unwrap();
        let mut input = scene.input("stop");
        if let Some(member) = member {
            // Older versions, and Claude Code under other programs, tell it only in the transcript.
            input.as_object_mut().unwrap().remove(member);
        }
        scene.record(&lines);
        let reads = Reads::of(&scene.transcript());
        let hook = scene.start("stop", &input);
        // Copilot CLI was seen to write the end of a turn 250 ms after it had called the hook.
        reads.wait_for_one();
        scene.append(&[last]);
        let asked = scene.asked();
        assert!(
            asked["prompt"].as_str().unwrap().starts_with("Done.\n"),
            "{host}: {asked}"
        );
        scene.home.run(&["decline", id(&asked)]).expect(0);
        ended(hook);
    }
}

#[test]
fn a_host_that_is_killed_leaves_no_hook_and_no_question_behind() {
    let scene = Scene::new("claude_code");
    let input = stop_after(&scene, "make test", 0);
    let file = scene.home.path().join("input.json");
    let pid = scene.home.path().join("pid");
    fs::write(&file, input.to_string()).unwrap();
    // The host runs the hook through a shell, which lives on and waits for it.
    let hook =
        r#""$CUEME" hook claude_code stop < "$INPUT" & echo $! > "$PID.new"; mv "$PID.new" "$PID"; wait"#;
    let mut host = Command::new("sh")
        .args(["-c", "sh -c \"$HOOK\"; :"])
        .env("HOOK", hook)
        .env("CUEME", cueme())
        .env("INPUT", &file)
        .env("PID", &pid)
        .env("CUEME_HOME", scene.home.path())
        .env_remove("CURSOR_VERSION")
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let asked = scene.asked();
    let hook: u32 = fs::read_to_string(&pid).unwrap().trim().parse().unwrap();
    assert!(is_alive(hook));
    host.kill().unwrap();
    host.wait().unwrap();
    eventually("the end of the hook", || (!is_alive(hook)).then_some(()));
    assert!(scene.inbox().is_empty());
    scene.is_closed(&asked, "the agent's program ended");
}

#[test]
fn an_approval_is_withdrawn_too_when_its_host_is_gone_or_stops_the_hook() {
    let scene = Scene::new("claude_code");
    let mut input = scene.input("permission");
    input["tool_name"] = json!("Bash");
    input["tool_input"] = json!({ "command": "rm -rf build" });
    let hook = scene.start("permission", &input);
    let asked = scene.home.wait_for_one(|_| true);
    hook.signal(Signal::TERM);
    assert_eq!(ended(hook), json!({}));
    scene.is_closed(&asked, "stopped waiting");
}

#[test]
fn an_approval_that_was_decided_in_the_hosts_window_closes() {
    let scene = Scene::new("claude_code");
    scene.agent();
    let mut input = scene.input("permission");
    input["tool_name"] = json!("Bash");
    input["tool_input"] = json!({ "command": "rm -rf build" });
    // The host records the call beside calling the hook.
    let lines = turn("claude_code", "rm -rf build", 0);
    scene.record(&lines[..1]);
    let hook = scene.start("permission", &input);
    let asked = scene.home.wait_for_one(|_| true);
    scene.append(&lines[1..3]);
    assert_eq!(ended(hook), json!({}));
    scene.is_closed(&asked, "decided in the agent's own window");
    assert!(scene.inbox().is_empty());
}

#[test]
fn a_hook_whose_host_was_gone_before_it_began_asks_nobody() {
    let scene = Scene::new("opencode");
    let mut input = stop_after(&scene, "make test", 0);
    input["host_pid"] = json!(i32::MAX);
    assert_eq!(scene.run("stop", &input), json!({}));
    assert!(scene.inbox().is_empty());
}

#[test]
fn typing_in_the_hosts_window_lets_go_of_the_hook() {
    let typed = json!({ "type": "queue-operation", "operation": "enqueue", "content": "and also this" });
    let scene = Scene::new("claude_code");
    let input = stop_after(&scene, "make test", 0);
    let hook = scene.start("stop", &input);
    let asked = scene.asked();
    scene.append(std::slice::from_ref(&typed));
    assert_eq!(ended(hook), json!({}));
    scene.is_closed(&asked, "typed in the agent's own window");
    assert!(scene.inbox().is_empty());

    let scene = Scene::new("claude_code");
    let input = stop_after(&scene, "make test", 0);
    scene.append(&[typed]);
    assert_eq!(
        scene.run("stop", &input),
        json!({}),
        "they had typed before the turn ended"
    );
    assert!(scene.inbox().is_empty());
}

#[test]
fn a_script_does_without_hooks() {
    let scene = Scene::new("claude_code");
    let input = stop_after(&scene, "make test", 0);
    let mut command = scene.home.command(&["hook", "claude_code", "stop"]);
    command.env_remove("CURSOR_VERSION").env("CUEME_HOOKS", "off");
    assert_eq!(
        ended(Client::start(&mut command, input.to_string().as_bytes())),
        json!({})
    );
    assert!(scene.inbox().is_empty());
}

#[test]
fn a_session_that_ends_closes_what_it_left() {
    for host in [
        "claude_code",
        "codex",
        "gemini_cli",
        "copilot_cli",
        "cursor",
        "qwen_code",
        "opencode",
    ] {
        let scene = Scene::new(host);
        let agent = scene.agent();
        assert_eq!(scene.records(), 1, "{host}");
        let (listening, _) = scene.home.ask(&agent, "Which path?", None);
        scene.home.ask_for("1ms", &agent, "Which port?", None).expect(75);
        scene.home.ask_for("1ms", &agent, "Which host?", None).expect(75);
        let answered = scene.home.open("Which port?").unwrap();
        scene.home.run(&["answer", id(&answered), "8080"]).expect(0);
        let left = scene.home.open("Which host?").unwrap();
        assert_eq!(
            scene.run("session_end", &scene.input("session_end")),
            json!({}),
            "{host}"
        );
        scene.is_closed(&left, "session ended");
        assert_eq!(scene.records(), 0, "{host}: its session is forgotten");
        let still = scene.inbox();
        assert_eq!(still.len(), 1, "{host}: somebody waits for this one");
        assert_eq!(
            scene.shown(&answered)["outcome"],
            "answered",
            "{host}: an answer stays for the agent"
        );
        drop(listening);
    }
}

#[test]
fn a_request_of_qwen_code_itself_is_not_the_humans_prompt() {
    let scene = Scene::new("qwen_code");
    let agent = scene.agent();
    scene.home.ask_for("1ms", &agent, "Which port?", None).expect(75);
    let mut own = scene.input("prompt_submit");
    own.as_object_mut().unwrap().remove("submitted_prompt");
    // A tool's result carries no words, or a remark of the host's.
    for words in ["", "<system-reminder>mind the tests</system-reminder>"] {
        own["prompt"] = json!(words);
        assert_eq!(scene.run("prompt_submit", &own), json!({}));
        assert_eq!(scene.inbox().len(), 1, "{words:?}");
    }
    // It names the next prompt anew, and not every way to type one says that it was submitted.
    own["prompt"] = json!("use 8080");
    own["prompt_id"] = json!("sess-6########1");
    scene.run("prompt_submit", &own);
    assert!(scene.inbox().is_empty());
}
