//! An editor that speaks the Agent Client Protocol: one JSON-RPC message a line, on stdin and stdout.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::process::{Pid, Signal};
use serde_json::{Value, json};

/// An agent under an editor. Its process group is killed at the end.
#[derive(Debug)]
pub(crate) struct Acp {
    agent: Child,
    shared: Arc<Mutex<Shared>>,
    last_id: u64,
}

#[derive(Debug)]
struct Shared {
    stdin: ChildStdin,
    replies: BTreeMap<u64, Value>,
}

impl Acp {
    /// Starts the agent.
    pub(crate) fn start(command: &mut Command) -> Self {
        let mut agent = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .unwrap_or_else(|error| panic!("could not start the adapter: {error}"));
        let (Some(stdin), Some(stdout)) = (agent.stdin.take(), agent.stdout.take()) else {
            panic!("the adapter has no pipes");
        };
        let shared = Arc::new(Mutex::new(Shared {
            stdin,
            replies: BTreeMap::new(),
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
    pub(crate) fn call(&mut self, method: &str, params: &Value) -> u64 {
        self.last_id += 1;
        let id = self.last_id;
        lock(&self.shared).write(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    /// Returns the reply to a call, once it has come.
    pub(crate) fn reply(&self, id: u64) -> Option<Value> {
        lock(&self.shared).replies.get(&id).cloned()
    }
}

impl Drop for Acp {
    fn drop(&mut self) {
        if let Some(group) = i32::try_from(self.agent.id()).ok().and_then(Pid::from_raw) {
            // Fails when all of them have ended.
            let _ = rustix::process::kill_process_group(group, Signal::KILL);
        }
        let _ = self.agent.wait();
    }
}

impl Shared {
    fn write(&mut self, message: &Value) {
        // An agent that is gone gives no reply, which fails the test.
        let _ = writeln!(self.stdin, "{message}");
    }
}

/// Keeps replies, refuses what the agent asks of an editor, and drops what it merely tells.
fn read(stdout: ChildStdout, shared: &Mutex<Shared>) {
    for line in BufReader::new(stdout).lines().map_while(Result::ok) {
        let Ok(message) = serde_json::from_str::<Value>(&line) else {
            continue;
        };
        let mut shared = lock(shared);
        match (message.get("method"), &message["id"]) {
            (None, Value::Number(id)) => {
                shared.replies.insert(id.as_u64().unwrap_or_default(), message);
            }
            (Some(_), id) if !id.is_null() => {
                let error = json!({ "code": -32601, "message": "this editor has no such method" });
                shared.write(&json!({ "jsonrpc": "2.0", "id": id, "error": error }));
            }
            _ => {}
        }
    }
}

fn lock(shared: &Mutex<Shared>) -> MutexGuard<'_, Shared> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
