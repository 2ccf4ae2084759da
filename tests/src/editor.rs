//! An editor that speaks the Agent Client Protocol: one JSON-RPC message a line, on stdin and stdout.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::process::{Pid, Signal};
use serde_json::{Value, json};

use crate::eventually;

/// The reaction of an editor to an agent's question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Manners {
    /// It has no such method.
    Refuses,
    /// It shows a dialog, and nobody is there.
    Waits,
}

/// An agent under an editor. Its process group is killed at the end.
#[derive(Debug)]
pub struct Editor {
    agent: Child,
    shared: Arc<Mutex<Shared>>,
    last_id: u64,
}

#[derive(Debug)]
struct Shared {
    stdin: Option<ChildStdin>,
    manners: Manners,
    /// Every line of the agent, as it was written.
    lines: Vec<String>,
}

impl Editor {
    /// Starts the agent. Its stderr goes where `command` leads it, and else nowhere.
    #[track_caller]
    pub fn start(command: &mut Command, manners: Manners) -> Self {
        let mut agent = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .process_group(0)
            .spawn()
            .unwrap_or_else(|error| panic!("could not start the adapter: {error}"));
        let (Some(stdin), Some(stdout)) = (agent.stdin.take(), agent.stdout.take()) else {
            panic!("the adapter has no pipes");
        };
        let shared = Arc::new(Mutex::new(Shared {
            stdin: Some(stdin),
            manners,
            lines: Vec::new(),
        }));
        let reader = Arc::clone(&shared);
        std::thread::spawn(move || read(stdout, &reader));
        Self {
            agent,
            shared,
            last_id: 0,
        }
    }

    /// Calls a method; returns the id by which its reply is known.
    pub fn call(&mut self, method: &str, params: &Value) -> u64 {
        self.last_id += 1;
        let id = self.last_id;
        self.write(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string());
        id
    }

    /// Says hello and makes a session in a folder; returns its id.
    #[track_caller]
    pub fn begin(&mut self, folder: &str) -> String {
        let hello = json!({ "protocolVersion": 1, "clientCapabilities": {} });
        let hello = self.call("initialize", &hello);
        eventually("the agent says hello", || self.reply(hello));
        let made = self.call("session/new", &json!({ "cwd": folder, "mcpServers": [] }));
        let session = eventually("a session", || self.reply(made));
        let id = session["result"]["sessionId"].as_str();
        id.unwrap_or_else(|| panic!("no session: {session}")).to_owned()
    }

    /// Gives the agent a task; returns the id of the call.
    pub fn prompt(&mut self, session: &str, text: &str) -> u64 {
        let prompt = json!([{ "type": "text", "text": text }]);
        self.call(
            "session/prompt",
            &json!({ "sessionId": session, "prompt": prompt }),
        )
    }

    /// Returns the reply to a call, once it has come.
    pub fn reply(&self, id: u64) -> Option<Value> {
        let is_reply = |message: &Value| message.get("method").is_none() && message["id"] == id;
        self.messages().into_iter().find(is_reply)
    }

    /// Waits for a message of the agent with this method.
    #[track_caller]
    pub fn told(&self, method: &str) -> Value {
        let found = || {
            self.messages()
                .into_iter()
                .find(|message| message["method"] == method)
        };
        eventually(&format!("{method} reaches the editor"), found)
    }

    /// Returns every message of the agent that is JSON.
    pub fn messages(&self) -> Vec<Value> {
        let shared = lock(&self.shared);
        shared
            .lines
            .iter()
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect()
    }

    /// Returns every line of the agent, as it was written.
    pub fn lines(&self) -> Vec<String> {
        lock(&self.shared).lines.clone()
    }

    /// Writes a line as it is.
    pub fn write(&self, line: &str) {
        lock(&self.shared).write(line);
    }

    /// Closes its end, as an editor does that quits.
    pub fn close(&self) {
        lock(&self.shared).stdin = None;
    }

    /// Returns the process that the editor started.
    pub fn id(&self) -> u32 {
        self.agent.id()
    }

    /// Returns how the agent ended, once it has.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.agent.try_wait().ok().flatten()
    }
}

impl Drop for Editor {
    fn drop(&mut self) {
        if let Some(group) = i32::try_from(self.agent.id()).ok().and_then(Pid::from_raw) {
            // Fails when all of them have ended.
            let _ = rustix::process::kill_process_group(group, Signal::KILL);
        }
        let _ = self.agent.wait();
    }
}

impl Shared {
    fn write(&mut self, line: &str) {
        // An agent that is gone gives no reply, which fails the test.
        if let Some(stdin) = &mut self.stdin {
            let _ = writeln!(stdin, "{line}");
        }
    }
}

/// Keeps every line, and refuses what the agent asks where that is the editor's way.
fn read(stdout: ChildStdout, shared: &Mutex<Shared>) {
    for line in BufReader::new(stdout).lines().map_while(Result::ok) {
        let mut shared = lock(shared);
        let message: Value = serde_json::from_str(&line).unwrap_or_default();
        shared.lines.push(line);
        let (method, id) = (message.get("method"), &message["id"]);
        if shared.manners == Manners::Refuses && method.is_some() && !id.is_null() {
            let error = json!({ "code": -32601, "message": "this editor has no such method" });
            shared.write(&json!({ "jsonrpc": "2.0", "id": id, "error": error }).to_string());
        }
    }
}

fn lock(shared: &Mutex<Shared>) -> MutexGuard<'_, Shared> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
