//! Agents over HTTP: join, recall, ask by long poll, acknowledge. For agents that cannot reach the local socket.
//!
//! A token acts for its own agents only, and nothing here answers a question.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use protocol_spec::envelope::{self, PROMPT_BYTES_MAX};
use protocol_spec::id::{AgentId, CueId, RequestId};
use protocol_spec::message::{ACKS_MAX, Ask, Join, Reply, Told};
use protocol_spec::outcome::{Kind, Origin};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout_at};
use uuid::Uuid;

use super::door::{Visitor, Who, unauthenticated};
use super::error::ApiError;
use super::extract::{Asked, At, Input, Named, Sent};
use super::state::{Shared, Web, unexpected};
use crate::engine::{EngineHandle, Line, Order, Work};
use crate::machine::Ticket;
use crate::socket::{check_ask, check_own_agent, check_own_cues, join_with, owns};
use crate::store::Token;

/// How long one request waits unless told otherwise.
const WAIT_MS_DEFAULT: u64 = 25_000;
/// How long one request may wait: less than proxies allow.
const WAIT_MS_MAX: u64 = 55_000;
/// What a pause without words says.
const PAUSE_PROMPT: &str = "Paused. Press Continue to let the agent go on.";

/// An agent registers.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct JoinBody {
    /// Lowercase letters, digits and `_`.
    runtime: String,
    #[serde(default)]
    project_dir: String,
    terminal: Option<String>,
    /// Joining again with the same one returns the same agent.
    session: Option<String>,
}

impl Input for JoinBody {}

/// An agent is registered.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct JoinedShown {
    agent_id: String,
    again: bool,
}

/// An agent looks for itself.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RecallBody {
    hints: String,
    project_dir: Option<String>,
}

impl Input for RecallBody {}

/// Agents that fit, best first.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct RecalledShown {
    /// Best first, and the first is the one; empty when nobody can tell.
    matches: Vec<MatchShown>,
    /// Those that fit about equally well, or not well enough, when nobody can tell.
    candidates: Vec<MatchShown>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct MatchShown {
    agent_id: String,
    why: Vec<String>,
}

/// An agent asks.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CueBody {
    /// Made by the agent, once for each call; the same again continues the same wait.
    id: Uuid,
    agent_id: String,
    /// The question, unless there is an envelope.
    prompt: Option<String>,
    /// The payload.
    #[schemars(with = "Option<serde_json::Value>")]
    payload: Option<Box<RawValue>>,
    /// The question as tag blocks, instead of prompt and payload.
    envelope: Option<String>,
    /// How long this request waits.
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
    /// Made by the agent, once for each call.
    id: Uuid,
    agent_id: String,
    prompt: Option<String>,
    #[schemars(range(max = 55_000))]
    wait_ms: Option<u64>,
}

impl Input for PauseBody {
    const BYTES_MAX: usize = 2 * PROMPT_BYTES_MAX;
}

/// How long to wait.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WaitQuery {
    #[schemars(range(max = 55_000))]
    wait_ms: Option<u64>,
}

/// Outcomes that were passed on to the agent.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AckBody {
    cue_ids: Vec<String>,
}

impl Input for AckBody {}

/// What an agent hears.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "state", rename_all = "snake_case")]
pub(super) enum Heard {
    /// Nobody has decided yet: ask again.
    Open { cue_id: String },
    /// What became of the question.
    Decided {
        cue_id: String,
        #[schemars(with = "serde_json::Value")]
        told: Box<Told>,
    },
    /// What became of earlier questions; this one is open: ask again.
    Mailbox {
        cue_id: String,
        #[schemars(with = "Vec<serde_json::Value>")]
        earlier: Vec<Told>,
    },
}

/// Registers an agent.
pub(super) async fn join(
    State(web): State<Shared>,
    visitor: Visitor,
    Sent(body): Sent<JoinBody>,
) -> Result<(StatusCode, Json<JoinedShown>), ApiError> {
    let token = token_of(&visitor)?;
    let runtime = body
        .runtime
        .parse()
        .map_err(|error: protocol_spec::id::IdError| ApiError::bad_request(error.to_string()))?;
    let join = Join {
        runtime,
        project_dir: body.project_dir,
        terminal: body.terminal.unwrap_or_else(|| "unknown".to_owned()),
        session: body.session,
    };
    let joined = join_with(&web.broker, token, join).await?;
    let shown = JoinedShown {
        agent_id: joined.agent_id.into(),
        again: joined.again,
    };
    Ok((StatusCode::CREATED, Json(shown)))
}

/// Finds an agent among the token's own.
pub(super) async fn recall(
    State(web): State<Shared>,
    visitor: Visitor,
    Sent(body): Sent<RecallBody>,
) -> Result<Json<RecalledShown>, ApiError> {
    let token = token_of(&visitor)?.clone();
    web.broker.engine().catch_up().await?;
    let found = web
        .read(move |reader| {
            reader.recall_among(&body.hints, body.project_dir.as_deref(), &|agent| {
                owns(reader, &token, agent)
            })
        })
        .await?;
    let is_clear = found.is_clear;
    let shown = found.matches.into_iter().map(|found| MatchShown {
        agent_id: found.agent.agent_id.into(),
        why: found.why,
    });
    let (matches, candidates) = if is_clear {
        (shown.collect(), Vec::new())
    } else {
        (Vec::new(), shown.collect())
    };
    Ok(Json(RecalledShown { matches, candidates }))
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
    ask(&web, body.id, agent_id, Kind::Cue, prompt, payload, body.wait_ms).await
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
    ask(&web, body.id, agent_id, Kind::Pause, prompt, None, body.wait_ms).await
}

/// Waits again.
pub(super) async fn wait_again(
    State(web): State<Shared>,
    visitor: Visitor,
    At(cue): At<CueId>,
    Asked(query): Asked<WaitQuery>,
) -> Result<(StatusCode, Json<Heard>), ApiError> {
    own_cue(&web, &visitor, cue).await?;
    wait(&web, RequestId(Uuid::now_v7()), Work::Attach(cue), query.wait_ms).await
}

/// Settles outcomes that were passed on.
pub(super) async fn ack(
    State(web): State<Shared>,
    visitor: Visitor,
    Sent(body): Sent<AckBody>,
) -> Result<Json<AckBody>, ApiError> {
    if body.cue_ids.len() > ACKS_MAX {
        return Err(ApiError::bad_request(format!("at most {ACKS_MAX} at once")));
    }
    let mut cues = Vec::with_capacity(body.cue_ids.len());
    for cue in &body.cue_ids {
        let cue = CueId::named(cue)?;
        own_cue(&web, &visitor, cue).await?;
        cues.push(cue);
    }
    if cues.is_empty() {
        return Ok(Json(body));
    }
    let work = Work::Ack { cues, nonce: None };
    match web.order(&visitor, RequestId(Uuid::now_v7()), work).await? {
        Reply::Acked(acked) => Ok(Json(AckBody {
            cue_ids: acked.cue_ids.into_iter().map(String::from).collect(),
        })),
        other => Err(unexpected(&other)),
    }
}

async fn ask(
    web: &Web,
    id: Uuid,
    agent_id: AgentId,
    kind: Kind,
    prompt: String,
    payload: Option<Box<RawValue>>,
    wait_ms: Option<u64>,
) -> Result<(StatusCode, Json<Heard>), ApiError> {
    let work = check_ask(Ask {
        agent_id,
        kind,
        prompt,
        payload,
        origin: Origin::Agent,
        nonce: None,
    })?;
    wait(web, RequestId(id), work, wait_ms).await
}

/// Hands in work whose outcome is waited for, and waits as long as one request may.
async fn wait(
    web: &Web,
    request: RequestId,
    work: Work,
    wait_ms: Option<u64>,
) -> Result<(StatusCode, Json<Heard>), ApiError> {
    let deadline =
        Instant::now() + Duration::from_millis(wait_ms.unwrap_or(WAIT_MS_DEFAULT).min(WAIT_MS_MAX));
    let mut waiter = Waiter::begin(web.broker.engine(), request, work)?;
    let cue_id = match waiter.next().await? {
        Reply::Asked(asked) => asked.cue_id,
        Reply::Mailbox(mailbox) => {
            let heard = Heard::Mailbox {
                cue_id: mailbox.cue_id.into(),
                earlier: mailbox.earlier,
            };
            return Ok((StatusCode::OK, Json(heard)));
        }
        other => return Err(unexpected(&other)),
    };
    match timeout_at(deadline, waiter.next()).await {
        Err(_) => Ok((
            StatusCode::ACCEPTED,
            Json(Heard::Open {
                cue_id: cue_id.into(),
            }),
        )),
        Ok(reply) => match reply? {
            Reply::Outcome(told) => Ok((
                StatusCode::OK,
                Json(Heard::Decided {
                    cue_id: cue_id.into(),
                    told: Box::new(told),
                }),
            )),
            other => Err(unexpected(&other)),
        },
    }
}

/// Somebody who waits; the engine is told when they leave, however they leave.
struct Waiter {
    engine: EngineHandle,
    ticket: Ticket,
    replies: mpsc::UnboundedReceiver<Box<Line>>,
}

impl Waiter {
    fn begin(engine: &EngineHandle, request: RequestId, work: Work) -> Result<Self, ApiError> {
        let (sender, replies) = mpsc::unbounded_channel();
        let ticket = engine.ticket();
        engine.order(
            Order {
                ticket,
                request,
                work,
            },
            sender,
        )?;
        Ok(Self {
            engine: engine.clone(),
            ticket,
            replies,
        })
    }

    async fn next(&mut self) -> Result<Reply, ApiError> {
        match self.replies.recv().await.map(|line| *line.reply) {
            Some(Reply::Error(failure)) => Err(failure.into()),
            Some(reply) => Ok(reply),
            None => Err(crate::engine::EngineError.into()),
        }
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        self.engine.gone(self.ticket);
    }
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

fn token_of(visitor: &Visitor) -> Result<&Token, ApiError> {
    match &visitor.0 {
        Who::Agent(token) => Ok(token),
        Who::Device(_) | Who::Human(_) => Err(unauthenticated()),
    }
}

/// Returns the agent, if the token may act for it; others are as good as not there.
async fn own_agent(web: &Web, visitor: &Visitor, agent: &str) -> Result<AgentId, ApiError> {
    let agent = AgentId::named(agent)?;
    check_own_agent(&web.broker, token_of(visitor)?, &agent).await?;
    Ok(agent)
}

async fn own_cue(web: &Web, visitor: &Visitor, cue: CueId) -> Result<(), ApiError> {
    Ok(check_own_cues(&web.broker, token_of(visitor)?, &[cue]).await?)
}
