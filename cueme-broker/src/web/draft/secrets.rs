//! Removes the values of password fields from a draft.

use protocol_spec::id::CueId;
use protocol_spec::payload::{Field, Form, Payload, Shape};
use serde_json::Value;

use crate::web::error::ApiError;
use crate::web::state::Web;

/// Removes the content of password fields, which is never stored before it is sent.
pub(in crate::web) async fn without_secrets(
    web: &Web,
    cue: CueId,
    mut body: Value,
) -> Result<Value, ApiError> {
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

/// Keeps only the values of a form with secrets that are known not to be secret.
///
/// A form may be refused because of a misspelt label; the value under that label may still be the password.
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
