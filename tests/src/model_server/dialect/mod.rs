//! The dialects of vendors' APIs: the tools, the model's input, the model's action.

mod anthropic;
mod chat;
mod gemini;
mod responses;

use serde_json::{Value, json};

use super::tools::Tools;

/// The model's action in reply to one request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Action {
    /// Says something and ends its turn.
    Say(String),
    /// Calls a tool.
    Call {
        /// Unique for each call.
        id: String,
        /// The tool.
        name: String,
        /// The arguments.
        arguments: Value,
    },
}

impl Action {
    /// Calls a tool under a new id.
    pub(super) fn call(name: &str, arguments: Value) -> Self {
        Self::Call {
            id: format!("call_{}", uuid::Uuid::new_v4().simple()),
            name: name.to_owned(),
            arguments,
        }
    }
}

/// The content of a request, in no dialect.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Asked {
    /// The tools on offer.
    pub tools: Tools,
    /// All that the model reads, as one text.
    pub conversation: String,
    /// The entries after the model's last action.
    pub latest: String,
    /// The number of entries in the conversation.
    pub length: usize,
}

impl Asked {
    /// Says whether a program sent the same turn again.
    pub(super) fn is_same_turn(&self, other: &Self) -> bool {
        self.length == other.length && self.latest == other.latest
    }

    /// Reads a list of entries; `is_own` says which are the model's, `text` what one says.
    fn of(entries: &[Value], tools: Tools, is_own: fn(&Value) -> bool, text: fn(&Value) -> String) -> Self {
        let last_own = entries.iter().rposition(is_own).map_or(0, |last| last + 1);
        let join = |entries: &[Value]| entries.iter().map(text).collect::<Vec<_>>().join("\n");
        Self {
            tools,
            conversation: join(entries),
            latest: join(&entries[last_own..]),
            length: entries.len(),
        }
    }
}

/// A vendor's API.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    /// Anthropic's messages.
    Anthropic,
    /// OpenAI's responses.
    Responses,
    /// OpenAI's chat completions.
    Chat,
    /// Gemini's generateContent.
    Gemini,
}

impl Dialect {
    /// Tells the dialect by the path of a request.
    pub(super) fn of_path(path: &str) -> Option<Self> {
        if path.ends_with("/messages") {
            Some(Self::Anthropic)
        } else if path.ends_with("/responses") {
            Some(Self::Responses)
        } else if path.ends_with("/chat/completions") {
            Some(Self::Chat)
        } else if path.ends_with("enerateContent") {
            Some(Self::Gemini)
        } else {
            None
        }
    }

    /// Reads a request.
    pub(super) fn read(self, body: &Value) -> Asked {
        match self {
            Self::Anthropic => anthropic::read(body),
            Self::Responses => responses::read(body),
            Self::Chat => chat::read(body),
            Self::Gemini => gemini::read(body),
        }
    }

    /// Writes an answer as a stream of events.
    pub(super) fn stream(self, action: &Action) -> String {
        match self {
            Self::Anthropic => anthropic::stream(action),
            Self::Responses => responses::stream(action),
            Self::Chat => chat::stream(action),
            Self::Gemini => gemini::stream(action),
        }
    }

    /// Writes an answer as one object.
    pub(super) fn whole(self, action: &Action) -> Value {
        match self {
            Self::Anthropic => anthropic::whole(action),
            Self::Responses => responses::whole(action),
            Self::Chat => chat::whole(action),
            Self::Gemini => gemini::whole(action),
        }
    }
}

/// Answers what programs ask beside the conversation.
pub(super) fn beside(path: &str) -> Option<Value> {
    if path.ends_with("/count_tokens") {
        Some(json!({ "input_tokens": 100 }))
    } else if path.ends_with(":countTokens") {
        Some(json!({ "totalTokens": 100 }))
    } else if path.ends_with("/models") {
        Some(json!({ "object": "list", "data": [{ "id": "scripted", "object": "model" }] }))
    } else {
        None
    }
}

/// Writes an event of a stream.
fn event(name: Option<&str>, data: &Value) -> String {
    let name = name.map_or_else(String::new, |name| format!("event: {name}\n"));
    format!("{name}data: {data}\n\n")
}

/// Collects every string below a value: programs nest the text of a message and of a result in many ways.
fn text_below(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(text_below).collect::<Vec<_>>().join("\n"),
        Value::Object(members) => members.values().map(text_below).collect::<Vec<_>>().join("\n"),
        _ => String::new(),
    }
}
