//! Stores how far a human has read.

use axum::extract::State;
use axum::http::StatusCode;
use protocol_spec::id::AgentId;
use schemars::JsonSchema;
use serde::Deserialize;

use super::show::one;
use crate::web::error::ApiError;
use crate::web::extract::{At, Input, Sent};
use crate::web::page_events::Notice;
use crate::web::state::Shared;

/// The read mark of a human.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ReadMark {
    seq: i64,
    /// Makes the question with this number, and those after it, unread again.
    #[serde(default)]
    unread: bool,
}

impl Input for ReadMark {}

/// Stores the read mark of a human.
pub(super) async fn mark_read(
    State(web): State<Shared>,
    At(agent): At<AgentId>,
    Sent(mark): Sent<ReadMark>,
) -> Result<StatusCode, ApiError> {
    one(&web, agent.clone()).await?;
    let marked = agent.clone();
    web.write(move |store, _| {
        if mark.unread {
            store.mark_unread(&marked, mark.seq)
        } else {
            store.mark_read(&marked, mark.seq)
        }
    })
    .await?;
    web.page_events.notice(Notice::read(agent));
    Ok(StatusCode::NO_CONTENT)
}
