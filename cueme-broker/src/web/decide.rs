//! A human decides: answers, declines, closes, and takes it back.

use std::fmt;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use protocol_spec::answer::{ANSWER_BYTES_MAX, Answer, Attachment, Reply as Chosen};
use protocol_spec::id::{CueId, RequestId};
use protocol_spec::message::{MESSAGE_BYTES_MAX, Reply};
use protocol_spec::outcome::Outcome;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use uuid::Uuid;

use super::bell::Notice;
use super::door::Visitor;
use super::drafts::without_secrets;
use super::error::ApiError;
use super::extract::{At, Input, Sent};
use super::state::{Shared, Web, unexpected};
use super::view::{DraftShown, When};
use crate::engine::{Closing, DiskReserve, Work, Write};
use crate::store::DraftPlace;

/// An answer.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AnswerBody {
    /// Made by the page, once for each decision.
    id: Uuid,
    answer: AnswerSent,
    /// How long it can be taken back; the setting unless given.
    hold_ms: Option<u64>,
}

impl Input for AnswerBody {
    // JSON may need up to six bytes for one of the text.
    const BYTES_MAX: usize = 2 * ANSWER_BYTES_MAX;
}

/// What a human answers.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Answer")]
struct AnswerSent {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<ReplyDescribed>")]
    reply: Option<Chosen>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    attachments: Vec<AttachmentSent>,
    /// Whether it ends the run of the agent. An answer that is taken back does not keep it.
    #[serde(default, skip_serializing)]
    ends_run: bool,
}

/// A file that was uploaded before.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Attachment")]
struct AttachmentSent {
    upload_id: String,
}

/// A reply of the same type as the payload. Only describes; the contract's own type is read.
#[derive(Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "lowercase")]
#[schemars(rename = "Reply")]
#[allow(dead_code, reason = "it is a description")]
enum ReplyDescribed {
    Choice {
        selected: Vec<String>,
        other: Option<String>,
    },
    Confirm {
        confirmed: bool,
    },
    Form {
        fields: Vec<FieldDescribed>,
    },
    Continue,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "FieldAnswer")]
#[allow(dead_code, reason = "it is a description")]
struct FieldDescribed {
    label: String,
    values: Vec<String>,
    other: Option<String>,
}

/// A refusal or a closing.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CloseBody {
    /// Made by the page, once for each decision.
    id: Uuid,
    /// Why.
    reason: Option<String>,
    /// How long it can be taken back; the setting unless given.
    hold_ms: Option<u64>,
}

impl Input for CloseBody {
    const BYTES_MAX: usize = 2 * MESSAGE_BYTES_MAX;
}

/// Nothing.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Empty {}

impl Input for Empty {}

/// A question is decided.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Decided {
    cue_id: String,
    agent_id: String,
    #[schemars(with = "String")]
    outcome: Outcome,
    handed_to: u32,
    released_at: Option<When>,
}

/// A question is open again.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Undone {
    cue_id: String,
    draft: Option<DraftShown>,
}

/// Answers a question.
pub(super) async fn answer(
    State(web): State<Shared>,
    visitor: Visitor,
    At(cue): At<CueId>,
    Sent(body): Sent<AnswerBody>,
) -> Result<Json<Decided>, ApiError> {
    let sent = body.answer.clone();
    let mut attachments = Vec::with_capacity(sent.attachments.len());
    for attachment in &sent.attachments {
        attachments.push(find_upload(&web, &attachment.upload_id).await?);
    }
    let answer = Answer {
        text: body.answer.text,
        reply: body.answer.reply,
        attachments,
        ends_run: body.answer.ends_run,
    };
    let draft = sent_draft(&web, cue, &sent, visitor.name())
        .await
        .unwrap_or_else(|error| {
            not_kept(&error);
            None
        });
    let work = Work::Answer {
        cue,
        answer,
        by: visitor.name(),
        hold_ms: web.hold_ms(body.hold_ms),
    };
    decide(&web, &visitor, body.id, cue, work, draft).await
}

/// Declines a question.
pub(super) async fn decline(
    state: State<Shared>,
    visitor: Visitor,
    cue: At<CueId>,
    body: Sent<CloseBody>,
) -> Result<Json<Decided>, ApiError> {
    close(&state.0, &visitor, cue.0, body.0, Closing::Decline).await
}

/// Closes a question without an answer.
pub(super) async fn cancel(
    state: State<Shared>,
    visitor: Visitor,
    cue: At<CueId>,
    body: Sent<CloseBody>,
) -> Result<Json<Decided>, ApiError> {
    close(&state.0, &visitor, cue.0, body.0, Closing::Cancel).await
}

async fn close(
    web: &Web,
    visitor: &Visitor,
    cue: CueId,
    body: CloseBody,
    closing: impl FnOnce(Option<String>) -> Closing,
) -> Result<Json<Decided>, ApiError> {
    let reason = body
        .reason
        .map(|reason| reason.trim().to_owned())
        .filter(|reason| !reason.is_empty());
    if reason
        .as_ref()
        .is_some_and(|reason| reason.len() > MESSAGE_BYTES_MAX)
    {
        return Err(ApiError::too_large(MESSAGE_BYTES_MAX));
    }
    let work = Work::Close {
        cue,
        verdict: closing(reason),
        by: visitor.name(),
        hold_ms: web.hold_ms(body.hold_ms),
    };
    decide(web, visitor, body.id, cue, work, None).await
}

/// Takes a decision back.
pub(super) async fn undo(
    State(web): State<Shared>,
    visitor: Visitor,
    At(cue): At<CueId>,
    Sent(Empty {}): Sent<Empty>,
) -> Result<Json<Undone>, ApiError> {
    let request = RequestId(Uuid::now_v7());
    match web.order(&visitor, request, Work::Undo(cue)).await? {
        Reply::Undone(undone) => {
            let draft = web
                .read(move |reader| reader.draft(&DraftPlace::cue(cue)))
                .await?;
            Ok(Json(Undone {
                cue_id: undone.cue_id.into(),
                draft: draft.map(DraftShown::from),
            }))
        }
        other => Err(unexpected(&other)),
    }
}

async fn decide(
    web: &Web,
    visitor: &Visitor,
    id: Uuid,
    cue: CueId,
    work: Work,
    draft: Option<Write<'static>>,
) -> Result<Json<Decided>, ApiError> {
    match web.order_after(visitor, draft, RequestId(id), work).await {
        Ok(Reply::Decided(decided)) => Ok(Json(Decided {
            cue_id: decided.cue_id.into(),
            agent_id: decided.agent_id.into(),
            outcome: decided.outcome,
            handed_to: decided.handed_to,
            released_at: decided.released_at.map(When::from),
        })),
        Ok(other) => Err(unexpected(&other)),
        Err(error) if error.problem.code == "already_decided" => {
            Err(error.with_details(who_decided(web, cue).await?))
        }
        Err(error) => Err(error),
    }
}

/// Tells the second of two humans who was first, and what they said.
async fn who_decided(web: &Web, cue: CueId) -> Result<Value, ApiError> {
    let made = web.read(move |reader| reader.cue(cue)).await?;
    Ok(made.map_or(
        Value::Null,
        |cue| json!({ "by": cue.by, "outcome": cue.outcome, "decided_at": cue.decided_at, "text": cue.text }),
    ))
}

/// Finds a file by the name it was given; the agent gets its absolute path.
async fn find_upload(web: &Web, upload_id: &str) -> Result<Attachment, ApiError> {
    let id = upload_id.to_owned();
    let upload = web.read(move |reader| reader.upload(&id)).await?;
    let upload = upload.ok_or_else(|| {
        ApiError::new(
            StatusCode::BAD_REQUEST,
            "invalid_answer",
            "an attachment was never uploaded here",
        )
    })?;
    Ok(Attachment {
        path: upload.path,
        name: Some(upload.name),
        media_type: Some(upload.media_type),
    })
}

/// Returns the write that keeps an answer as a draft, so that taking it back loses nothing.
async fn sent_draft(
    web: &Shared,
    cue: CueId,
    sent: &AnswerSent,
    by: Option<String>,
) -> Result<Option<Write<'static>>, ApiError> {
    let body = serde_json::to_value(sent).unwrap_or_default();
    let body = without_secrets(web, cue, body).await?.to_string();
    let is_answerable = web
        .read(move |reader| reader.cue_row(cue))
        .await?
        .is_some_and(|row| row.outcome.is_answerable() && !row.damaged);
    if !is_answerable {
        return Ok(None);
    }
    let web = Arc::clone(web);
    Ok(Some(Write::new(
        DiskReserve::Keep,
        move |store, now| store.keep_sent(&DraftPlace::cue(cue), &body, by.as_deref(), now),
        move |kept| match kept {
            Ok(kept) => web.bell.notice(Notice::draft(None, Some(cue), kept.rev)),
            Err(error) => not_kept(&error),
        },
    )))
}

/// A draft that cannot be kept does not stand in the way of the answer, on a full disk above all.
fn not_kept(error: &dyn fmt::Debug) {
    tracing::warn!(?error, "the answer could not be kept as a draft");
}

impl Web {
    fn hold_ms(&self, wanted: Option<u64>) -> u64 {
        wanted.unwrap_or_else(|| self.settings.current().hold_ms())
    }
}
