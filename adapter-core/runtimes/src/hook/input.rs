//! Decodes what a host writes to a hook.

use std::{path::PathBuf, str::FromStr};

use protocol_spec::hex::hex;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::{CallResult, ToolCall, Turn, host};
use crate::Runtime;

/// The largest input that is decoded: a prompt with pasted files is large, a hundred megabytes is a mistake.
pub const INPUT_BYTES_MAX: usize = 32 * 1024 * 1024;

/// The number of digest bytes that identify a message.
const MESSAGE_KEY_BYTES: usize = 8;

/// The event of a hook, in our terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Event {
    /// A session begins or is resumed.
    SessionStart,
    /// The human typed a prompt into the runtime.
    PromptSubmit,
    /// The agent ends its turn.
    Stop,
    /// A tool is about to run.
    PreTool,
    /// The runtime would ask for permission.
    Permission,
    /// A tool is about to run: our own calls are let through, and nobody is asked about any other.
    OwnCall,
    /// A session ends.
    SessionEnd,
}

impl Event {
    /// Every event.
    pub const ALL: [Event; 7] = [
        Event::SessionStart,
        Event::PromptSubmit,
        Event::Stop,
        Event::PreTool,
        Event::Permission,
        Event::OwnCall,
        Event::SessionEnd,
    ];

    /// Returns the word that command lines use.
    pub fn word(self) -> &'static str {
        match self {
            Event::SessionStart => "session_start",
            Event::PromptSubmit => "prompt_submit",
            Event::Stop => "stop",
            Event::PreTool => "pre_tool",
            Event::Permission => "permission",
            Event::OwnCall => "own_call",
            Event::SessionEnd => "session_end",
        }
    }
}

/// An event word that is none of ours.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error(
    "unknown hook event {0:?}: write session_start, prompt_submit, stop, pre_tool, permission, own_call or session_end"
)]
pub struct UnknownEvent(String);

impl FromStr for Event {
    type Err = UnknownEvent;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        Event::ALL
            .into_iter()
            .find(|event| event.word() == word)
            .ok_or_else(|| UnknownEvent(word.to_owned()))
    }
}

/// The end of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TurnStatus {
    /// The agent thinks it is done.
    Completed,
    /// The human stopped it.
    Aborted,
    /// It failed.
    Failed,
}

/// The input of a hook, in one shape for all hosts.
#[derive(Debug, Clone, PartialEq)]
pub struct HookInput {
    /// The host that runs the hook.
    pub host: Runtime,
    /// The runtime whose settings the hook stands in.
    pub installed_for: Runtime,
    /// The event.
    pub event: Event,
    /// The session, as the host names it.
    pub session: Option<String>,
    /// The turn, as the host names it.
    pub turn: Option<String>,
    /// The folder the agent works in.
    pub folder: Option<PathBuf>,
    /// The end of the turn; [`TurnStatus::Completed`] if the host does not report it.
    pub status: TurnStatus,
    /// The number of times that a hook has continued this turn.
    pub loop_count: u64,
    /// Whether this turn already goes on because of a hook.
    pub stop_hook_active: bool,
    /// Whether a sub-agent speaks, not the agent itself.
    pub subagent: bool,
    /// Whether the agent left work running in the background, so that it is not done.
    pub background_work: bool,
    /// The agent's last words, where the host tells them.
    pub last_message: Option<String>,
    /// The last tool that the agent used in this turn, where the host tells it.
    pub last_call: Option<ToolCall>,
    /// The result of that call.
    pub last_result: CallResult,
    /// The process of the host, where it tells.
    pub host_pid: Option<i32>,
    /// When the host called the hook, in milliseconds, where it tells.
    pub called_at: Option<i64>,
    /// The file with the session's messages.
    pub transcript: Option<PathBuf>,
    /// The human's prompt.
    pub prompt: Option<String>,
    /// The prompt that this event belongs to, as the host names it.
    pub prompt_id: Option<String>,
    /// Whether the host says that the prompt is not one of its own requests but a human's.
    pub is_submitted: bool,
    /// The tool that is about to run.
    pub tool: Option<ToolCall>,
    /// Why the session started: `startup`, `resume`, `compact` and so on.
    pub source: Option<String>,
}

impl HookInput {
    /// Returns the key by which two hosts that run the same hook for the same end of a turn know of each other.
    ///
    /// `last_id` is the id of the turn's last message in the transcript. It matters even where the host names turns:
    /// a turn that a hook continued keeps its name and ends again. A hash of the last message stands in for it.
    pub fn turn_key(&self, last_id: Option<&str>) -> Option<String> {
        let session = self.session.as_deref()?;
        let end = match (last_id, &self.last_message) {
            (Some(id), _) => Some(id.to_owned()),
            (None, Some(message)) => Some(message_key(message)),
            (None, None) => None,
        };
        if self.turn.is_none() && end.is_none() {
            return None;
        }
        let turn = self.turn.as_deref().unwrap_or("-");
        let end = end.as_deref().unwrap_or("-");
        // Either host counts or only says that it goes on; both tell a repeated "Done." from the first.
        let round = self.loop_count.max(u64::from(self.stop_hook_active));
        Some(format!("{session}/{turn}/{end}/{round}"))
    }

    /// Tells whether the transcript has this end of the turn, and not only what came before it.
    ///
    /// Where the host tells the agent's last words itself, the record has to end with them: a call before them may be
    /// missing otherwise.
    pub fn is_recorded_in(&self, turn: Option<&Turn>) -> bool {
        let Some(turn) = turn else {
            return false;
        };
        if let Some(told) = &self.last_message {
            let recorded = turn.last_message.as_deref().unwrap_or_default().trim();
            return !recorded.is_empty() && told.trim().ends_with(recorded);
        }
        match (self.called_at, turn.stop_hook_at) {
            (Some(called), Some(recorded)) => called == recorded,
            _ => turn.is_ended,
        }
    }
}

/// Why an input could not be decoded; the hook then stays out of the host's way.
#[derive(Debug, thiserror::Error)]
pub enum DecodeError {
    /// There is far too much of it.
    #[error("the hook's input has {bytes} bytes, more than {INPUT_BYTES_MAX}")]
    TooLarge {
        /// The size.
        bytes: usize,
    },
    /// It is no JSON.
    #[error("the hook's input is not JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// It is not an object.
    #[error("the hook's input is not a JSON object")]
    NotAnObject,
}

/// Decodes what a host wrote to the hook that was installed for a runtime and an event.
///
/// `variable` looks an environment variable up. Only the outermost shape must be right: a member that is missing or of
/// another type reads as absent, because hosts add and rename members as they like.
pub fn decode(
    installed_for: Runtime,
    event: Event,
    stdin: &[u8],
    variable: impl Fn(&str) -> Option<String>,
) -> Result<HookInput, DecodeError> {
    if stdin.len() > INPUT_BYTES_MAX {
        return Err(DecodeError::TooLarge { bytes: stdin.len() });
    }
    // Kiro gives some hooks no input at all.
    let value: Value = if stdin.trim_ascii().is_empty() {
        Value::Object(serde_json::Map::new())
    } else {
        serde_json::from_slice(stdin)?
    };
    if !value.is_object() {
        return Err(DecodeError::NotAnObject);
    }
    let host = host::detect(installed_for, &value, &variable);
    let members = Members(&value);
    Ok(HookInput {
        host,
        installed_for,
        event,
        session: members.text(&["conversation_id", "session_id", "sessionId", "trajectory_id"]),
        turn: members.text(&["generation_id", "turn_id", "execution_id"]),
        folder: folder(&members, &variable),
        status: status(&members),
        loop_count: members.number("loop_count"),
        stop_hook_active: members.flag("stop_hook_active"),
        subagent: is_subagent(&members),
        background_work: members
            .array("background_tasks")
            .is_some_and(|tasks| !tasks.is_empty()),
        last_message: last_message(&members),
        last_call: last_call(&value),
        last_result: last_result(&value),
        host_pid: value
            .get("host_pid")
            .and_then(Value::as_i64)
            .and_then(|pid| pid.try_into().ok()),
        called_at: value.get("timestamp").and_then(Value::as_i64),
        transcript: members
            .text(&["transcript_path", "transcriptPath"])
            .or_else(|| variable("CURSOR_TRANSCRIPT_PATH"))
            .map(PathBuf::from),
        prompt: prompt(&members, &variable),
        prompt_id: members.text(&["prompt_id"]),
        is_submitted: members.text(&["submitted_prompt"]).is_some(),
        tool: tool(&value),
        source: members.text(&["source"]),
    })
}

/// The members of an input, read leniently.
struct Members<'a>(&'a Value);

impl Members<'_> {
    /// Returns the first of these members that is a text with something in it.
    fn text(&self, names: &[&str]) -> Option<String> {
        names
            .iter()
            .filter_map(|name| self.0.get(name)?.as_str())
            .find(|text| !text.is_empty())
            .map(str::to_owned)
    }

    fn inner(&self, object: &str, name: &str) -> Option<String> {
        Some(self.0.get(object)?.get(name)?.as_str()?.to_owned()).filter(|text| !text.is_empty())
    }

    fn flag(&self, name: &str) -> bool {
        self.0.get(name).and_then(Value::as_bool).unwrap_or(false)
    }

    fn number(&self, name: &str) -> u64 {
        self.0.get(name).and_then(Value::as_u64).unwrap_or(0)
    }

    fn array(&self, name: &str) -> Option<&Vec<Value>> {
        self.0.get(name)?.as_array()
    }
}

fn folder(members: &Members<'_>, variable: &impl Fn(&str) -> Option<String>) -> Option<PathBuf> {
    let root = || Some(members.array("workspace_roots")?.first()?.as_str()?.to_owned());
    members
        .text(&["cwd"])
        .or_else(root)
        .or_else(|| members.inner("tool_info", "cwd"))
        .or_else(|| variable("CURSOR_PROJECT_DIR"))
        .or_else(|| variable("CLAUDE_PROJECT_DIR"))
        .map(PathBuf::from)
}

fn status(members: &Members<'_>) -> TurnStatus {
    match members.text(&["status"]).as_deref() {
        Some("aborted" | "cancelled") => TurnStatus::Aborted,
        Some("error" | "failed") => TurnStatus::Failed,
        _ => TurnStatus::Completed,
    }
}

fn is_subagent(members: &Members<'_>) -> bool {
    let event = members
        .text(&["hook_event_name", "hookEventName"])
        .unwrap_or_default();
    event.eq_ignore_ascii_case("subagentstop")
        || members.text(&["agent_id", "parent_id", "subagent_id"]).is_some()
}

fn last_message(members: &Members<'_>) -> Option<String> {
    members
        .text(&["last_assistant_message", "prompt_response"])
        .or_else(|| members.inner("tool_info", "response"))
        .filter(|text| !text.trim().is_empty())
}

fn prompt(members: &Members<'_>, variable: &impl Fn(&str) -> Option<String>) -> Option<String> {
    members
        .text(&["prompt", "user_prompt", "initialPrompt"])
        .or_else(|| members.inner("tool_info", "user_prompt"))
        .or_else(|| variable("USER_PROMPT"))
}

fn tool(value: &Value) -> Option<ToolCall> {
    let Some(name) = value.get("tool_name").or_else(|| value.get("toolName")) else {
        return shell_command(value);
    };
    let name = name.as_str()?;
    let input = value
        .get("tool_input")
        .or_else(|| value.get("toolArgs"))
        .cloned()
        .unwrap_or(Value::Null);
    // Cursor's gate before an MCP tool names the server by the command that starts it, or by its address.
    let server = value.get("command").or_else(|| value.get("url"));
    Some(ToolCall {
        name: match server.and_then(Value::as_str) {
            Some(server) => format!("{name} ({server})"),
            None => name.to_owned(),
        },
        input: unpacked(input),
    })
}

/// Cursor's gate before a shell command gives the command itself.
fn shell_command(value: &Value) -> Option<ToolCall> {
    value.get("command")?.as_str()?;
    let input = ["command", "cwd", "sandbox"]
        .iter()
        .filter_map(|name| Some(((*name).to_owned(), value.get(name)?.clone())))
        .collect();
    Some(ToolCall {
        name: "Shell".to_owned(),
        input: Value::Object(input),
    })
}

fn last_call(value: &Value) -> Option<ToolCall> {
    let call = value.get("last_tool")?;
    let name = call.get("name")?.as_str()?.to_owned();
    Some(ToolCall {
        name,
        input: call.get("input").cloned().unwrap_or(Value::Null),
    })
}

/// The last call as our own plugin reports it: the state of the tool, and the exit code of a command.
fn last_result(value: &Value) -> CallResult {
    let call = value.get("last_tool").unwrap_or(&Value::Null);
    let exit = call.get("exit").and_then(Value::as_i64);
    match (call.get("status").and_then(Value::as_str), exit) {
        (Some("completed"), Some(code)) => CallResult::of_exit(code),
        (Some("completed"), None) => CallResult::Succeeded,
        (Some("error"), exit) => CallResult::Failed { exit },
        (Some("pending" | "running"), _) => CallResult::Running { handle: None },
        _ => CallResult::Unknown,
    }
}

/// Some hosts give a tool's input as JSON inside a text.
fn unpacked(input: Value) -> Value {
    match &input {
        Value::String(text) => serde_json::from_str(text).unwrap_or(input),
        _ => input,
    }
}

fn message_key(message: &str) -> String {
    hex(&Sha256::digest(message.trim().as_bytes())[..MESSAGE_KEY_BYTES])
}
