//! Asks or pauses, and waits.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use protocol_spec::envelope;
use protocol_spec::envelope::PROMPT_BYTES_MAX;
use protocol_spec::id::{AgentId, RequestId};
use protocol_spec::message::Ask;
use protocol_spec::outcome::{Kind, Origin};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::value::RawValue;
use uuid::Uuid;

use super::own::own_agent;
use super::wait::{Heard, wait};
use crate::engine::Work;
use crate::socket::check_ask;
use crate::web::door::Visitor;
use crate::web::error::ApiError;
use crate::web::extract::{Input, Sent};
use crate::web::state::Shared;

/// The prompt of a pause without one.
const PAUSE_PROMPT: &str = "Paused. Press Continue to let the agent go on.";

/// An agent asks.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CueBody {
    /// Created by the agent, once for each call; the same again continues the same wait.
    id: Uuid,
    agent_id: String,
    /// The question, unless there is an envelope.
    prompt: Option<String>,
    /// The payload.
    #[schemars(with = "Option<serde_json::Value>")]
    payload: Option<Box<RawValue>>,
    /// The question as tag blocks, instead of prompt and payload.
    envelope: Option<String>,
    /// The wait of this request.
    #[schemars(range(max = 55_000))]
    wait_ms: Option<u64>,
}

impl Input for CueBody {
    const BYTES_MAX: usize = 2 * PROMPT_BYTES_MAX;
}

/// An agent pauses.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct PauseBody {
    /// Created by the agent, once for each call.
    id: Uuid,
    agent_id: String,
    prompt: Option<String>,
    #[schemars(range(max = 55_000))]
    wait_ms: Option<u64>,
}

impl Input for PauseBody {
    const BYTES_MAX: usize = 2 * PROMPT_BYTES_MAX;
}

/// Asks and waits.
pub(super) async fn cue(
    State(web): State<Shared>,
    visitor: Visitor,
    Sent(body): Sent<CueBody>,
) -> Result<(StatusCode, Json<Heard>), ApiError> {
    let agent_id = own_agent(&web, &visitor, &body.agent_id).await?;
    let (prompt, payload) = match (body.prompt, body.envelope) {
        (Some(prompt), None) => (prompt, body.payload),
        (None, Some(envelope)) if body.payload.is_none() => open_envelope(&envelope)?,
        _ => {
            return Err(ApiError::bad_request(
                "write either a prompt (and a payload) or an envelope",
            ));
        }
    };
    let work = question(agent_id, Kind::Cue, prompt, payload)?;
    wait(&web, &visitor, RequestId(body.id), work, body.wait_ms).await
}

/// Pauses and waits.
pub(super) async fn pause(
    State(web): State<Shared>,
    visitor: Visitor,
    Sent(body): Sent<PauseBody>,
) -> Result<(StatusCode, Json<Heard>), ApiError> {
    let agent_id = own_agent(&web, &visitor, &body.agent_id).await?;
    let prompt = body.prompt.filter(|prompt| !prompt.trim().is_empty());
    let prompt = prompt.unwrap_or_else(|| PAUSE_PROMPT.to_owned());
    let work = question(agent_id, Kind::Pause, prompt, None)?;
    wait(&web, &visitor, RequestId(body.id), work, body.wait_ms).await
}

fn question(
    agent_id: AgentId,
    kind: Kind,
    prompt: String,
    payload: Option<Box<RawValue>>,
) -> Result<Work, ApiError> {
    Ok(check_ask(Ask {
        agent_id,
        kind,
        prompt,
        payload,
        origin: Origin::Agent,
        nonce: None,
    })?)
}

fn open_envelope(text: &str) -> Result<(String, Option<Box<RawValue>>), ApiError> {
    let envelope = envelope::parse_cue(text)
        .map_err(|error| ApiError::bad_request(error.to_string()).with_hint(error.hint()))?;
    let payload = envelope
        .payload
        .map(|payload| RawValue::from_string(payload.one_line().into_owned()))
        .transpose()
        .map_err(|error| ApiError::bad_request(error.to_string()))?;
    Ok((envelope.prompt.into_owned(), payload))
}
