//! Reads what a call of one of the CLI's own tools does, and remembers which calls have ended.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};

use serde::Deserialize;
use serde_json::value::RawValue;

use super::scalar::Scalar;
use crate::contract::{CallKind, ShellCommand};

/// The most ended calls whose ids are remembered, to recognise a repeated end.
const ENDED_MAX: usize = 1_024;

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
}
