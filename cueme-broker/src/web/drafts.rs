//! What somebody has begun to write. Kept by the broker, so that it is there on the next device.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use protocol_spec::id::{AgentId, CueId};
use protocol_spec::payload::{Field, Form, Payload, Shape};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::agents::one;
use super::bell::Notice;
use super::door::Visitor;
use super::error::ApiError;
use super::extract::{At, Input, Sent};
use super::state::{Shared, Web};
use super::view::DraftShown;
use crate::store::DraftPlace;

/// A draft.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DraftBody {
    /// The revision this one is based on; 0 when there was none.
    rev: i64,
    /// Whatever the page keeps; usually an answer.
    body: Map<String, Value>,
}

impl Input for DraftBody {
    const BYTES_MAX: usize = 4 * 1024 * 1024;
}

/// Keeps the draft of an answer.
pub(super) async fn keep_for_cue(
    State(web): State<Shared>,
    visitor: Visitor,
    At(cue): At<CueId>,
    Sent(draft): Sent<DraftBody>,
) -> Result<Json<DraftShown>, ApiError> {
    let body = without_secrets(&web, cue, Value::Object(draft.body)).await?;
    let notice = move |rev| Notice::draft(None, Some(cue), rev);
    keep(&web, &visitor, DraftPlace::cue(cue), draft.rev, &body, notice).await
}

/// Keeps the draft of a message.
pub(super) async fn keep_for_agent(
    State(web): State<Shared>,
    visitor: Visitor,
    At(agent): At<AgentId>,
    Sent(draft): Sent<DraftBody>,
) -> Result<Json<DraftShown>, ApiError> {
    one(&web, agent.clone()).await?;
    let place = DraftPlace::agent(&agent);
    let notice = move |rev| Notice::draft(Some(agent), None, rev);
    keep(
        &web,
        &visitor,
        place,
        draft.rev,
        &Value::Object(draft.body),
        notice,
    )
    .await
}

/// Throws the draft of an answer away.
pub(super) async fn drop_for_cue(
    State(web): State<Shared>,
    At(cue): At<CueId>,
) -> Result<StatusCode, ApiError> {
    web.write(move |store, _| store.drop_draft(&DraftPlace::cue(cue)))
        .await?;
    web.bell.notice(Notice::draft(None, Some(cue), 0));
    Ok(StatusCode::NO_CONTENT)
}

/// Throws the draft of a message away.
pub(super) async fn drop_for_agent(
    State(web): State<Shared>,
    At(agent): At<AgentId>,
) -> Result<StatusCode, ApiError> {
    let place = DraftPlace::agent(&agent);
    web.write(move |store, _| store.drop_draft(&place)).await?;
    web.bell.notice(Notice::draft(Some(agent), None, 0));
    Ok(StatusCode::NO_CONTENT)
}

async fn keep(
    web: &Web,
    visitor: &Visitor,
    place: DraftPlace,
    base: i64,
    body: &Value,
    notice: impl FnOnce(i64) -> Notice,
) -> Result<Json<DraftShown>, ApiError> {
    let (body, by) = (body.to_string(), visitor.name());
    let kept = web
        .write(move |store, now| store.keep_draft(&place, base, &body, by.as_deref(), now))
        .await?;
    match kept {
        Ok(draft) => {
            web.bell.notice(notice(draft.rev));
            Ok(Json(draft.into()))
        }
        Err(stored) => {
            let details = serde_json::to_value(DraftShown::from(stored)).unwrap_or_default();
            Err(ApiError::new(
                StatusCode::CONFLICT,
                "stale_draft",
                "somebody wrote on this draft meanwhile",
            )
            .with_hint("merge with what is in `details`, and send its `rev`")
            .with_details(details))
        }
    }
}

/// Removes what was written into password fields: that is never kept before it is sent.
pub(super) async fn without_secrets(web: &Web, cue: CueId, mut body: Value) -> Result<Value, ApiError> {
    let payload = web
        .read(move |reader| reader.payload(cue))
        .await?
        .ok_or_else(ApiError::unknown_cue)?;
    let shape = payload.and_then(|payload| Payload::parse(&payload).ok());
    if let Some(Shape::Form(form)) = shape.as_ref().map(Payload::shape)
        && form.fields.iter().any(Field::is_secret)
    {
        erase_secrets(&mut body, form);
    }
    Ok(body)
}

/// Keeps of a form with secrets what is known to be none.
///
/// What is sent may be refused because a label is misspelt; what stands under it may be the password all the same.
fn erase_secrets(body: &mut Value, form: &Form) {
    let labels = |is_secret: bool| -> Vec<&str> {
        let fields = form.fields.iter().filter(|field| field.is_secret() == is_secret);
        fields.map(|field| field.label.as_str()).collect()
    };
    let (open, secret) = (labels(false), labels(true));
    if let Some(reply) = body.get("reply")
        && reply.get("type").and_then(Value::as_str) != Some("form")
        && let Some(members) = body.as_object_mut()
    {
        members.remove("reply");
    }
    erase(body, &open, &secret);
}

/// Removes the values of fields that are not known to be open, named by their label or as keys of their own.
fn erase(value: &mut Value, open: &[&str], secret: &[&str]) {
    match value {
        Value::Object(members) => {
            if let Some(label) = members.get("label")
                && !label.as_str().is_some_and(|label| open.contains(&label))
            {
                members.retain(|key, _| key == "label");
            }
            let same = |a: &str, b: &str| a.trim().to_lowercase() == b.trim().to_lowercase();
            members.retain(|key, _| !secret.iter().any(|label| same(key, label)));
            members.values_mut().for_each(|value| erase(value, open, secret));
        }
        Value::Array(values) => values.iter_mut().for_each(|value| erase(value, open, secret)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn secrets_are_erased_wherever_they_are() {
        let mut body = json!({
            "text": "x",
            "reply": { "type": "form", "fields": [
                { "label": "User", "values": ["ann"] },
                { "label": "Key", "values": ["s3cret"], "other": "t0p" },
                { "label": "key ", "values": ["s3cret"] },
                { "label": "Pasword", "values": ["s3cret"] },
            ]},
            "fields": { "Key": "s3cret", " KEY": "s3cret", "User": "ann" },
        });
        let payload = r#"{"type":"form","fields":[{"label":"User"},{"label":"Key","kind":"password"}]}"#;
        let payload = Payload::parse(payload).unwrap();
        let Shape::Form(form) = payload.shape() else {
            panic!("no form")
        };
        erase_secrets(&mut body, form);
        let mut other = json!({ "reply": { "type": "choice", "selected": ["s3cret"] } });
        erase_secrets(&mut other, form);
        assert_eq!(other, json!({}));
        assert!(
            !body.to_string().contains("s3cret") && !body.to_string().contains("t0p"),
            "{body}"
        );
        assert!(body.to_string().contains("ann"));
    }
}
