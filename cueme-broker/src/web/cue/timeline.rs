//! Returns an agent's questions, newest first.

use axum::Json;
use axum::extract::State;
use protocol_spec::id::AgentId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::show::show;
use crate::presence::Presence;
use crate::store::HistoryQuery;
use crate::web::agent::one;
use crate::web::error::ApiError;
use crate::web::extract::{Asked, At};
use crate::web::state::Shared;
use crate::web::view::{Cue, FOLDED_BYTES};

/// The default number of questions on a page of a timeline.
const TIMELINE_DEFAULT: u32 = 30;
/// The most questions on a page of a timeline, or in a search.
const PAGE_MAX: u32 = 200;

/// The part of a timeline.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::web) struct TimelineQuery {
    /// Only those before this sequence number.
    before: Option<i64>,
    /// The maximum number of questions.
    #[schemars(range(min = 1, max = 200))]
    limit: Option<u32>,
}

/// A page of a timeline.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Timeline {
    /// Newest first.
    cues: Vec<Cue>,
    more: bool,
}

/// Returns an agent's questions, newest first.
pub(super) async fn timeline(
    State(web): State<Shared>,
    At(agent): At<AgentId>,
    Asked(query): Asked<TimelineQuery>,
) -> Result<Json<Timeline>, ApiError> {
    web.broker.engine().human_seen();
    one(&web, agent.clone()).await?;
    let presence = Presence::read(web.broker.engine()).await?;
    let history = HistoryQuery {
        agent: Some(agent),
        search: None,
        before: query.before,
        limit: limit(query.limit, TIMELINE_DEFAULT),
    };
    let policies = web.broker.policies();
    let timeline = web.read(move |reader| {
        let mut cues = Vec::new();
        let mut failed = None;
        let more =
            reader.history(
                &history,
                &mut |cue| match show(reader, cue, &presence, &policies, FOLDED_BYTES) {
                    Ok(cue) => {
                        cues.push(cue);
                        true
                    }
                    Err(error) => {
                        failed = Some(error);
                        false
                    }
                },
            )?;
        failed.map_or(Ok(Timeline { cues, more }), Err)
    });
    timeline.await.map(Json)
}

pub(super) fn limit(wanted: Option<u32>, default: u32) -> u32 {
    wanted.unwrap_or(default).clamp(1, PAGE_MAX)
}
