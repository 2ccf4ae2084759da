//! Writes the stream in the shapes the real CLI has.

use std::io::Write;
use std::time::Duration;

use serde_json::{Value, json};

/// The size of a slow stream's writes, in bytes.
const TRICKLE_BYTES: usize = 7;

/// The event after a segment of text; it decides the shape of the re-send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Before {
    Tool,
    Query,
    End,
}

/// The stdout of the double.
#[derive(Debug)]
pub(crate) struct Stream {
    pub(crate) session: String,
    partial: bool,
    clock: u64,
    calls: u32,
    said: String,
    pub(crate) newline: &'static str,
    /// The pause for each few bytes of a slow stream.
    pub(crate) pace: Duration,
}

impl Stream {
    pub(crate) fn new(session: String, partial: bool) -> Self {
        Self {
            session,
            partial,
            clock: 1_790_000_000_000,
            calls: 0,
            said: String::new(),
            newline: "\n",
            pace: Duration::ZERO,
        }
    }

    /// Writes bytes as they are.
    pub(crate) fn raw(&mut self, bytes: impl AsRef<[u8]>) {
        let bytes = bytes.as_ref();
        let step = if self.pace.is_zero() {
            bytes.len()
        } else {
            TRICKLE_BYTES
        };
        let mut out = std::io::stdout().lock();
        for part in bytes.chunks(step.max(1)) {
            let _ = out.write_all(part);
            let _ = out.flush();
            std::thread::sleep(self.pace);
        }
    }

    pub(crate) fn line(&mut self, line: &Value) {
        let line = format!("{line}{}", self.newline);
        self.raw(line);
    }

    pub(crate) fn init(&mut self, prompt: &str) {
        let cwd = std::env::current_dir().unwrap_or_default();
        self.line(&json!({"type":"system","subtype":"init","apiKeySource":"login","cwd":cwd,"session_id":self.session,"model":"Fake 1","permissionMode":"default"}));
        self.line(&json!({"type":"user","message":{"role":"user","content":[{"type":"text","text":prompt}]},"session_id":self.session}));
        self.line(&json!({"type":"thinking","subtype":"delta","text":"hm","session_id":self.session,"timestamp_ms":self.clock}));
        self.line(&json!({"type":"thinking","subtype":"completed","session_id":self.session,"timestamp_ms":self.clock}));
    }

    /// Says a segment: in partial mode word by word and then whole, else once.
    pub(crate) fn say(&mut self, text: &str, before: Before) {
        self.said.push_str(text);
        if self.partial {
            for word in text.split_inclusive(' ') {
                self.clock += 1;
                let clock = self.clock;
                self.assistant(word, Some(clock), false);
            }
        }
        let clock = self.clock;
        match before {
            Before::Tool => self.assistant(text, Some(clock), true),
            Before::Query if self.partial => self.assistant(text, Some(clock), false),
            Before::Query => self.assistant(text, Some(clock), true),
            Before::End => self.assistant(text, None, false),
        }
    }

    fn assistant(&mut self, text: &str, clock: Option<u64>, model_call: bool) {
        let mut line = json!({"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":text}]},"session_id":self.session});
        if let Some(clock) = clock {
            line["timestamp_ms"] = json!(clock);
        }
        if model_call {
            line["model_call_id"] = json!("m-0");
        }
        self.line(&line);
    }

    /// Starts a tool and returns the id of the call.
    pub(crate) fn start(&mut self, key: &str, args: &Value) -> String {
        self.calls += 1;
        let id = format!("call_{}\nfc_{}", self.calls, self.calls);
        let mut tool = json!({"hookAdditionalContexts":[],"toolCallId":id,"startedAtMs":"1790000000001"});
        tool[key] = json!({"args":args});
        self.line(&json!({"type":"tool_call","subtype":"started","call_id":id,"tool_call":tool,"model_call_id":"m-0","session_id":self.session,"timestamp_ms":self.clock}));
        id
    }

    /// Ends a tool; a rejected one carries no arguments.
    pub(crate) fn complete(&mut self, id: &str, key: &str, args: Option<&Value>, result: &Value) {
        let mut body = json!({"result":result});
        if let Some(args) = args {
            body["args"] = args.clone();
        }
        let mut tool = json!({"hookAdditionalContexts":[],"toolCallId":id,"startedAtMs":"1790000000001","completedAtMs":"1790000000002"});
        tool[key] = body;
        self.line(&json!({"type":"tool_call","subtype":"completed","call_id":id,"tool_call":tool,"session_id":self.session,"timestamp_ms":self.clock}));
    }

    /// Runs a shell call from start to end with this outcome.
    pub(crate) fn shell(&mut self, command: &str, exit: i32, background: bool) {
        let args = json!({"command":command,"workingDirectory":"","timeout":30000,"timeoutBehavior":"TIMEOUT_BEHAVIOR_BACKGROUND","hardTimeout":86_400_000,"isBackground":false,"closeStdin":true});
        let id = self.start("shellToolCall", &args);
        let variant = if exit == 0 { "success" } else { "failure" };
        let mut result = json!({"isBackground":background});
        result[variant] =
            json!({"command":command,"exitCode":exit,"stdout":"","stderr":"","executionTime":5});
        self.complete(&id, "shellToolCall", Some(&args), &result);
    }

    pub(crate) fn query(&mut self, kind: &str, query: &Value, response: &Value) {
        let (mut ask, mut answer) = (json!({"id":0}), json!({"id":0}));
        ask[kind] = query.clone();
        answer[kind.replace("Query", "Response").as_str()] = response.clone();
        self.line(&json!({"type":"interaction_query","subtype":"request","query_type":kind,"query":ask,"session_id":self.session,"timestamp_ms":self.clock}));
        self.line(&json!({"type":"interaction_query","subtype":"response","query_type":kind,"response":answer,"session_id":self.session,"timestamp_ms":self.clock}));
    }

    pub(crate) fn reconnect(&mut self) {
        self.line(&json!({"type":"connection","subtype":"reconnecting","session_id":self.session,"timestamp_ms":self.clock,"attempt":1,"endpoint_url":"https://fake"}));
        self.line(&json!({"type":"retry","subtype":"starting","session_id":self.session,"timestamp_ms":self.clock,"attempt":1,"is_resume":true}));
        self.line(&json!({"type":"connection","subtype":"reconnected","session_id":self.session,"timestamp_ms":self.clock}));
    }

    pub(crate) fn result(&mut self) {
        let said = self.said.clone();
        self.result_with(&said, true);
    }

    pub(crate) fn result_with(&mut self, text: &str, usage: bool) {
        let mut line = json!({"type":"result","subtype":"success","duration_ms":10,"duration_api_ms":10,"is_error":false,"result":text,"session_id":self.session,"request_id":"r-0"});
        if usage {
            line["usage"] =
                json!({"inputTokens":10,"outputTokens":2,"cacheReadTokens":7,"cacheWriteTokens":0});
        }
        self.line(&line);
    }
}
