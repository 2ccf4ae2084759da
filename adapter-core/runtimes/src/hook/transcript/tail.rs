//! Finds the last turn in the tail of a transcript.

use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom},
    path::Path,
};

use serde_json::Value;

use super::CallResult;
use super::entry::{Entry, Said, entries};
use crate::hook::ToolCall;

/// The size of a transcript's tail that is read.
pub const TAIL_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// The tools that read on from a command that runs in the background, with the member that names it.
const READERS: [(&str, &str); 5] = [
    ("write_stdin", "session_id"),
    ("read_bash", "shellId"),
    ("BashOutput", "bash_id"),
    ("TaskOutput", "task_id"),
    ("AgentOutputTool", "task_id"),
];

/// An agent's last turn, as far as the transcript shows it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Turn {
    /// The id of its last message, where the host gives one.
    pub id: Option<String>,
    /// The agent's last words.
    pub last_message: Option<String>,
    /// The last tool that it used, if nothing was said by a human since.
    pub last_call: Option<ToolCall>,
    /// The result of that call.
    pub last_result: CallResult,
    /// Whether the turn's end was seen: the agent's last words stand after its last call.
    pub is_ended: bool,
    /// When the host called the stop hook of this turn, where it records that.
    pub stop_hook_at: Option<i64>,
}

/// Reads the last turn from the end of a transcript; `None` when nothing of an agent is in it.
pub fn read_turn(path: &Path) -> io::Result<Option<Turn>> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    let skipped = length.saturating_sub(TAIL_BYTES_MAX);
    file.seek(SeekFrom::Start(skipped))?;
    let mut bytes = Vec::new();
    file.take(TAIL_BYTES_MAX).read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    // The first line of a tail is the end of a longer one.
    let whole_lines = if skipped == 0 {
        &*text
    } else {
        text.split_once('\n').map_or("", |(_, rest)| rest)
    };
    Ok(turn_of(whole_lines))
}

/// Finds the last turn in the text of a transcript: one JSON value a line, or one document with `messages`.
pub fn turn_of(text: &str) -> Option<Turn> {
    let said: Vec<Entry> = match serde_json::from_str::<Value>(text) {
        Ok(Value::Object(document)) if document.get("messages").is_some_and(Value::is_array) => {
            document["messages"]
                .as_array()
                .into_iter()
                .flatten()
                .flat_map(entries)
                .collect()
        }
        _ => text
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok())
            .flat_map(|line: Value| entries(&line))
            .collect(),
    };
    last_turn(&said)
}

fn last_turn(said: &[Entry]) -> Option<Turn> {
    let prompt = said.iter().rposition(|entry| matches!(entry.said, Said::Prompt));
    let turn = &said[prompt.map_or(0, |at| at + 1)..];
    if turn.is_empty() {
        return None;
    }
    let last_message = turn.iter().rev().find_map(|entry| match &entry.said {
        Said::Text(text) if !text.trim().is_empty() => Some(text.clone()),
        _ => None,
    });
    let last = Calls::of(turn).0.pop();
    let (last_call, last_result) = match last {
        Some(made) => (Some(made.call), made.result),
        None => (None, CallResult::Unknown),
    };
    Some(Turn {
        id: turn.iter().rev().find_map(|entry| entry.id.clone()),
        last_message,
        last_call,
        last_result,
        is_ended: is_ended(turn),
        stop_hook_at: turn.iter().rev().find_map(|entry| match entry.said {
            Said::StopHook { at } => at,
            _ => None,
        }),
    })
}

fn is_ended(turn: &[Entry]) -> bool {
    turn.last().is_some_and(|entry| match &entry.said {
        Said::Text(text) => !text.trim().is_empty(),
        Said::StopHook { .. } => true,
        _ => false,
    })
}

/// The calls of a turn, in the order in which they were last touched.
struct Calls(Vec<Made>);

struct Made {
    /// Its id, and those of the calls that read on from it.
    ids: Vec<String>,
    call: ToolCall,
    result: CallResult,
}

impl Calls {
    fn of(turn: &[Entry]) -> Self {
        let mut calls = Self(Vec::new());
        for entry in turn {
            match &entry.said {
                Said::Call { id, call } => calls.make(id.as_deref(), call),
                Said::Result { id, result } => calls.end(id.as_deref(), result),
                _ => {}
            }
        }
        calls
    }

    fn make(&mut self, id: Option<&str>, call: &ToolCall) {
        if id.is_some_and(|id| self.find(id).is_some()) {
            return;
        }
        let mut made = match self.read_on(call) {
            // An agent that reads on from a command goes on with that call.
            Some(at) => self.0.remove(at),
            None => Made {
                ids: Vec::new(),
                call: call.clone(),
                result: CallResult::Unknown,
            },
        };
        made.ids.extend(id.map(str::to_owned));
        self.0.push(made);
    }

    fn end(&mut self, id: Option<&str>, result: &CallResult) {
        let found = match id {
            Some(id) => self.find(id),
            None => self.0.len().checked_sub(1),
        };
        if let Some(made) = found.and_then(|at| self.0.get_mut(at)) {
            made.result = result.clone();
        }
    }

    fn find(&self, id: &str) -> Option<usize> {
        self.0
            .iter()
            .rposition(|made| made.ids.iter().any(|known| known == id))
    }

    /// Finds the running call whose output this one reads.
    fn read_on(&self, call: &ToolCall) -> Option<usize> {
        let (_, member) = READERS.iter().find(|(name, _)| *name == call.name)?;
        let named = match call.input.get(member)? {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        self.0.iter().rposition(
            |made| matches!(&made.result, CallResult::Running { handle: Some(handle) } if *handle == named),
        )
    }
}
