//! Reads the prompt as last sent to the model, for chats whose turns are not in the store.
//!
//! A prompt is not what the user saw: it carries the system's words, context wrapped around the user's text,
//! and after a compaction a summary in place of the old messages. This file takes the wrapping off.

use std::borrow::Cow;
use std::collections::HashMap;

use bytes::Bytes;
use serde_json::{Value, json};

use super::blob_id::BlobId;
use super::message::{ChatMessage, Detail, Original, Role, ToolDetail, ToolUse};
use super::text::Text;
use crate::cursor::tool_kind::UNKNOWN_TOOL_NAME;

/// The block that holds what the user really typed.
const QUERY: &str = "user_query";
/// The blocks that Cursor adds for the model.
const CONTEXT: [&str; 12] = [
    "user_info",
    "system_reminder",
    "system-reminder",
    "project_layout",
    "git_status",
    "rules",
    "agent_skills",
    "agent_transcripts",
    "mcp_instructions",
    "open_and_recently_viewed_files",
    "attached_files",
    "additional_data",
];

/// Collects the messages of a prompt.
#[derive(Debug, Default)]
pub(super) struct PromptReader {
    messages: Vec<ChatMessage>,
    /// The position of each call, so that its result can join it.
    calls: HashMap<String, usize>,
}

impl PromptReader {
    /// Adds one prompt message, which may become several messages or none.
    pub(super) fn push(&mut self, blob_id: BlobId, data: &Bytes) -> Result<(), String> {
        let json: Value = serde_json::from_slice(data).map_err(|error| format!("not JSON ({error})"))?;
        let role = json["role"].as_str().ok_or("it has no role")?;
        let first_new = self.messages.len();
        match &json["content"] {
            Value::String(text) => self.push_text(role, text),
            Value::Array(parts) => parts.iter().for_each(|part| self.push_part(role, part)),
            _ => return Err("it has no content".to_owned()),
        }
        let id = json["id"].as_str();
        for message in &mut self.messages[first_new..] {
            message.message_id = id.map(Text::from);
            message.original = Some(Original {
                blob_id,
                data: data.clone(),
            });
        }
        Ok(())
    }

    /// Returns the messages in the order they were added.
    pub(super) fn into_messages(self) -> Vec<ChatMessage> {
        self.messages
    }

    fn push_text(&mut self, role: &str, text: &str) {
        match role {
            "user" => {
                let text = strip_context(text);
                if !text.is_empty() {
                    self.messages.push(ChatMessage::new(Role::User, text));
                }
            }
            "assistant" if !text.is_empty() => {
                self.messages.push(ChatMessage::new(Role::Assistant, text));
            }
            // The system's words are no part of the conversation.
            _ => {}
        }
    }

    fn push_part(&mut self, role: &str, part: &Value) {
        let text = || part["text"].as_str().unwrap_or_default();
        match part["type"].as_str().unwrap_or_default() {
            "text" => self.push_text(role, text()),
            "reasoning" | "thinking" => {
                let words = part["thinking"].as_str().unwrap_or_else(text);
                if !words.is_empty() {
                    self.messages.push(ChatMessage::new(Role::Thinking, words));
                }
            }
            "tool-call" | "tool_use" => self.push_call(part),
            "tool-result" | "tool_result" => self.push_result(part),
            _ => {}
        }
    }

    fn push_call(&mut self, part: &Value) {
        let call_id = first_text(part, &["toolCallId", "id"]);
        if let Some(call_id) = &call_id {
            self.calls.insert(call_id.clone(), self.messages.len());
        }
        let mut message = ChatMessage::new(Role::Tool, "");
        message.tools.push(tool_use(part, call_id));
        self.messages.push(message);
    }

    fn push_result(&mut self, part: &Value) {
        let call_id = first_text(part, &["toolCallId", "tool_use_id"]);
        let known = call_id.as_ref().and_then(|id| self.calls.get(id)).copied();
        let index = known.unwrap_or_else(|| {
            let mut message = ChatMessage::new(Role::Tool, "");
            message.tools.push(tool_use(part, call_id));
            self.messages.push(message);
            self.messages.len() - 1
        });
        if let Some(tool) = self
            .messages
            .get_mut(index)
            .and_then(|message| message.tools.first_mut())
        {
            add_result(tool, part);
        }
    }
}

fn tool_use(part: &Value, call_id: Option<String>) -> ToolUse {
    let key = first_text(part, &["toolName", "name"]).unwrap_or_default();
    let args = [&part["args"], &part["input"]]
        .into_iter()
        .find(|args| !args.is_null());
    let args = args.cloned().unwrap_or_else(|| json!({}));
    ToolUse {
        name: normalised(&key),
        key: Cow::Owned(key),
        oneof_field: None,
        call_id: call_id.map(Text::from),
        steps: Vec::new(),
        detail: Detail::Decoded(Box::new(ToolDetail {
            args,
            ..ToolDetail::default()
        })),
    }
}

fn add_result(tool: &mut ToolUse, part: &Value) {
    let is_error = [&part["isError"], &part["is_error"]]
        .iter()
        .any(|flag| flag.as_bool() == Some(true));
    let outcome = if is_error { "error" } else { "success" };
    let output = ["result", "output", "content"]
        .iter()
        .map(|key| &part[*key])
        .find(|value| !value.is_null());
    // Some versions wrap the output in an object that says what type it is.
    let output = output.map(|output| {
        if output["value"].is_string() {
            &output["value"]
        } else {
            output
        }
    });
    let mut detail = tool.detail().into_owned();
    detail.is_error = is_error;
    detail.outcome = Some(Cow::Borrowed(outcome));
    detail.output = json!({ outcome: output });
    tool.detail = Detail::Decoded(Box::new(detail));
}

/// Gives the tools of a prompt the names they have in turns and in the stream.
fn normalised(name: &str) -> Cow<'static, str> {
    Cow::Borrowed(match name {
        "" => UNKNOWN_TOOL_NAME,
        "Shell" | "run_terminal_cmd" => "Bash",
        "LS" | "list_dir" => "Ls",
        "read_file" => "Read",
        "StrReplace" | "search_replace" | "edit_file" | "EditNotebook" => "Edit",
        "write" => "Write",
        "delete_file" => "Delete",
        "grep" | "rg" => "Grep",
        "glob_file_search" => "Glob",
        "codebase_search" | "SemanticSearch" => "SemSearch",
        "todo_write" => "TodoWrite",
        other => return Cow::Owned(other.to_owned()),
    })
}

fn first_text(part: &Value, keys: &[&str]) -> Option<String> {
    keys.iter().find_map(|key| part[*key].as_str()).map(str::to_owned)
}

/// Takes off what Cursor wrapped around the user's words.
///
/// With a query block, that block is what the user typed. Without one, the context blocks are cut out and what
/// remains is it.
pub(super) fn strip_context(text: &str) -> String {
    let queries = blocks(text, QUERY);
    if !queries.is_empty() {
        return queries
            .iter()
            .map(|query| query.trim())
            .collect::<Vec<_>>()
            .join("\n\n");
    }
    let mut rest = text.to_owned();
    for tag in CONTEXT {
        rest = without_blocks(&rest, tag);
    }
    rest.trim().to_owned()
}

fn blocks<'a>(text: &'a str, tag: &str) -> Vec<&'a str> {
    let (open, close) = (format!("<{tag}>"), format!("</{tag}>"));
    let mut found = Vec::new();
    let mut rest = text;
    while let Some((_, after)) = rest.split_once(&open) {
        let (inside, next) = after.split_once(&close).unwrap_or((after, ""));
        found.push(inside);
        rest = next;
    }
    found
}

fn without_blocks(text: &str, tag: &str) -> String {
    let (open, close) = (format!("<{tag}>"), format!("</{tag}>"));
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(&open) {
        // An open tag without its close is something the user wrote.
        let Some((_, next)) = after.split_once(&close) else {
            break;
        };
        kept.push_str(before);
        rest = next;
    }
    kept.push_str(rest);
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(messages: &[Value]) -> Vec<ChatMessage> {
        let mut reader = PromptReader::default();
        for message in messages {
            let id = BlobId::from_bytes(&[0; 32]).unwrap();
            reader.push(id, &Bytes::from(message.to_string())).unwrap();
        }
        reader.into_messages()
    }

    #[test]
    fn the_users_words_are_taken_out_of_their_wrapping() {
        let cases = [
            ("plain", "plain"),
            ("<user_query>\nhello\n</user_query>", "hello"),
            (
                "<system_reminder>be nice</system_reminder>\n<user_query>a</user_query>",
                "a",
            ),
            ("<user_info>OS: linux</user_info>\nfix it", "fix it"),
            ("<user_info>OS: linux</user_info>\n<rules>r</rules>", ""),
            ("what does <rules> mean?", "what does <rules> mean?"),
            ("<user_query>unclosed", "unclosed"),
        ];
        for (text, expected) in cases {
            assert_eq!(strip_context(text), expected, "{text}");
        }
    }

    #[test]
    fn context_and_system_messages_are_no_part_of_the_conversation() {
        let messages = read(&[
            json!({"role": "system", "content": "You are an agent."}),
            json!({"role": "user", "content": "<user_info>linux</user_info>"}),
            json!({"role": "user", "content": [{"type": "text", "text": "<user_query>hi</user_query>"}]}),
            json!({"role": "assistant", "content": "hello"}),
        ]);
        let texts: Vec<_> = messages
            .iter()
            .map(|message| (message.role, &*message.text))
            .collect();
        assert_eq!(texts, [(Role::User, "hi"), (Role::Assistant, "hello")]);
    }

    #[test]
    fn a_tool_result_joins_its_call() {
        let call =
            json!({"type": "tool-call", "toolCallId": "c1", "toolName": "Shell", "args": {"command": "ls"}});
        let result =
            json!({"type": "tool-result", "toolCallId": "c1", "toolName": "Shell", "result": "a.txt"});
        let messages = read(&[
            json!({"role": "assistant", "content": [{"type": "reasoning", "text": "hm"}, call]}),
            json!({"role": "tool", "content": [result]}),
        ]);
        assert_eq!(messages.len(), 2);
        let tool = &messages[1].tools[0];
        assert_eq!((&*tool.name, &*tool.result()), ("Bash", "a.txt"));
        assert_eq!(tool.detail().outcome.as_deref(), Some("success"));
    }
}
