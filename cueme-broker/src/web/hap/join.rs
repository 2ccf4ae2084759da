//! Registers an agent.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use protocol_spec::message::Join;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::own::token_of;
use crate::socket::join_with;
use crate::web::door::Visitor;
use crate::web::error::ApiError;
use crate::web::extract::{Input, Sent};
use crate::web::state::Shared;

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
