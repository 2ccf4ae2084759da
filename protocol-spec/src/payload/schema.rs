//! The JSON Schema of payloads, generated from types that mirror what may be written.
//!
//! [`Shape`](super::Shape) is what a payload means; these types are how it is spelled, where defaults may be left
//! out or null. A schema cannot say everything (two options that differ in white space, say), so what it
//! accepts is a superset of what [`Payload::parse`](super::Payload::parse) does.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;
use serde_json::Value;

use super::{
    CANCEL_LABEL, CONFIRM_LABEL, FIELDS_MAX, LABEL_BYTES_MAX, OPTION_BYTES_MAX, OPTIONS_MAX, TEXT_BYTES_MAX,
};

/// Returns the JSON Schema (draft 2020-12) of payloads.
pub fn schema() -> Value {
    SchemaSettings::draft2020_12()
        .into_generator()
        .into_root_schema_for::<WrittenPayload>()
        .to_value()
}

/// The payload of a question in the Human Agent Protocol. Unknown keys are allowed everywhere and ignored.
#[derive(Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "lowercase")]
#[schemars(title = "HAP payload")]
#[expect(dead_code, reason = "only its schema is used")]
enum WrittenPayload {
    /// Pick from a list.
    Choice {
        /// The options.
        #[schemars(length(min = 1, max = OPTIONS_MAX), extend("uniqueItems" = true))]
        options: Vec<WrittenOption>,
        /// Whether several may be picked; false unless written.
        #[schemars(extend("default" = false))]
        allow_multiple: Option<bool>,
    },
    /// Press one of two buttons.
    Confirm {
        /// The text to confirm, if the prompt does not say it already.
        #[schemars(length(max = TEXT_BYTES_MAX))]
        text: Option<String>,
        /// The label of the button that confirms.
        #[schemars(extend("default" = CONFIRM_LABEL))]
        confirm_label: Option<WrittenLabel>,
        /// The label of the button that does not.
        #[schemars(extend("default" = CANCEL_LABEL))]
        cancel_label: Option<WrittenLabel>,
    },
    /// Fill in fields.
    Form {
        /// The fields, no two labels alike.
        #[schemars(length(min = 1, max = FIELDS_MAX))]
        fields: Vec<WrittenField>,
    },
}

/// One field of a form.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Field")]
struct WrittenField {
    /// Its name.
    label: WrittenLabel,
    /// One of text, textarea, number, boolean, password, date; any other is treated as text.
    #[schemars(length(max = LABEL_BYTES_MAX), extend("default" = "text"))]
    kind: Option<String>,
    /// The options; none means free text.
    #[schemars(length(max = OPTIONS_MAX), extend("uniqueItems" = true))]
    options: Option<Vec<WrittenOption>>,
    /// Whether several values may be given; false unless written.
    #[schemars(extend("default" = false))]
    allow_multiple: Option<bool>,
    /// Whether the form needs it; accepted if boolean, otherwise ignored as an unknown key.
    required: Option<Value>,
}

/// Something to pick, never blank.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Option")]
struct WrittenOption(#[schemars(length(min = 1, max = OPTION_BYTES_MAX), regex(pattern = r"\S"))] String);

/// A name on one line, never blank.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Label")]
struct WrittenLabel(
    #[schemars(length(min = 1, max = LABEL_BYTES_MAX), regex(pattern = r"^[^\r\n]*\S[^\r\n]*$"))] String,
);
