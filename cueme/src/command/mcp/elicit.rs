//! The client's own dialog, where it has one: the human may answer there too.
//!
//! The broker stays the source of truth. An answer in the dialog goes to the broker like any other answer, and the
//! first answer wins; when it came from elsewhere, the dialog is withdrawn.

use std::sync::Arc;
use std::time::{Duration, Instant};

use protocol_spec::answer::{Answer, FieldAnswer, Reply};
use protocol_spec::endpoint::Places;
use protocol_spec::id::CueId;
use protocol_spec::message::{Decline, GiveAnswer, Request};
use protocol_spec::outcome::Kind;
use protocol_spec::payload::{Field, Kind as FieldKind, Payload, Shape};
use rmcp::model::{
    ClientResult, ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema,
    ServerRequest, object,
};
use rmcp::service::{PeerRequestOptions, RequestContext, RequestHandle};
use rmcp::{Peer, RoleServer};
use serde_json::{Map, Value, json};

use crate::client::{Question, call};
use crate::output;

/// The author of the answer, in lists and on the page.
const BY: &str = "the client's dialog";
/// A dialog that is declined sooner was declined by a program: clients without a person at them do that.
const HUMAN_TAKES_AT_LEAST: Duration = Duration::from_secs(1);
const ELSEWHERE: &str = "it was decided elsewhere";
/// The members of a dialog's content.
const ANSWER: &str = "answer";
const CHOICE: &str = "choice";
const CONFIRMED: &str = "confirmed";
const COMMENT: &str = "comment";

/// A dialog, and how its input becomes an answer.
#[derive(Debug)]
pub(super) struct Form {
    message: String,
    shape: FormKind,
}

#[derive(Debug)]
enum FormKind {
    Text,
    Pause,
    Shape(Shape),
}

/// A dialog that the client shows.
#[derive(Debug)]
pub(super) struct Dialog {
    handle: RequestHandle<RoleServer>,
    cue: CueId,
    form: Form,
    opened: Instant,
}

/// Says whether the client can show forms.
///
/// Only what it said in a handshake counts: revisions without one forbid a server to ask its client.
pub(super) fn is_offered(context: &RequestContext<RoleServer>) -> bool {
    let offered = context
        .peer
        .peer_info()
        .and_then(|client| client.capabilities.elicitation.clone());
    // A client that names no mode means forms: there was nothing else when it was written.
    offered.is_some_and(|modes| modes.form.is_some() || modes.url.is_none())
}

/// Returns the dialog for a question; none where a secret is asked for, which clients must not be made to relay.
pub(super) fn form(question: &Question) -> Option<Form> {
    let shape = match (&question.payload, question.kind) {
        (_, Kind::Pause) => FormKind::Pause,
        (None, Kind::Cue) => FormKind::Text,
        (Some(written), Kind::Cue) => FormKind::Shape(Payload::parse(written.get()).ok()?.shape().clone()),
    };
    let has_secrets =
        matches!(&shape, FormKind::Shape(Shape::Form(form)) if form.fields.iter().any(Field::is_secret));
    (!has_secrets).then(|| Form {
        message: question.prompt.clone(),
        shape,
    })
}

impl Dialog {
    /// Shows a dialog; none when the client cannot after all.
    pub(super) async fn open(peer: &Peer<RoleServer>, cue: CueId, form: Form) -> Option<Self> {
        let requested_schema = ElicitationSchema::from_json_schema(object(form.schema())).ok()?;
        let request = ElicitRequest::new(ElicitRequestParams::FormElicitationParams {
            meta: None,
            message: form.message.clone(),
            requested_schema,
        });
        let handle = peer
            .send_cancellable_request(
                ServerRequest::ElicitRequest(request),
                PeerRequestOptions::no_options(),
            )
            .await
            .ok()?;
        Some(Self {
            handle,
            cue,
            form,
            opened: Instant::now(),
        })
    }

    /// Waits until the human has closed the dialog; returns what they decided, if anything.
    ///
    /// It may be dropped while it waits, and awaited anew; once it has returned, the dialog is over.
    pub(super) async fn closed(dialog: &mut Option<Self>) -> Option<Request> {
        let open = dialog.as_mut()?;
        let Ok(Ok(ClientResult::ElicitResult(result))) = (&mut open.handle.rx).await else {
            return None;
        };
        open.form.decision(open.cue, result, open.opened.elapsed())
    }

    /// Takes what the human decided to the broker.
    pub(super) async fn decide(places: Arc<Places>, request: Request) {
        let decided = tokio::task::spawn_blocking(move || call(&places, &request)).await;
        if let Ok(Err(error)) = decided {
            // Somebody else was first, or it does not fit; the question is where it was.
            output::tell(&format!("the dialog's answer was not accepted: {error}"));
        }
    }

    /// Closes the dialog because the question was decided elsewhere.
    pub(super) async fn withdraw(self) {
        // A client that cannot take it back shows a dialog that changes nothing any more.
        let _ = self.handle.cancel(Some(ELSEWHERE.to_owned())).await;
    }
}

impl Form {
    fn schema(&self) -> Value {
        let comment = json!({ "type": "string", "title": "Comment" });
        match &self.shape {
            FormKind::Text => json!({
                "type": "object",
                "properties": { ANSWER: { "type": "string", "title": "Your answer" } },
                "required": [ANSWER]
            }),
            FormKind::Pause => json!({ "type": "object", "properties": { COMMENT: comment } }),
            FormKind::Shape(Shape::Choice(choice)) => json!({
                "type": "object",
                "properties": { CHOICE: picked(&choice.options, choice.allow_multiple), COMMENT: comment }
            }),
            FormKind::Shape(Shape::Confirm(confirm)) => json!({
                "type": "object",
                "properties": {
                    CONFIRMED: { "type": "boolean", "title": confirm.confirm_label },
                    COMMENT: comment
                },
                "required": [CONFIRMED]
            }),
            FormKind::Shape(Shape::Form(form)) => {
                let properties: Map<String, Value> = form
                    .fields
                    .iter()
                    .enumerate()
                    .map(|(place, field)| (name(place), property(field)))
                    .collect();
                let required: Vec<String> = form
                    .fields
                    .iter()
                    .enumerate()
                    .filter(|(_, field)| field.required)
                    .map(|(place, _)| name(place))
                    .collect();
                json!({ "type": "object", "properties": properties, "required": required })
            }
        }
    }

    /// Returns what the human decided within this time; nothing when they only closed the dialog.
    fn decision(&self, cue: CueId, result: ElicitResult, within: Duration) -> Option<Request> {
        let by = Some(BY.to_owned());
        match result.action {
            ElicitationAction::Accept => {
                let content = result.content.unwrap_or(Value::Null);
                Some(Request::Answer(GiveAnswer {
                    cue: cue.to_string(),
                    answer: self.answer(&content),
                    by,
                    hold_ms: 0,
                }))
            }
            ElicitationAction::Decline if within >= HUMAN_TAKES_AT_LEAST => Some(Request::Decline(Decline {
                cue: cue.to_string(),
                reason: None,
                by,
            })),
            // Closing the dialog is no decision, and neither is what clients may one day say beside it.
            _ => None,
        }
    }

    fn answer(&self, content: &Value) -> Answer {
        let text = |member: &str| {
            let text = content.get(member).and_then(Value::as_str)?;
            (!text.trim().is_empty()).then(|| text.to_owned())
        };
        let (text, reply) = match &self.shape {
            FormKind::Text => (text(ANSWER), None),
            FormKind::Pause => (text(COMMENT), Some(Reply::Continue)),
            FormKind::Shape(Shape::Choice(_)) => {
                let selected = values(content.get(CHOICE));
                (
                    text(COMMENT),
                    Some(Reply::Choice {
                        selected,
                        other: None,
                    }),
                )
            }
            FormKind::Shape(Shape::Confirm(_)) => {
                let confirmed = content.get(CONFIRMED).and_then(Value::as_bool);
                (
                    text(COMMENT),
                    confirmed.map(|confirmed| Reply::Confirm { confirmed }),
                )
            }
            FormKind::Shape(Shape::Form(form)) => {
                let fields = form
                    .fields
                    .iter()
                    .enumerate()
                    .map(|(place, field)| FieldAnswer {
                        label: field.label.clone(),
                        values: values(content.get(name(place))),
                        other: None,
                    })
                    .filter(|field| !field.values.is_empty())
                    .collect();
                (None, Some(Reply::Form { fields }))
            }
        };
        Answer {
            text,
            reply,
            attachments: Vec::new(),
            ends_run: false,
        }
    }
}

/// The members of a form have names of their own: a label may be anything.
fn name(place: usize) -> String {
    format!("field_{}", place + 1)
}

fn picked(options: &[String], allow_multiple: bool) -> Value {
    if allow_multiple {
        json!({ "type": "array", "items": { "type": "string", "enum": options } })
    } else {
        json!({ "type": "string", "enum": options })
    }
}

fn property(field: &Field) -> Value {
    let mut property = match &field.kind {
        _ if !field.options.is_empty() => picked(&field.options, field.allow_multiple),
        FieldKind::Number => json!({ "type": "number" }),
        FieldKind::Boolean => json!({ "type": "boolean" }),
        FieldKind::Date => json!({ "type": "string", "format": "date" }),
        FieldKind::Text | FieldKind::Textarea | FieldKind::Password | FieldKind::Other(_) => {
            json!({ "type": "string" })
        }
    };
    property["title"] = json!(field.label);
    property
}

/// Reads one value or several as texts.
fn values(value: Option<&Value>) -> Vec<String> {
    match value {
        Some(Value::Array(values)) => values.iter().filter_map(value_of).collect(),
        Some(value) => value_of(value).into_iter().collect(),
        None => Vec::new(),
    }
}

fn value_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => (!text.is_empty()).then(|| text.clone()),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Number(number) => Some(number.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;

    use super::*;

    fn question(payload: Option<&str>) -> Question {
        Question {
            agent_id: "bako-nefi".parse().unwrap(),
            kind: Kind::Cue,
            prompt: "Which?".to_owned(),
            payload: payload.map(|text| RawValue::from_string(text.to_owned()).unwrap()),
        }
    }

    #[test]
    fn every_payload_becomes_a_dialog_that_clients_understand_and_an_answer_that_fits() {
        let cases = [
            (None, json!({ "answer": "that one" }), "that one"),
            (
                Some(r#"{"type":"choice","options":["a","b"]}"#),
                json!({ "choice": "b", "comment": "please" }),
                "b\n\nplease",
            ),
            (
                Some(r#"{"type":"choice","options":["a","b"],"allow_multiple":true}"#),
                json!({ "choice": ["a", "b"] }),
                "a\nb",
            ),
            (
                Some(r#"{"type":"confirm","confirm_label":"Ship"}"#),
                json!({ "confirmed": true }),
                "Ship",
            ),
            (
                Some(
                    r#"{"type":"form","fields":[{"label":"Env","options":["prod","dev"]},{"label":"Count","kind":"number"},{"label":"Sure?","kind":"boolean"}]}"#,
                ),
                json!({ "field_1": "dev", "field_2": 3, "field_3": true }),
                "Env: dev\nCount: 3\nSure?: true",
            ),
        ];
        for (payload, content, text) in cases {
            let asked = question(payload);
            let form = form(&asked).unwrap();
            ElicitationSchema::from_json_schema(object(form.schema())).unwrap();
            let payload = payload.map(|text| Payload::parse(text).unwrap());
            let question = protocol_spec::answer::Question::Cue(payload.as_ref());
            let checked = form.answer(&content).check(question).unwrap();
            assert_eq!(checked.render().text, text);
        }
    }

    #[test]
    fn a_secret_is_never_asked_for_in_a_dialog() {
        let secret = r#"{"type":"form","fields":[{"label":"Key","kind":"password"}]}"#;
        assert!(form(&question(Some(secret))).is_none());
    }

    #[test]
    fn closing_a_dialog_decides_nothing_and_a_person_who_declines_does() {
        let form = form(&question(None)).unwrap();
        let cue = CueId::from_random(1);
        let said = |action, within| form.decision(cue, ElicitResult::new(action), within);
        let long = HUMAN_TAKES_AT_LEAST;
        assert!(said(ElicitationAction::Cancel, long).is_none());
        assert!(matches!(
            said(ElicitationAction::Decline, long),
            Some(Request::Decline(_))
        ));
        assert!(said(ElicitationAction::Decline, Duration::from_millis(20)).is_none());
    }
}
