//! Questions: one of them, an agent's in order, those with certain words.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use protocol_spec::answer::Attachment;
use protocol_spec::id::{AgentId, CueId};
use protocol_spec::message::CueView;
use protocol_spec::outcome::Outcome;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::agents::one;
use super::error::ApiError;
use super::extract::{Asked, At};
use super::files::files_of;
use super::snapshot::agent_cards;
use super::state::{Shared, Web};
use super::uploads::upload_url;
use super::view::{
    AgentCard, AttachmentShown, Cue, CueCard, FOLDED_BYTES, Markup, PART_BYTES, Precedent, Reading,
};
use crate::policy::{Policy, stopped};
use crate::precedent::{COMPARED_MAX, Sought, usable};
use crate::presence::Presence;
use crate::store::{DraftPlace, HistoryQuery, Reader, StoreError};

/// How many questions a page of a timeline has.
const TIMELINE_DEFAULT: u32 = 30;
/// How many questions a page of a timeline, or a search, has at most.
const PAGE_MAX: u32 = 200;
/// How many questions a search finds unless told otherwise.
const SEARCH_DEFAULT: u32 = 50;

/// Which part of a timeline.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct TimelineQuery {
    /// Only those before this sequence number.
    before: Option<i64>,
    /// How many at most.
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

/// Which part of a text.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct PartQuery {
    /// Where the part begins, as `next` said.
    #[serde(default)]
    from: usize,
    /// Where it ends at the latest.
    to: Option<usize>,
}

/// What to look for.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SearchQuery {
    /// Words.
    q: String,
    /// Only this agent's.
    agent: Option<String>,
    /// Only questions before this sequence number.
    before: Option<i64>,
    /// How many at most.
    #[schemars(range(min = 1, max = 200))]
    limit: Option<u32>,
}

/// What was found.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Found {
    agents: Vec<FoundAgent>,
    cues: Vec<FoundCue>,
    more: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
struct FoundAgent {
    agent: AgentCard,
    why: Vec<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct FoundCue {
    #[serde(flatten)]
    card: CueCard,
    snippet: String,
}

/// Returns one question whole.
pub(super) async fn cue(State(web): State<Shared>, At(id): At<CueId>) -> Result<Json<Cue>, ApiError> {
    web.broker.engine().human_seen();
    whole(&web, id).await?.map(Json).ok_or_else(ApiError::unknown_cue)
}

/// Reads one question whole.
async fn whole(web: &Web, id: CueId) -> Result<Option<Cue>, ApiError> {
    let presence = Presence::read(web.broker.engine()).await?;
    let policies = web.broker.policies();
    web.read(move |reader| {
        let Some(cue) = reader.cue(id)? else {
            return Ok(None);
        };
        let precedent = precedent(reader, &cue)?;
        let mut shown = show(reader, cue, &presence, &policies, PART_BYTES)?;
        shown.precedent = precedent;
        Ok(Some(shown))
    })
    .await
}

/// Finds what a human answered to the question of this project that resembles an open one most; the newest of equals.
fn precedent(reader: &dyn Reader, cue: &CueView) -> Result<Option<Precedent>, StoreError> {
    if cue.outcome != Outcome::Open {
        return Ok(None);
    }
    let Some(sought) = Sought::new(cue) else {
        return Ok(None);
    };
    let mut best: Option<(f64, CueView)> = None;
    reader.answered_in_project(&cue.project_dir, COMPARED_MAX, &mut |past| {
        if let Some(resemblance) = sought.resemblance(&past)
            && best.as_ref().is_none_or(|(most, _)| resemblance > *most)
        {
            best = Some((resemblance, past));
        }
        true
    })?;
    Ok(best.and_then(|(_, past)| {
        let is_same = past.prompt == cue.prompt;
        usable(&past).map(|answer| Precedent::new(past, answer, is_same))
    }))
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

/// Shows a question with its draft, its files, and the rule that leaves it to a human.
fn show(
    reader: &dyn Reader,
    cue: CueView,
    presence: &Presence,
    policies: &[Policy],
    bytes_max: usize,
) -> Result<Cue, StoreError> {
    let draft = if cue.is_answerable() {
        reader.draft(&DraftPlace::cue(cue.cue_id))?
    } else {
        None
    };
    let attach = |attachment| attachment_shown(reader, attachment);
    let stopped = stopped(reader, &cue, policies)?;
    let files = files_of(reader, &cue)?;
    let mut shown = Cue::new(cue, presence, bytes_max, draft, stopped, attach);
    shown.files = files;
    Ok(shown)
}

fn attachment_shown(reader: &dyn Reader, attachment: Attachment) -> AttachmentShown {
    // A file that came from elsewhere, or that cannot be looked up now, is still named.
    let upload = reader.upload_at(&attachment.path).ok().flatten();
    AttachmentShown {
        url: upload.as_ref().map(|upload| upload_url(&upload.upload_id)),
        bytes: upload.as_ref().map(|upload| upload.bytes),
        upload_id: upload.map(|upload| upload.upload_id),
        path: attachment.path,
        name: attachment.name,
        media_type: attachment.media_type,
    }
}

/// Returns the next part of a question.
pub(super) async fn prompt_part(
    state: State<Shared>,
    id: At<CueId>,
    Asked(query): Asked<PartQuery>,
) -> Result<Json<Markup>, ApiError> {
    let cue = cue_of(&state.0, id.0).await?;
    part_of(cue.prompt, cue.origin.into(), query).await
}

/// Returns the next part of what the agent reads.
pub(super) async fn text_part(
    state: State<Shared>,
    id: At<CueId>,
    Asked(query): Asked<PartQuery>,
) -> Result<Json<Markup>, ApiError> {
    let text = text_of(&state.0, id.0).await?;
    part_of(text, Reading::Markdown, query).await
}

/// Returns a question as it was written.
pub(super) async fn prompt_source(
    State(web): State<Shared>,
    At(id): At<CueId>,
) -> Result<Response, ApiError> {
    Ok(plain(cue_of(&web, id).await?.prompt))
}

/// Returns what the agent reads, as it is.
pub(super) async fn text_source(State(web): State<Shared>, At(id): At<CueId>) -> Result<Response, ApiError> {
    Ok(plain(text_of(&web, id).await?))
}

async fn cue_of(web: &Web, id: CueId) -> Result<CueView, ApiError> {
    let cue = web.read(move |reader| reader.cue(id)).await?;
    cue.ok_or_else(ApiError::unknown_cue)
}

async fn text_of(web: &Web, id: CueId) -> Result<String, ApiError> {
    let cue = cue_of(web, id).await?;
    cue.text
        .ok_or_else(|| ApiError::not_found("the question is not decided"))
}

async fn part_of(text: String, reading: Reading, query: PartQuery) -> Result<Json<Markup>, ApiError> {
    let range = query.from..query.to.unwrap_or(text.len());
    markup(move || Markup::part(&text, reading, range, PART_BYTES)).await
}

/// Renders off the tasks that must not block.
pub(super) async fn markup(
    render: impl FnOnce() -> Markup + Send + 'static,
) -> Result<Json<Markup>, ApiError> {
    Ok(Json(crate::broker::blocking(move || Ok(render())).await?))
}

fn plain(text: String) -> Response {
    let kind = HeaderValue::from_static("text/plain; charset=utf-8");
    ([(header::CONTENT_TYPE, kind)], text).into_response()
}

/// Finds agents and questions by their words.
pub(super) async fn search(
    State(web): State<Shared>,
    Asked(query): Asked<SearchQuery>,
) -> Result<Json<Found>, ApiError> {
    web.broker.engine().human_seen();
    web.broker.engine().catch_up().await?;
    let agent: Option<AgentId> = match &query.agent {
        Some(agent) => Some(agent.parse().map_err(|_| ApiError::unknown_agent())?),
        None => None,
    };
    let presence = Presence::read(web.broker.engine()).await?;
    let limit = limit(query.limit, SEARCH_DEFAULT);
    let (words, is_everywhere, is_first) = (query.q, agent.is_none(), query.before.is_none());
    let (matches, mut found) = web
        .read(move |reader| {
            let matches = if is_everywhere && is_first {
                reader.recall(&words, None)?.matches
            } else {
                Vec::new()
            };
            let found = reader.search_cues(&words, agent.as_ref(), query.before, limit.saturating_add(1))?;
            Ok((matches, found))
        })
        .await?;
    let more = found.len() > limit as usize;
    found.truncate(limit as usize);
    let mut agents = Vec::new();
    for matched in matches {
        if let Some(agent) = agent_cards(&web, Some(matched.agent.agent_id)).await?.pop() {
            agents.push(FoundAgent {
                agent,
                why: matched.why,
            });
        }
    }
    let cues = found
        .into_iter()
        .map(|(row, snippet)| FoundCue {
            card: CueCard::new(row, &presence),
            snippet: super::markdown::visible(&snippet).into_owned(),
        })
        .collect();
    Ok(Json(Found { agents, cues, more }))
}

fn limit(wanted: Option<u32>, default: u32) -> u32 {
    wanted.unwrap_or(default).clamp(1, PAGE_MAX)
}
