//! Finds the last turn in the tail of a transcript.

use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom},
    path::Path,
};

use serde_json::Value;

use super::entry::{Entry, Said, entries};
use crate::runtime::hook::ToolCall;

/// How much of a transcript's end is read.
pub const TAIL_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// What is known of an agent's last turn.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Turn {
    /// The id of its last message, where the host gives one.
    pub id: Option<String>,
    /// The agent's last words.
    pub last_message: Option<String>,
    /// The last tool that it used, if nothing was said by a human since.
    pub last_call: Option<ToolCall>,
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
    let start = said
        .iter()
        .rposition(|entry| matches!(entry.said, Said::Prompt))
        .map_or(0, |at| at + 1);
    let turn = &said[start..];
    if turn.is_empty() {
        return None;
    }
    let last_message = turn.iter().rev().find_map(|entry| match &entry.said {
        Said::Text(text) if !text.trim().is_empty() => Some(text.clone()),
        _ => None,
    });
    let last_call = turn.iter().rev().find_map(|entry| match &entry.said {
        Said::Call(call) => Some(call.clone()),
        _ => None,
    });
    Some(Turn {
        id: turn.iter().rev().find_map(|entry| entry.id.clone()),
        last_message,
        last_call,
    })
}
