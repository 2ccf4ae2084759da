//! The JSON Schema of payloads: up to date, and of one mind with the parser.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::path::Path;

use protocol_spec::envelope::{self, EnvelopeError};
use protocol_spec::payload::schema;
use serde_json::Value;

/// Set this to write the schema anew instead of comparing it.
const UPDATE: &str = "UPDATE_GOLDEN";

/// The rules that the parser checks and a schema cannot express.
const BEYOND_A_SCHEMA: [&str; 7] = [
    "choice_lookalikes",
    "form_duplicate_labels",
    "confirm_same_labels",
    "confirm_label_is_other_default",
    "payload_too_deep",
    "payload_duplicate_key",
    "payload_duplicate_key_escaped",
];

#[test]
fn the_schema_checked_in_is_the_one_generated() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("payload.schema.json");
    let generated = serde_json::to_string_pretty(&schema()).unwrap() + "\n";
    if std::env::var_os(UPDATE).is_some() {
        std::fs::write(&path, &generated).unwrap();
    }
    let checked_in = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(
        checked_in, generated,
        "run this test with {UPDATE}=1 to write it anew"
    );
}

#[test]
fn the_schema_and_the_parser_agree_on_every_vector() {
    let validator = jsonschema::validator_for(&schema()).unwrap();
    let mut compared = 0;
    let vectors = support::vectors::envelopes();
    for vector in vectors.iter().filter(|vector| vector.cmd == "cue") {
        let Some(json) = payload_of(&vector.stdin()) else {
            continue;
        };
        let accepted = vector.verdict == "accept";
        if BEYOND_A_SCHEMA.contains(&vector.name.as_str()) {
            assert!(
                !accepted,
                "{} is beyond a schema only when it is refused",
                vector.name
            );
            continue;
        }
        assert_eq!(
            validator.is_valid(&json),
            accepted,
            "{}: {}",
            vector.name,
            vector.why
        );
        compared += 1;
    }
    assert!(compared > 40, "only {compared} payloads were compared");
}

/// Returns the JSON of a payload block whose envelope has no other mistake.
fn payload_of(stdin: &[u8]) -> Option<Value> {
    let text = envelope::decode(stdin).ok()?;
    match envelope::parse_cue(&text) {
        // A number that no reader could hold is kept by the parser, and is beyond this comparison.
        Ok(envelope) => return serde_json::from_str(envelope.payload?.written()).ok(),
        Err(EnvelopeError::Payload { .. }) => {}
        Err(_) => return None,
    }
    let (_, rest) = text.split_once("<cueme_payload>\n")?;
    let (json, _) = rest.split_once("\n</cueme_payload>")?;
    // A lenient reader cannot see a key written twice, and no reader can see what is not JSON.
    serde_json::from_str(json)
        .ok()
        .filter(|value: &Value| !value.is_null())
}
