//! Every host that has hooks, at every event: what each writes is recorded in `adapter-core/runtimes/tests/hooks`, the broker and
//! the binary are the real ones, and one table per host says in which shape it is answered.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use cueme_tests::{Client, Home, envelope, eventually, next_millisecond, remains};

/// The delay of the slow human. A hook that gave up or asked again would show within this.
const SLOW: Duration = Duration::from_millis(1200);
/// A hook that asks nobody, or cannot, is over by then even on a busy machine.
const AT_ONCE: Duration = Duration::from_secs(20);

/// The place at which a host reads a text in what a hook prints.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Ear {
    /// At this place of a JSON object.
    At(&'static str),
    /// All of stdout.
    Plain,
    /// Nowhere: the host listens to nothing here.
    Deaf,
}

/// One host.
struct Host {
    tag: &'static str,
    /// The events whose input is recorded.
    events: &'static [&'static str],
    /// The output at an event that changes nothing.
    passes: fn(&str) -> &'static str,
    at_start: Ear,
    at_prompt: Ear,
    at_stop: Ear,
    /// The member that says that the human stopped the turn; hosts without one run no stop hook then.
    aborted: Option<(&'static str, &'static str)>,
    /// The member by which a sub-agent is known.
    subagent: (&'static str, &'static str),
    /// Writes a transcript's lines; hosts without a transcript tell the last call in the input, or not at all.
    transcript: Option<fn(&str, &str) -> Vec<Value>>,
    /// The place of a gate's decision, and its value when the human allows and when they refuse.
    gate: Option<(&'static str, &'static str, &'static str)>,
    /// Whether the host names its sessions; one that does not cannot be given an agent.
    has_sessions: bool,
}

const CLAUDE_CODE: Host = Host {
    tag: "claude_code",
    events: &["session_start", "prompt_submit", "stop", "pre_tool", "permission"],
    passes: |_| "{}\n",
    at_start: Ear::At("/hookSpecificOutput/additionalContext"),
    at_prompt: Ear::At("/hookSpecificOutput/additionalContext"),
    at_stop: Ear::At("/reason"),
    aborted: None,
    subagent: ("hook_event_name", "SubagentStop"),
    transcript: Some(claude_lines),
    gate: Some(("/hookSpecificOutput/permissionDecision", "allow", "deny")),
    has_sessions: true,
};

const CURSOR: Host = Host {
    tag: "cursor",
    events: &["session_start", "prompt_submit", "stop", "pre_tool"],
    passes: |event| match event {
        "prompt_submit" => "{\"continue\":true}\n",
        "pre_tool" => "{\"permission\":\"ask\"}\n",
        _ => "{}\n",
    },
    at_start: Ear::At("/additional_context"),
    at_prompt: Ear::At("/additional_context"),
    at_stop: Ear::At("/followup_message"),
    aborted: Some(("status", "aborted")),
    subagent: ("hook_event_name", "subagentStop"),
    transcript: Some(cursor_lines),
    gate: Some(("/permission", "allow", "deny")),
    has_sessions: true,
};

const CODEX: Host = Host {
    tag: "codex",
    events: &["session_start", "prompt_submit", "stop", "pre_tool", "permission"],
    passes: |_| "{}\n",
    at_start: Ear::At("/hookSpecificOutput/additionalContext"),
    at_prompt: Ear::At("/hookSpecificOutput/additionalContext"),
    at_stop: Ear::At("/reason"),
    aborted: None,
    subagent: ("hook_event_name", "SubagentStop"),
    transcript: Some(codex_lines),
    // Its recorded gate is a question of its own tool, which it can only be answered by a refusal that tells the answer.
    gate: None,
    has_sessions: true,
};

const VSCODE: Host = Host {
    tag: "vscode",
    events: &["session_start", "prompt_submit", "stop", "pre_tool"],
    passes: |_| "{}\n",
    at_start: Ear::At("/hookSpecificOutput/additionalContext"),
    at_prompt: Ear::At("/hookSpecificOutput/additionalContext"),
    at_stop: Ear::At("/hookSpecificOutput/reason"),
    aborted: None,
    subagent: ("hookEventName", "SubagentStop"),
    transcript: Some(copilot_lines),
    gate: Some(("/hookSpecificOutput/permissionDecision", "allow", "deny")),
    has_sessions: true,
};

const COPILOT_CLI: Host = Host {
    tag: "copilot_cli",
    events: &["session_start", "prompt_submit", "stop", "pre_tool"],
    passes: |_| "{}\n",
    at_start: Ear::At("/additionalContext"),
    at_prompt: Ear::At("/additionalContext"),
    at_stop: Ear::At("/reason"),
    aborted: None,
    subagent: ("agent_id", "sub-1"),
    transcript: Some(copilot_lines),
    gate: Some(("/permissionDecision", "allow", "deny")),
    has_sessions: true,
};

const GEMINI_CLI: Host = Host {
    tag: "gemini_cli",
    events: &["session_start", "prompt_submit", "stop", "pre_tool"],
    passes: |_| "{}\n",
    at_start: Ear::At("/hookSpecificOutput/additionalContext"),
    at_prompt: Ear::At("/hookSpecificOutput/additionalContext"),
    at_stop: Ear::At("/reason"),
    aborted: None,
    subagent: ("agent_id", "sub-1"),
    transcript: Some(gemini_lines),
    gate: Some(("/decision", "allow", "deny")),
    has_sessions: true,
};

const QWEN_CODE: Host = Host {
    tag: "qwen_code",
    events: &["session_start", "prompt_submit", "stop"],
    passes: |_| "{}\n",
    at_start: Ear::At("/hookSpecificOutput/additionalContext"),
    at_prompt: Ear::At("/hookSpecificOutput/additionalContext"),
    at_stop: Ear::At("/reason"),
    aborted: None,
    subagent: ("agent_id", "sub-1"),
    transcript: Some(qwen_lines),
    gate: None,
    has_sessions: true,
};

const OPENCODE: Host = Host {
    tag: "opencode",
    events: &["session_start", "prompt_submit", "stop"],
    passes: |_| "{}\n",
    at_start: Ear::At("/context"),
    at_prompt: Ear::At("/context"),
    at_stop: Ear::At("/prompt"),
    aborted: Some(("status", "aborted")),
    subagent: ("parent_id", "ses_0"),
    transcript: None,
    gate: None,
    has_sessions: true,
};

const WINDSURF: Host = Host {
    tag: "windsurf",
    events: &["prompt_submit", "stop"],
    passes: |_| "",
    at_start: Ear::Deaf,
    at_prompt: Ear::Deaf,
    at_stop: Ear::Deaf,
    aborted: None,
    subagent: ("agent_id", "sub-1"),
    transcript: None,
    gate: None,
    has_sessions: true,
};

const KIRO: Host = Host {
    tag: "kiro",
    events: &["session_start", "prompt_submit", "stop", "pre_tool"],
    passes: |_| "",
    at_start: Ear::Plain,
    at_prompt: Ear::Plain,
    at_stop: Ear::Plain,
    aborted: None,
    subagent: ("agent_id", "sub-1"),
    transcript: None,
    gate: None,
    has_sessions: false,
};

fn claude_lines(command: &str, message: &str) -> Vec<Value> {
    vec![
        json!({ "type": "user", "message": { "role": "user", "content": "fix it" } }),
        json!({ "type": "assistant", "uuid": "u1", "message": { "role": "assistant", "content": [
            { "type": "tool_use", "id": "t1", "name": "Bash", "input": { "command": command } }] } }),
        json!({ "type": "user", "message": { "role": "user", "content": [
            { "type": "tool_result", "tool_use_id": "t1", "content": "ok" }] } }),
        json!({ "type": "assistant", "uuid": "u2", "message": { "role": "assistant", "content": [
            { "type": "text", "text": message }] } }),
    ]
}

fn cursor_lines(command: &str, message: &str) -> Vec<Value> {
    vec![
        json!({ "role": "user", "message": { "content": [{ "type": "text", "text": "fix it" }] } }),
        json!({ "role": "assistant", "message": { "content": [
            { "type": "tool_use", "name": "Shell", "input": { "command": command } },
            { "type": "text", "text": message }] } }),
    ]
}

fn codex_lines(command: &str, message: &str) -> Vec<Value> {
    let arguments = json!({ "cmd": command }).to_string();
    vec![
        json!({ "type": "response_item", "payload": { "type": "message", "role": "user",
                "content": [{ "type": "input_text", "text": "fix it" }] } }),
        json!({ "type": "response_item", "payload": { "type": "function_call", "name": "exec_command",
                "arguments": arguments } }),
        json!({ "type": "response_item", "timestamp": "t3", "payload": { "type": "message", "role": "assistant",
                "content": [{ "type": "output_text", "text": message }] } }),
    ]
}

fn copilot_lines(command: &str, message: &str) -> Vec<Value> {
    vec![
        json!({ "type": "user.message", "id": "e1", "data": { "content": "fix it" } }),
        json!({ "type": "assistant.message", "id": "e2", "data": { "content": "",
                "toolRequests": [{ "toolCallId": "c1", "name": "bash", "arguments": { "command": command } }] } }),
        json!({ "type": "tool.execution_complete", "id": "e3", "data": { "toolCallId": "c1", "success": true,
                "shellExecution": { "exitCode": 0 } } }),
        json!({ "type": "assistant.message", "id": "e4", "data": { "content": message, "toolRequests": [] } }),
    ]
}

fn gemini_lines(command: &str, message: &str) -> Vec<Value> {
    vec![
        json!({ "id": "m1", "type": "user", "content": [{ "text": "fix it" }] }),
        json!({ "id": "m2", "type": "gemini", "content": message,
                "toolCalls": [{ "name": "run_shell_command", "args": { "command": command } }] }),
    ]
}

fn qwen_lines(command: &str, message: &str) -> Vec<Value> {
    vec![
        json!({ "uuid": "m1", "type": "user", "message": { "parts": [{ "text": "fix it" }] } }),
        json!({ "uuid": "m2", "type": "assistant", "message": { "parts": [
            { "functionCall": { "id": "c1", "name": "run_shell_command", "args": { "command": command } } }] } }),
        json!({ "uuid": "m3", "type": "assistant", "message": { "parts": [{ "text": message }] } }),
    ]
}

/// A host with a home of its own.
struct Scene<'a> {
    host: &'a Host,
    home: Home,
}

impl<'a> Scene<'a> {
    fn new(host: &'a Host) -> Self {
        Self {
            host,
            home: Home::created(),
        }
    }

    /// Returns the host's input at an event, about a transcript of ours.
    fn recorded(&self, event: &str) -> Value {
        let path = format!(
            "{}/../adapter-core/runtimes/tests/hooks/{}.{event}.json",
            env!("CARGO_MANIFEST_DIR"),
            self.host.tag
        );
        let mut input: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
        for member in ["transcript_path", "transcriptPath"] {
            if input.get(member).is_some() {
                input[member] = json!(self.home.path().join("transcript"));
            }
        }
        input
    }

    /// The input of a stop after the agent ran a command and said something.
    fn stop_after(&self, command: &str, message: &str) -> Value {
        let mut input = self.recorded("stop");
        if let Some(lines) = self.host.transcript {
            let text: Vec<String> = lines(command, message).iter().map(Value::to_string).collect();
            fs::write(self.home.path().join("transcript"), text.join("\n") + "\n").unwrap();
        }
        for member in ["last_assistant_message", "prompt_response"] {
            if input.get(member).is_some() {
                input[member] = json!(message);
            }
        }
        if input.get("last_tool").is_some() {
            input["last_tool"] = json!({ "name": "bash", "input": { "command": command } });
        }
        if input["tool_info"].get("response").is_some() {
            input["tool_info"]["response"] = json!(message);
        }
        input
    }

    fn start(&self, event: &str, input: &Value) -> Client {
        self.home.start_hook(self.host.tag, event, input)
    }

    fn run(&self, event: &str, input: &Value) -> String {
        let began = Instant::now();
        let stdout = self.start(event, input).finish().expect(0).stdout;
        assert!(began.elapsed() < AT_ONCE, "{} {event}", self.host.tag);
        stdout
    }

    #[track_caller]
    fn passes(&self, event: &str, input: &Value) {
        assert_eq!(
            self.run(event, input),
            (self.host.passes)(event),
            "{} {event}",
            self.host.tag
        );
    }

    /// Reads what the host hears.
    #[track_caller]
    fn heard(&self, ear: Ear, stdout: &str) -> String {
        match ear {
            Ear::Deaf => panic!("{} hears nothing here", self.host.tag),
            Ear::Plain => stdout.to_owned(),
            Ear::At(place) => {
                let said: Value = serde_json::from_str(stdout).unwrap();
                let text = said.pointer(place).and_then(Value::as_str);
                text.unwrap_or_else(|| panic!("{}: nothing at {place} in {said}", self.host.tag))
                    .to_owned()
            }
        }
    }

    fn inbox(&self) -> Vec<Value> {
        self.home.inbox()
    }

    /// Waits until somebody is asked, and returns the question.
    fn asked(&self) -> (String, Value) {
        let cue = eventually("a question", || self.inbox().pop());
        (cue["cue_id"].as_str().unwrap().to_owned(), cue)
    }

    /// Waits until a hook waits for a question.
    fn waited_for(&self) -> (String, Value) {
        let cue = self.home.wait_for_one(|_| true);
        (cue["cue_id"].as_str().unwrap().to_owned(), cue)
    }

    /// The agent of the recorded session, after the human has typed there.
    fn agent(&self) -> String {
        self.run("prompt_submit", &self.recorded("prompt_submit"));
        // The turn's beginning and what happens in it must not fall into the same millisecond.
        next_millisecond();
        let agents = self.home.run(&["agents", "--json"]).expect(0).json();
        assert_eq!(agents[0]["agent_runtime"], self.host.tag);
        agents[0]["agent_id"].as_str().unwrap().to_owned()
    }

    fn queued(&self) -> u64 {
        let agents = self.home.run(&["agents", "--json"]).expect(0).json();
        agents[0]["queued"].as_u64().unwrap()
    }

    /// Asks as the agent and stops listening at once.
    fn ask_and_leave(&self, agent: &str, prompt: &str, payload: Option<&str>) -> String {
        self.home.ask_for("1ms", agent, prompt, payload).expect(75);
        self.home.open(prompt).unwrap()["cue_id"]
            .as_str()
            .unwrap()
            .to_owned()
    }

    fn can_hold(&self) -> bool {
        self.host.at_stop != Ear::Deaf
    }
}

/// The agent ended its turn without asking, and the human takes their time.
fn forgetful_agent_and_slow_human(host: &Host) {
    let scene = Scene::new(host);
    let input = scene.stop_after("make test", "Done. The login test passes.");
    if !scene.can_hold() {
        scene.passes("stop", &input);
        let (cue, asked) = scene.asked();
        assert!(
            asked["prompt"]
                .as_str()
                .unwrap()
                .starts_with("Done. The login test passes.\n")
        );
        // The answer waits for the agent's next question.
        scene.home.run(&["answer", &cue, "go on"]).expect(0);
        let agent = asked["agent_id"].as_str().unwrap().to_owned();
        let next = scene
            .home
            .run_with(&["cue", &agent, "-"], &envelope("What next?", None))
            .expect(75);
        assert!(next.stdout.contains("go on\n"), "{}: {}", host.tag, next.stdout);
        return;
    }
    let hook = scene.start("stop", &input);
    let (cue, asked) = scene.waited_for();
    assert_eq!(asked["origin"], "hook");
    assert!(
        asked["prompt"]
            .as_str()
            .unwrap()
            .starts_with("Done. The login test passes.\n"),
        "{asked}"
    );
    remains(&format!("{}: the hook waits", host.tag), SLOW, || {
        hook.is_running()
    });
    assert_eq!(scene.inbox().len(), 1, "{}: it asks once", host.tag);
    scene.home.run(&["answer", &cue, "now the logout test"]).expect(0);
    let text = scene.heard(host.at_stop, &hook.finish().expect(0).stdout);
    assert!(text.starts_with("now the logout test\n"), "{}: {text}", host.tag);
    let shown = scene.home.run(&["show", &cue, "--json"]).expect(0).json();
    assert_eq!(shown["delivery"], "acknowledged", "{}", host.tag);
}

/// The agent asked, and heard the human, before it ended its turn.
fn obedient_agent(host: &Host) {
    let scene = Scene::new(host);
    let agent = scene.agent();
    let (asking, cue) = scene.home.ask(&agent, "Anything else?", None);
    scene.home.run(&["answer", &cue, "no, thanks"]).expect(0);
    asking.finish().expect(0);
    let command = format!("cueme cue {agent} - <<'E'\n<cueme_prompt>\nAnything else?\n</cueme_prompt>\nE");
    scene.passes("stop", &scene.stop_after(&command, "Goodbye."));
    assert!(scene.inbox().is_empty(), "{}", host.tag);
}

fn declining_human(host: &Host) {
    let scene = Scene::new(host);
    let input = scene.stop_after("make test", "Done.");
    if !scene.can_hold() {
        scene.passes("stop", &input);
        scene.home.run(&["decline", &scene.asked().0]).expect(0);
        assert!(scene.inbox().is_empty());
        return;
    }
    let hook = scene.start("stop", &input);
    let (cue, _) = scene.waited_for();
    scene.home.run(&["decline", &cue, "that is all"]).expect(0);
    assert_eq!(
        hook.finish().expect(0).stdout,
        (host.passes)("stop"),
        "{}",
        host.tag
    );
}

fn aborted_turn_and_sub_agent(host: &Host) {
    let scene = Scene::new(host);
    for (member, value) in host.aborted.into_iter().chain([host.subagent]) {
        let mut input = scene.stop_after("make test", "Done.");
        input[member] = json!(value);
        scene.passes("stop", &input);
    }
    let mut prompt = scene.recorded("prompt_submit");
    prompt["agent_id"] = json!("sub-1");
    scene.passes("prompt_submit", &prompt);
    assert!(scene.inbox().is_empty(), "{}", host.tag);
}

fn double_firing(host: &Host) {
    let scene = Scene::new(host);
    let input = scene.stop_after("make test", "Done.");
    if !scene.can_hold() {
        scene.passes("stop", &input);
        scene.passes("stop", &input);
        assert_eq!(scene.inbox().len(), 1, "{}", host.tag);
        return;
    }
    let first = scene.start("stop", &input);
    let (cue, _) = scene.waited_for();
    scene.passes("stop", &input);
    assert_eq!(scene.inbox().len(), 1, "{}", host.tag);
    scene.home.run(&["answer", &cue, "go on"]).expect(0);
    let text = scene.heard(host.at_stop, &first.finish().expect(0).stdout);
    assert!(text.starts_with("go on\n"), "{}: {text}", host.tag);
    // One that comes after the first has finished does not repeat the human's words either.
    scene.passes("stop", &input);
}

fn broker_down(host: &Host) {
    for event in host.events {
        let scene = Scene::new(host);
        // Where the database should be stands a folder, so no broker can start.
        fs::create_dir_all(scene.home.path().join("data/cueme.db")).unwrap();
        scene.passes(event, &scene.recorded(event));
        if host.has_sessions {
            let log = fs::read_to_string(scene.home.path().join("logs/hook.log")).unwrap();
            assert!(log.contains(event), "{} {event}: {log}", host.tag);
        }
    }
}

fn identity(host: &Host) {
    if host.at_start == Ear::Deaf {
        return;
    }
    let scene = Scene::new(host);
    let context = || {
        let stdout = scene.run("session_start", &scene.recorded("session_start"));
        scene.heard(host.at_start, &stdout)
    };
    let first = context();
    let agent = scene.agent();
    assert!(
        first.contains(&format!("your agent_id is {agent}.")),
        "{}: {first}",
        host.tag
    );
    assert_eq!(
        context(),
        first,
        "{}: a resumed session keeps its agent",
        host.tag
    );
}

/// The human typed into the host: what was decided and written elsewhere comes along, open questions close.
fn human_types_locally(host: &Host) {
    let scene = Scene::new(host);
    let agent = scene.agent();
    let port = scene.ask_and_leave(&agent, "Which port?", None);
    if host.at_prompt != Ear::Deaf {
        // No message answers a question with a payload, so it stays open.
        scene.ask_and_leave(&agent, "Deploy?", Some(r#"{"type":"confirm"}"#));
    }
    scene.home.run(&["answer", &port, "8080"]).expect(0);
    let mut other = scene.home.command(&["say", &agent, "use the staging key"]);
    assert!(other.output().unwrap().status.success());
    let input = scene.recorded("prompt_submit");
    if host.at_prompt == Ear::Deaf {
        scene.passes("prompt_submit", &input);
        assert_eq!(
            scene.queued(),
            1,
            "{}: nothing is handed to one who does not listen",
            host.tag
        );
        let next = scene
            .home
            .run_with(&["cue", &agent, "-"], &envelope("And now?", None));
        assert!(next.stdout.contains("8080\n"), "{}: {}", host.tag, next.stdout);
        return;
    }
    let told = scene.heard(host.at_prompt, &scene.run("prompt_submit", &input));
    assert!(told.contains("use the staging key\n"), "{}: {told}", host.tag);
    assert!(
        told.contains("[outcome of your earlier question \"Which port?\"]\n8080\n"),
        "{}: {told}",
        host.tag
    );
    assert!(
        scene.inbox().is_empty(),
        "{}: the question left open was closed",
        host.tag
    );
    assert_eq!(scene.queued(), 0);
    scene.passes("prompt_submit", &input);
    let undelivered = scene.home.run(&["broker", "status", "--json"]).expect(0).json()["undelivered"].clone();
    assert_eq!(undelivered, 0, "{}: everything was acknowledged", host.tag);
}

/// In some hosts the text of a stop hook comes back through the prompt hook; it is not typed by a human.
fn an_echo_is_not_the_human(host: &Host) {
    let scene = Scene::new(host);
    let agent = scene.agent();
    let hook = scene.start("stop", &scene.stop_after("make test", "Done."));
    let (cue, _) = scene.waited_for();
    scene.home.run(&["answer", &cue, "go on"]).expect(0);
    let said = scene.heard(host.at_stop, &hook.finish().expect(0).stdout);
    scene.ask_and_leave(&agent, "Which port?", None);
    let mut echo = scene.recorded("prompt_submit");
    echo["prompt"] = json!(format!("<context>of the session</context>\n{said}"));
    scene.passes("prompt_submit", &echo);
    assert_eq!(scene.inbox().len(), 1, "{}: the question stays open", host.tag);
    scene.run("prompt_submit", &scene.recorded("prompt_submit"));
    assert!(scene.inbox().is_empty(), "{}: now they have typed", host.tag);
}

fn gates(host: &Host) {
    let Some((place, allowed, refused)) = host.gate else {
        return;
    };
    for (words, expected) in [("--confirm", allowed), ("--cancel", refused)] {
        let scene = Scene::new(host);
        let hook = scene.start("pre_tool", &scene.recorded("pre_tool"));
        let (cue, asked) = scene.waited_for();
        assert_eq!(asked["origin"], "approval", "{}", host.tag);
        scene.home.run(&["answer", &cue, words]).expect(0);
        let said = hook.finish().expect(0).json();
        assert_eq!(
            said.pointer(place),
            Some(&json!(expected)),
            "{}: {said}",
            host.tag
        );
    }
}

/// Plays everything that can happen in a host that names its sessions.
fn play(host: &Host) {
    forgetful_agent_and_slow_human(host);
    obedient_agent(host);
    declining_human(host);
    aborted_turn_and_sub_agent(host);
    double_firing(host);
    broker_down(host);
    identity(host);
    human_types_locally(host);
    gates(host);
    if host.at_stop != Ear::Deaf {
        an_echo_is_not_the_human(host);
    }
}

#[test]
fn claude_code() {
    play(&CLAUDE_CODE);
}

#[test]
fn cursor() {
    play(&CURSOR);
}

#[test]
fn codex() {
    play(&CODEX);
    let scene = Scene::new(&CODEX);
    let hook = scene.start("pre_tool", &scene.recorded("pre_tool"));
    let cue = scene.home.wait_for("Framework: Which framework?", 1);
    scene.home.run(&["answer", &cue, "--select", "Axum"]).expect(0);
    let said = hook.finish().expect(0).json();
    assert_eq!(said["hookSpecificOutput"]["permissionDecision"], "deny", "{said}");
    let reason = said["hookSpecificOutput"]["permissionDecisionReason"]
        .as_str()
        .unwrap();
    assert!(reason.contains("Axum"), "{said}");
    for (words, behavior) in [("--confirm", "allow"), ("--cancel", "deny")] {
        let hook = scene.start("permission", &scene.recorded("permission"));
        let (cue, _) = scene.waited_for();
        scene.home.run(&["answer", &cue, words]).expect(0);
        let said = hook.finish().expect(0).json();
        assert_eq!(
            said["hookSpecificOutput"]["decision"]["behavior"], behavior,
            "{said}"
        );
    }
}

#[test]
fn vscode() {
    play(&VSCODE);
}

#[test]
fn copilot_cli() {
    play(&COPILOT_CLI);
}

#[test]
fn gemini_cli() {
    play(&GEMINI_CLI);
}

#[test]
fn qwen_code() {
    play(&QWEN_CODE);
}

#[test]
fn opencode() {
    play(&OPENCODE);
}

#[test]
fn windsurf_can_only_be_watched() {
    play(&WINDSURF);
}

/// Kiro names no session, so there is nobody whose agent could be asked for; nothing may break for it.
#[test]
fn kiro_is_left_alone() {
    let scene = Scene::new(&KIRO);
    for event in KIRO.events {
        scene.passes(event, &scene.recorded(event));
    }
    assert!(scene.inbox().is_empty());
    broker_down(&KIRO);
}
