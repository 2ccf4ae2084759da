//! What a turn's stream proves about the turn, kept for whoever judges it.
//!
//! This module records; it decides nothing. The HAP gate reads it.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};

use protocol_spec::truncate::tail;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::question::AskQuestion;
use super::scalar::Scalar;

/// The most bytes of final text that are kept.
pub const FINAL_TEXT_BYTES_MAX: usize = 64 * 1024;
/// The most AskQuestion calls that are kept.
const ASKED_MAX: usize = 16;
/// The most ended calls whose ids are remembered, to recognise a repeated end.
const ENDED_MAX: usize = 1_024;

/// What one turn's stream showed.
#[derive(Debug, Clone, Default)]
pub struct Evidence {
    /// The chat, for resuming it.
    pub session_id: Option<String>,
    /// The model's display name.
    pub model: Option<String>,
    /// The call that ended last.
    pub last_call: Option<CallRecord>,
    /// How many calls had started and not ended.
    pub open_calls: usize,
    /// Questions the CLI answered itself, which no human saw.
    pub skipped_questions: Vec<AskQuestion>,
    /// The end of the assistant's text.
    pub final_text: String,
}

/// One ended call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallRecord {
    /// The CLI's key for the tool.
    pub key: String,
    /// How it ended.
    pub outcome: String,
    /// The exit code of a command.
    pub exit_code: Option<i64>,
    /// Whether it was moved, or asked to run, in the background.
    pub is_background: bool,
    /// What was called.
    pub what: CallKind,
}

/// What was called, as far as the gate cares.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum CallKind {
    /// A shell command.
    Shell(ShellCommand),
    /// A tool of an MCP server.
    Mcp {
        /// The tool's name on its server.
        tool: String,
        /// The server's name.
        server: String,
    },
    /// Any other tool.
    #[default]
    Other,
}

/// A shell command as the CLI reported it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ShellCommand {
    /// The line as written.
    pub command: String,
    /// The commands in it, as the CLI parsed them; `None` when it did not.
    pub parsed: Option<Vec<Vec<String>>>,
}

impl Evidence {
    /// Appends to the final text, keeping only its end.
    pub(crate) fn push_text(&mut self, text: &str) {
        self.final_text.push_str(text);
        if self.final_text.len() > 2 * FINAL_TEXT_BYTES_MAX {
            let kept = tail(&self.final_text, FINAL_TEXT_BYTES_MAX).len();
            self.final_text.drain(..self.final_text.len() - kept);
        }
    }

    /// Keeps a question that no human saw; returns whether it is a new one.
    pub(crate) fn skipped(&mut self, ask: AskQuestion) -> bool {
        let known = self.skipped_questions.iter().any(|other| other.is_same(&ask));
        let is_new = !known && self.skipped_questions.len() < ASKED_MAX;
        if is_new {
            self.skipped_questions.push(ask);
        }
        is_new
    }
}

/// The calls that ended, as hashes of their ids, bounded.
#[derive(Debug, Default)]
pub(crate) struct EndedCalls(VecDeque<u64>);

impl EndedCalls {
    pub(crate) fn contains(&self, call_id: &str) -> bool {
        !call_id.is_empty() && self.0.contains(&hash(call_id))
    }

    pub(crate) fn push(&mut self, call_id: &str) {
        if self.0.len() == ENDED_MAX {
            self.0.pop_front();
        }
        self.0.push_back(hash(call_id));
    }
}

fn hash(call_id: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    call_id.hash(&mut hasher);
    hasher.finish()
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ShellArgs<'a> {
    #[serde(borrow)]
    command: Scalar<'a>,
    #[serde(borrow)]
    is_background: Scalar<'a>,
    #[serde(borrow)]
    parsing_result: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Parsing {
    parsing_failed: bool,
    executable_commands: Vec<Executable>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Executable {
    name: String,
    args: Vec<Word>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Word {
    value: String,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct McpArgs {
    name: String,
    tool_name: String,
    provider_identifier: String,
    server_identifier: String,
}

/// Reads what a call does from its arguments, and whether it asked to run in the background.
pub(crate) fn read_kind(key: &str, args: &RawValue) -> (CallKind, bool) {
    match key {
        "shellToolCall" | "piBashToolCall" => read_shell(args),
        "mcpToolCall" => (read_mcp(args), false),
        _ => (CallKind::Other, false),
    }
}

fn read_shell(args: &RawValue) -> (CallKind, bool) {
    let args: ShellArgs<'_> = serde_json::from_str(args.get()).unwrap_or_default();
    let parsed = args
        .parsing_result
        .and_then(|raw| serde_json::from_str::<Parsing>(raw.get()).ok())
        .filter(|parsing| !parsing.parsing_failed && !parsing.executable_commands.is_empty())
        .map(|parsing| parsing.executable_commands.into_iter().map(words).collect());
    let command = args.command.as_str().unwrap_or_default().to_owned();
    (
        CallKind::Shell(ShellCommand { command, parsed }),
        args.is_background.is_true(),
    )
}

fn words(executable: Executable) -> Vec<String> {
    std::iter::once(executable.name)
        .chain(executable.args.into_iter().map(|word| word.value))
        .collect()
}

fn read_mcp(args: &RawValue) -> CallKind {
    let args: McpArgs = serde_json::from_str(args.get()).unwrap_or_default();
    let server = if args.server_identifier.is_empty() {
        args.provider_identifier
    } else {
        args.server_identifier
    };
    let tool = if args.tool_name.is_empty() {
        args.name
    } else {
        args.tool_name
    };
    CallKind::Mcp { tool, server }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(key: &str, args: &str) -> (CallKind, bool) {
        read_kind(key, &RawValue::from_string(args.into()).unwrap())
    }

    #[test]
    fn a_shell_call_keeps_the_words_the_cli_parsed() {
        let args = r#"{"command":"cueme cue a -","parsingResult":{"parsingFailed":false,"executableCommands":[{"name":"cueme","args":[{"type":"word","value":"cue"},{"type":"word","value":"a"}],"fullText":"x"}]},"isBackground":true}"#;
        let (what, background) = kind("shellToolCall", args);
        let CallKind::Shell(shell) = what else {
            panic!("a shell call")
        };
        assert!(background);
        assert_eq!(
            shell.parsed,
            Some(vec![vec!["cueme".into(), "cue".into(), "a".into()]])
        );
    }

    #[test]
    fn a_failed_parse_leaves_the_line_as_written() {
        let (what, _) = kind(
            "shellToolCall",
            r#"{"command":"x","parsingResult":{"parsingFailed":true}}"#,
        );
        assert_eq!(
            what,
            CallKind::Shell(ShellCommand {
                command: "x".into(),
                parsed: None
            })
        );
    }

    #[test]
    fn the_final_text_keeps_its_end_and_no_half_character() {
        let mut evidence = Evidence::default();
        for _ in 0..FINAL_TEXT_BYTES_MAX {
            evidence.push_text("é…");
        }
        evidence.push_text("end");
        assert!(evidence.final_text.len() <= 2 * FINAL_TEXT_BYTES_MAX);
        assert!(evidence.final_text.ends_with("é…end"));
    }
}
