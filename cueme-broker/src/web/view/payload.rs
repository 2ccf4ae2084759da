//! A question's payload, as the page gets it.

use protocol_spec::answer::{NO, YES};
use protocol_spec::payload::Shape;
use schemars::JsonSchema;
use serde::Serialize;

/// A payload with every default filled.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "lowercase")]
#[schemars(rename = "Payload")]
pub(super) enum PayloadShown {
    Choice {
        options: Vec<String>,
        allow_multiple: bool,
    },
    Confirm {
        text: Option<String>,
        confirm_label: String,
        cancel_label: String,
        /// Plain words that mean the confirming button, in lower case.
        yes: &'static [&'static str],
        /// Plain words that mean the other button, in lower case.
        no: &'static [&'static str],
    },
    Form {
        fields: Vec<FieldShown>,
    },
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "FormField")]
pub(super) struct FieldShown {
    label: String,
    kind: String,
    options: Vec<String>,
    allow_multiple: bool,
    required: bool,
}

impl From<Shape> for PayloadShown {
    fn from(shape: Shape) -> Self {
        match shape {
            Shape::Choice(choice) => Self::Choice {
                options: choice.options,
                allow_multiple: choice.allow_multiple,
            },
            Shape::Confirm(confirm) => Self::Confirm {
                text: confirm.text,
                confirm_label: confirm.confirm_label,
                cancel_label: confirm.cancel_label,
                yes: &YES,
                no: &NO,
            },
            Shape::Form(form) => Self::Form {
                fields: form
                    .fields
                    .into_iter()
                    .map(|field| FieldShown {
                        kind: known_kind(field.kind.name()).to_owned(),
                        label: field.label,
                        options: field.options,
                        allow_multiple: field.allow_multiple,
                        required: field.required,
                    })
                    .collect(),
            },
        }
    }
}

/// A field of an unknown kind is filled in as text.
fn known_kind(name: &str) -> &str {
    match name {
        "textarea" | "number" | "boolean" | "password" | "date" => name,
        _ => "text",
    }
}
