//! Waits for an outcome, as long as one request may.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use protocol_spec::id::{CueId, RequestId};
use protocol_spec::message::{DeliveredOutcome, Reply};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::time::{Instant, timeout_at};
use uuid::Uuid;

use super::own::own_cue;
use crate::engine::Work;
use crate::web::door::{Visitor, Who, unauthenticated};
use crate::web::error::ApiError;
use crate::web::extract::{Asked, At};
use crate::web::state::{Shared, Web, unexpected};

/// The default wait of one request, in milliseconds.
const WAIT_MS_DEFAULT: u64 = 25_000;
/// The longest wait of one request: less than the timeouts of proxies.
const WAIT_MS_MAX: u64 = 55_000;

/// The wait.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::web) struct WaitQuery {
    #[schemars(range(max = 55_000))]
    wait_ms: Option<u64>,
}

/// The reply to an agent that waits.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "state", rename_all = "snake_case")]
pub(super) enum Heard {
    /// Not decided yet: ask again.
    Open { cue_id: String },
    /// The outcome of the question.
    Decided {
        cue_id: String,
        #[schemars(with = "serde_json::Value")]
        told: Box<DeliveredOutcome>,
    },
    /// The outcomes of earlier questions; this one is open: ask again.
    Mailbox {
        cue_id: String,
        #[schemars(with = "Vec<serde_json::Value>")]
        earlier: Vec<DeliveredOutcome>,
    },
}

/// Waits again.
pub(super) async fn wait_again(
    State(web): State<Shared>,
    visitor: Visitor,
    At(cue): At<CueId>,
    Asked(query): Asked<WaitQuery>,
) -> Result<(StatusCode, Json<Heard>), ApiError> {
    own_cue(&web, &visitor, cue).await?;
    wait(
        &web,
        &visitor,
        RequestId(Uuid::now_v7()),
        Work::Attach(cue),
        query.wait_ms,
    )
    .await
}

/// Submits work whose outcome is waited for, and waits as long as one request may.
pub(super) async fn wait(
    web: &Web,
    visitor: &Visitor,
    request: RequestId,
    work: Work,
    wait_ms: Option<u64>,
) -> Result<(StatusCode, Json<Heard>), ApiError> {
    let deadline =
        Instant::now() + Duration::from_millis(wait_ms.unwrap_or(WAIT_MS_DEFAULT).min(WAIT_MS_MAX));
    let mut waiter = web.broker.engine().wait(visitor.pass(), request, work)?;
    let cue_id = match waiter.next().await?? {
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
        // The token may have been revoked while it waited.
        Ok(_) if !is_known(web, visitor) => Err(unauthenticated()),
        Ok(reply) => match reply?? {
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

fn is_known(web: &Web, visitor: &Visitor) -> bool {
    match &visitor.0 {
        Who::Agent(token) => web.has_token(token),
        Who::Run(_) => true,
        Who::Device(_) | Who::Human(_) => false,
    }
}
