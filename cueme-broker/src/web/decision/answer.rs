//! Answers a question.

use std::fmt;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use protocol_spec::answer::{ANSWER_BYTES_MAX, Answer, Attachment, Reply as Chosen};
use protocol_spec::id::CueId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::decide::{Decided, decide};
use crate::engine::{DiskReserve, Work, Write};
use crate::store::DraftPlace;
use crate::web::door::Visitor;
use crate::web::draft::without_secrets;
use crate::web::error::ApiError;
use crate::web::extract::{At, Input, Sent};
use crate::web::page_events::Notice;
use crate::web::state::{Shared, Web};

/// An answer.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AnswerBody {
    /// Created by the page, once for each decision.
    id: Uuid,
    answer: AnswerSent,
    /// The time during which it can be undone; the setting unless given.
    hold_ms: Option<u64>,
}

impl Input for AnswerBody {
    // JSON may need up to six bytes for one of the text.
    const BYTES_MAX: usize = 2 * ANSWER_BYTES_MAX;
}

/// A human's answer.
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

/// Returns the write that keeps an answer as a draft, so that an undo loses nothing.
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
            Ok(kept) => web.page_events.notice(Notice::draft(None, Some(cue), kept.rev)),
            Err(error) => not_kept(&error),
        },
    )))
}

/// If the draft cannot be stored, such as on a full disk, the answer is given all the same.
fn not_kept(error: &dyn fmt::Debug) {
    tracing::warn!(?error, "the answer could not be kept as a draft");
}
