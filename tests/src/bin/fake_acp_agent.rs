//! A double of an ACP agent for tests: JSON-RPC lines on stdin and stdout.
//!
//! It plays the scenario named by `FAKE_ACP_SCENARIO` for every prompt. Its input goes to the file named by
//! `FAKE_ACP_LOG`, as it was written. `acp --help` says that there is such a command, as Cursor's CLI does.

use std::io::{self, BufRead, StdinLock, Write};
use std::process::{Command, ExitCode};

use serde_json::{Value, json};

/// The id of every request of the double; the editor's own ids may be the same.
const REQUEST: u64 = 1;
const SESSION: &str = "5e55-1";
/// Longer than any line that is read.
const HUGE_BYTES: usize = 17 * 1024 * 1024;

fn main() -> ExitCode {
    if std::env::args().any(|word| word == "--help") {
        println!("Usage: agent acp [options]\n\nStart the ACP server");
        return ExitCode::SUCCESS;
    }
    let mut agent = Agent {
        input: io::stdin().lock(),
        scenario: std::env::var("FAKE_ACP_SCENARIO").unwrap_or_default(),
    };
    while let Some(message) = agent.read() {
        if let Some(code) = agent.handle(&message) {
            return ExitCode::from(code);
        }
    }
    ExitCode::SUCCESS
}

struct Agent {
    input: StdinLock<'static>,
    scenario: String,
}

impl Agent {
    /// Returns the next message; `None` at the end.
    fn read(&mut self) -> Option<Value> {
        loop {
            let mut line = String::new();
            if self.input.read_line(&mut line).ok()? == 0 {
                return None;
            }
            log(&line);
            if let Ok(message) = serde_json::from_str(&line) {
                return Some(message);
            }
        }
    }

    /// Answers a message; returns how the process ends, if it does.
    fn handle(&mut self, message: &Value) -> Option<u8> {
        let id = message.get("id")?;
        match message["method"].as_str()? {
            "initialize" => reply(
                id,
                &json!({"protocolVersion": 1, "agentCapabilities": {"loadSession": true}}),
            ),
            "session/new" => reply(
                id,
                &json!({"sessionId": SESSION, "models": {"currentModelId": "double-1"}}),
            ),
            "session/load" => {
                // The scenario is of the first turn; what follows only says something.
                "silent".clone_into(&mut self.scenario);
                say("what was said before");
                reply(id, &json!({}));
            }
            "session/prompt" => {
                let text = message["params"]["prompt"][0]["text"]
                    .as_str()
                    .unwrap_or_default()
                    .to_owned();
                return self.play(id, &text);
            }
            method => reply(id, &json!({"echo": method, "params": message["params"]})),
        }
        None
    }

    fn play(&mut self, id: &Value, prompt: &str) -> Option<u8> {
        let told = match self.scenario.as_str() {
            "permission" => self.ask("session/request_permission", &permission()),
            "ask" => self.ask("cursor/ask_question", &question()),
            "plan" => self.ask(
                "cursor/create_plan",
                &json!({"toolCallId": "p", "name": "Auth", "plan": "1. write it"}),
            ),
            "elicit" => self.ask("elicitation/create", &elicitation()),
            "die" => {
                request("session/request_permission", &permission());
                eprintln!("out of memory");
                return Some(3);
            }
            "hang" => {
                request("session/request_permission", &permission());
                while self.read().is_some() {}
                return Some(0);
            }
            "malformed" => {
                print_line("Update available!");
                print_line("{\"jsonrpc\": torn");
                json!("after the noise")
            }
            "huge" => {
                let update = json!({"sessionUpdate": "agent_thought_chunk", "content": {"text": "x".repeat(HUGE_BYTES)}});
                tell("session/update", &json!({"sessionId": SESSION, "update": update}));
                json!("after the huge line")
            }
            "cue" => run_cue(),
            _ => json!(format!(
                "done with: {}",
                prompt.lines().last().unwrap_or_default()
            )),
        };
        say(&told.as_str().map_or_else(|| told.to_string(), str::to_owned));
        reply(id, &json!({"stopReason": "end_turn"}));
        None
    }

    /// Sends a request and returns its result, answering nothing meanwhile.
    fn ask(&mut self, method: &str, params: &Value) -> Value {
        request(method, params);
        while let Some(message) = self.read() {
            if message.get("method").is_none() && message["id"] == REQUEST {
                return message["result"].clone();
            }
        }
        Value::Null
    }
}

/// Runs the command of the test as a tool, as an agent does that follows the protocol.
fn run_cue() -> Value {
    let command = std::env::var("FAKE_CURSOR_CUE").unwrap_or_default();
    let shown = "cueme cue bako-nefi -";
    let call = json!({"sessionUpdate": "tool_call", "toolCallId": "cue", "kind": "execute", "title": "Shell", "rawInput": {"command": shown}});
    tell("session/update", &json!({"sessionId": SESSION, "update": call}));
    let output = Command::new("sh").args(["-c", &command]).output();
    let code = output.as_ref().ok().and_then(|output| output.status.code());
    let said = output
        .map(|output| String::from_utf8_lossy(&output.stdout).into_owned())
        .unwrap_or_default();
    let ended = json!({"sessionUpdate": "tool_call_update", "toolCallId": "cue", "status": "completed", "rawOutput": {"exitCode": code}});
    tell("session/update", &json!({"sessionId": SESSION, "update": ended}));
    json!(said)
}

fn permission() -> Value {
    let call = json!({"sessionUpdate": "tool_call", "toolCallId": "c1", "kind": "execute", "title": "Shell", "status": "pending",
        "rawInput": {"command": "rm -rf build", "timeout": 7}});
    tell("session/update", &json!({"sessionId": SESSION, "update": call}));
    let options = json!([{"optionId": "yes", "name": "Allow", "kind": "allow_once"}, {"optionId": "no", "name": "Reject", "kind": "reject_once"}]);
    json!({"sessionId": SESSION, "toolCall": {"toolCallId": "c1"}, "options": options})
}

fn question() -> Value {
    let options = json!([{"id": "a", "label": "Stripe"}, {"id": "b", "label": "Adyen"}]);
    json!({"toolCallId": "q", "title": "Payments", "questions": [{"id": "q1", "prompt": "Which one?", "options": options}]})
}

fn elicitation() -> Value {
    let port = json!({"type": "integer", "title": "Port"});
    let schema = json!({"type": "object", "properties": {"port": port}, "required": ["port"]});
    json!({"sessionId": SESSION, "mode": "form", "message": "Which port?", "requestedSchema": schema})
}

fn say(text: &str) {
    let update = json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}});
    tell("session/update", &json!({"sessionId": SESSION, "update": update}));
}

fn tell(method: &str, params: &Value) {
    print_line(&json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string());
}

fn request(method: &str, params: &Value) {
    print_line(&json!({"jsonrpc": "2.0", "id": REQUEST, "method": method, "params": params}).to_string());
}

fn reply(id: &Value, result: &Value) {
    print_line(&json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string());
}

fn print_line(line: &str) {
    let mut stdout = io::stdout().lock();
    // An editor that is gone ends the double by the end of its stdin.
    let _ = writeln!(stdout, "{line}");
    let _ = stdout.flush();
}

fn log(line: &str) {
    let Some(path) = std::env::var_os("FAKE_ACP_LOG") else {
        return;
    };
    let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
    if let Ok(mut file) = file {
        let _ = file.write_all(line.as_bytes());
    }
}
