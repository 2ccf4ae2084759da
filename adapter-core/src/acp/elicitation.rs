//! `elicitation/create`: a form that an agent, or an MCP server behind it, wants filled in, or an address to visit.

use protocol_spec::answer::{Answer, FieldAnswer, Reply};
use protocol_spec::message::DeliveredOutcome;
use protocol_spec::outcome::Outcome;
use protocol_spec::payload::{FIELDS_MAX, LABEL_BYTES_MAX, OPTION_BYTES_MAX};
use serde_json::{Map, Number, Value, json};

use super::question::AcpForm;
use crate::hap::distinct;

const VISIT: &str = r#"{"type":"confirm","confirm_label":"I have done it","cancel_label":"Refuse"}"#;

/// A form to fill in, or an address to visit.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Elicitation {
    message: String,
    asked: ElicitationKind,
}

#[derive(Debug, Clone, PartialEq)]
enum ElicitationKind {
    Form(Vec<Property>),
    Url(String),
}

#[derive(Debug, Clone, PartialEq)]
struct Property {
    name: String,
    label: String,
    description: Option<String>,
    kind: PropertyKind,
    /// The values that are offered, with what the human reads.
    offered: Vec<(Value, String)>,
    is_required: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PropertyKind {
    Text,
    Number,
    Boolean,
    List,
}

impl Elicitation {
    /// Reads the request; `None` when its form is unknown.
    pub(super) fn read(params: &Value) -> Option<Self> {
        let message = params
            .get("message")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned();
        let asked = match params.get("mode").and_then(Value::as_str).unwrap_or("form") {
            "form" => ElicitationKind::Form(properties(params.get("requestedSchema")?)?),
            "url" => ElicitationKind::Url(params.get("url")?.as_str()?.to_owned()),
            _ => return None,
        };
        Some(Self { message, asked })
    }

    pub(super) fn form(&self) -> AcpForm {
        match &self.asked {
            ElicitationKind::Url(url) => AcpForm {
                prompt: format!("{}\n\nThe agent asks you to visit:\n\n{url}", self.message),
                payload: Some(VISIT.to_owned()),
            },
            ElicitationKind::Form(properties) => {
                let fields: Vec<Value> = properties.iter().map(Property::field).collect();
                let described = properties.iter().filter_map(|property| {
                    let description = property.description.as_deref()?;
                    Some(format!("- {}: {description}", property.label))
                });
                let lines: Vec<String> = std::iter::once(self.message.clone()).chain(described).collect();
                AcpForm {
                    prompt: lines.join("\n"),
                    payload: Some(json!({"type": "form", "fields": fields}).to_string()),
                }
            }
        }
    }

    pub(super) fn result(&self, told: &DeliveredOutcome) -> Value {
        let answer = told.answer.as_ref().filter(|_| told.outcome == Outcome::Answered);
        let accepted = answer.and_then(|answer| match &self.asked {
            ElicitationKind::Url(_) => matches!(answer.reply, Some(Reply::Confirm { confirmed: true }))
                .then(|| json!({"action": "accept"})),
            ElicitationKind::Form(properties) => {
                content(properties, answer).map(|content| json!({"action": "accept", "content": content}))
            }
        });
        match (accepted, told.outcome) {
            (Some(accepted), _) => accepted,
            (None, Outcome::Answered | Outcome::Declined) => {
                json!({"action": "decline", "_meta": {"cueme": {"reason": told.text}}})
            }
            (None, _) => json!({"action": "cancel"}),
        }
    }
}

impl Property {
    fn field(&self) -> Value {
        let mut field = json!({"label": self.label, "required": self.is_required});
        if !self.offered.is_empty() {
            let options: Vec<&String> = self.offered.iter().map(|(_, text)| text).collect();
            field["options"] = json!(options);
            field["allow_multiple"] = json!(self.kind == PropertyKind::List);
            return field;
        }
        field["kind"] = json!(match self.kind {
            PropertyKind::Number => "number",
            PropertyKind::Boolean => "boolean",
            PropertyKind::Text | PropertyKind::List => "text",
        });
        field
    }

    /// Returns the value as the schema wants it; `None` when the human's words are no such value.
    fn value(&self, given: &FieldAnswer) -> Option<Value> {
        if given.other.is_some() && !self.offered.is_empty() {
            return None;
        }
        let found = |text: &String| match self.offered.iter().find(|(_, shown)| shown == text) {
            Some((value, _)) => Some(value.clone()),
            None if self.offered.is_empty() => self.typed(text),
            None => None,
        };
        let values: Vec<Value> = given.values.iter().map(found).collect::<Option<_>>()?;
        match self.kind {
            PropertyKind::List => Some(Value::Array(values)),
            _ => values.into_iter().next(),
        }
    }

    fn typed(&self, text: &str) -> Option<Value> {
        Some(match self.kind {
            PropertyKind::Boolean => Value::Bool(text == "true"),
            PropertyKind::Number => Value::Number(text.trim().parse::<Number>().ok()?),
            PropertyKind::Text | PropertyKind::List => Value::String(text.to_owned()),
        })
    }
}

/// Returns the values of a form; `None` when they are not what was asked for.
fn content(properties: &[Property], answer: &Answer) -> Option<Map<String, Value>> {
    let Some(Reply::Form { fields }) = &answer.reply else {
        // One line for one text is an answer too.
        let ([only], Some(text)) = (properties, &answer.text) else {
            return None;
        };
        let given = FieldAnswer {
            label: only.label.clone(),
            values: vec![text.clone()],
            other: None,
        };
        return Some(Map::from_iter([(only.name.clone(), only.value(&given)?)]));
    };
    let mut content = Map::new();
    for property in properties {
        let given = fields.iter().find(|field| field.label == property.label);
        match given.filter(|field| !field.values.is_empty() || field.other.is_some()) {
            Some(given) => {
                content.insert(property.name.clone(), property.value(given)?);
            }
            None if property.is_required => return None,
            None => {}
        }
    }
    Some(content)
}

fn properties(schema: &Value) -> Option<Vec<Property>> {
    let members = schema.get("properties")?.as_object()?;
    if members.is_empty() || members.len() > FIELDS_MAX {
        return None;
    }
    let required = schema.get("required").and_then(Value::as_array);
    let is_required = |name: &str| required.is_some_and(|names| names.iter().any(|other| other == name));
    let titles = members.iter().map(|(name, property)| {
        let title = property.get("title").and_then(Value::as_str).unwrap_or(name);
        title.split_whitespace().collect::<Vec<_>>().join(" ")
    });
    let titles: Vec<String> = titles.collect();
    let labels = distinct(titles.iter().map(String::as_str), LABEL_BYTES_MAX);
    let read = |((name, property), label): ((&String, &Value), String)| Property {
        name: name.clone(),
        label,
        description: property
            .get("description")
            .and_then(Value::as_str)
            .map(str::to_owned),
        kind: match property.get("type").and_then(Value::as_str) {
            Some("number" | "integer") => PropertyKind::Number,
            Some("boolean") => PropertyKind::Boolean,
            Some("array") => PropertyKind::List,
            _ => PropertyKind::Text,
        },
        offered: offered(property),
        is_required: is_required(name),
    };
    Some(members.iter().zip(labels).map(read).collect())
}

/// Returns the values that a schema offers, with what the human reads.
fn offered(property: &Value) -> Vec<(Value, String)> {
    let of = property.get("items").unwrap_or(property);
    let list = |name: &str| of.get(name).and_then(Value::as_array);
    let values: Vec<(Value, String)> = match (list("enum"), list("oneOf").or_else(|| list("anyOf"))) {
        (Some(plain), _) => plain.iter().map(|value| (value.clone(), words(value))).collect(),
        (None, Some(titled)) => titled
            .iter()
            .filter_map(|one| {
                let value = one.get("const")?.clone();
                let title = one.get("title").and_then(Value::as_str).map(str::to_owned);
                let title = title.unwrap_or_else(|| words(&value));
                Some((value, title))
            })
            .collect(),
        (None, None) => Vec::new(),
    };
    let texts = distinct(values.iter().map(|(_, text)| text.as_str()), OPTION_BYTES_MAX);
    values.into_iter().map(|(value, _)| value).zip(texts).collect()
}

fn words(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
