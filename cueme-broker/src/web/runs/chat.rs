//! The chat of an agent as Cursor keeps it on disk. Nothing of Cursor's is ever changed.

use std::path::Path;

use adapter_core::cursor::chats::{Chat, ChatMessage, ChatsError, ChatsRoot, Role, load_chat};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use protocol_spec::id::AgentId;
use protocol_spec::message::RunKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::store::{Reader, RunsWanted, StoreError};
use crate::web::error::ApiError;
use crate::web::extract::{Asked, At};
use crate::web::state::Shared;

/// How many messages are shown at once.
const MESSAGES_MAX: usize = 100;
/// How much of one text is shown.
const TEXT_CHARS_MAX: usize = 8_000;

/// Which part of a chat.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::web) struct ChatQuery {
    /// The messages before this one; the newest without it.
    before: Option<usize>,
}

/// A part of a chat.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Chat")]
pub(super) struct ChatShown {
    chat_id: String,
    name: Option<String>,
    mode: Option<String>,
    /// Which message of the chat the first one here is.
    first: usize,
    /// How many messages the chat has.
    total: usize,
    /// Oldest first.
    messages: Vec<MessageShown>,
    warnings: Vec<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ChatMessage")]
struct MessageShown {
    /// `user`, `assistant`, `thinking` or `tool`.
    role: &'static str,
    text: String,
    tools: Vec<ToolShown>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ChatTool")]
struct ToolShown {
    name: String,
    /// What it was called with, as JSON.
    args: String,
    outcome: Option<String>,
    result: String,
    is_error: bool,
}

/// Where an agent's chat may be.
struct Place {
    session: String,
    project: String,
}

/// Returns a part of an agent's chat.
pub(super) async fn chat(
    State(web): State<Shared>,
    At(agent): At<AgentId>,
    Asked(query): Asked<ChatQuery>,
) -> Result<Json<ChatShown>, ApiError> {
    let known = agent.clone();
    let places = web
        .read(move |reader| places(reader, &known))
        .await?
        .ok_or_else(ApiError::unknown_agent)?;
    let loaded = tokio::task::spawn_blocking(move || load(&places)).await;
    let chat = loaded
        .map_err(|error| internal(error.to_string()))?
        .map_err(|error| internal(error.to_string()))?;
    let chat = chat.ok_or_else(|| ApiError::not_found("Cursor keeps no chat of this agent here"))?;
    Ok(Json(show(&chat, query.before)))
}

/// Returns where an agent's chat may be, the likeliest first: its newest run's, then the one it joined with.
fn places(reader: &Reader, agent: &AgentId) -> Result<Option<Vec<Place>>, StoreError> {
    let Some(row) = reader.agent_rows(Some(agent))?.pop() else {
        return Ok(None);
    };
    let wanted = RunsWanted {
        kind: Some(RunKind::Local),
        agent: Some(agent.clone()),
        limit: 10,
        ..RunsWanted::default()
    };
    let of_runs = reader.runs(&wanted)?.into_iter().filter_map(|row| {
        Some(Place {
            session: row.run.session?,
            project: row.run.project,
        })
    });
    let joined = reader.session_of_agent(agent)?.map(|session| Place {
        session,
        project: row.project_dir,
    });
    Ok(Some(of_runs.chain(joined).collect()))
}

fn load(places: &[Place]) -> Result<Option<Chat>, ChatsError> {
    let root = ChatsRoot::from_env()?;
    for place in places {
        if let Ok(store) = root.find(&place.session, Some(Path::new(&place.project))) {
            return load_chat(&store).map(Some);
        }
    }
    Ok(None)
}

fn show(chat: &Chat, before: Option<usize>) -> ChatShown {
    let total = chat.messages.len();
    let end = before.unwrap_or(total).min(total);
    let first = end.saturating_sub(MESSAGES_MAX);
    ChatShown {
        chat_id: chat.chat_id.clone(),
        name: chat.name.clone(),
        mode: chat.mode.clone(),
        first,
        total,
        messages: chat.messages[first..end].iter().map(show_message).collect(),
        warnings: chat.warnings.iter().map(ToString::to_string).collect(),
    }
}

fn show_message(message: &ChatMessage) -> MessageShown {
    let tools = message.tools.iter().map(|tool| {
        let detail = tool.detail();
        ToolShown {
            name: tool.name.to_string(),
            args: shorten(&detail.args.to_string()),
            outcome: detail.outcome.as_ref().map(ToString::to_string),
            result: shorten(&tool.result()),
            is_error: detail.is_error,
        }
    });
    MessageShown {
        role: match message.role {
            Role::User => "user",
            Role::Assistant => "assistant",
            Role::Thinking => "thinking",
            Role::Tool => "tool",
        },
        text: shorten(&message.text),
        tools: tools.collect(),
    }
}

/// Keeps a text short, and says that it is.
fn shorten(text: &str) -> String {
    match text.char_indices().nth(TEXT_CHARS_MAX) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

fn internal(message: String) -> ApiError {
    ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", message)
}
