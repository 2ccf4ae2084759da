//! Runs every envelope vector, ours and, where they lie beside the repository, those collected elsewhere.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::io::Write as _;
use std::path::Path;

use protocol_spec::envelope::{self, EnvelopeError};
use serde_json::Value;
use support::vectors::{Vector, decode_base64, envelopes};

/// The parsed envelope, owned.
type Outcome = Result<(String, Option<String>), EnvelopeError>;

fn read(stdin: &[u8], cmd: &str) -> Outcome {
    let text = envelope::decode(stdin)?;
    let envelope = match cmd {
        "cue" => envelope::parse_cue(&text)?,
        "pause" => envelope::parse_pause(&text)?,
        other => panic!("no such command: {other}"),
    };
    Ok((
        envelope.prompt.into_owned(),
        envelope.payload.map(|payload| payload.written().to_owned()),
    ))
}

#[test]
fn every_vector_is_read_as_it_says() {
    let vectors = envelopes();
    assert!(vectors.len() > 150, "the vectors are there");
    for vector in &vectors {
        match (vector.verdict.as_str(), read(&vector.stdin(), &vector.cmd)) {
            ("accept", Ok((prompt, payload))) => check_accepted(vector, &prompt, payload),
            ("reject", Err(error)) => check_refused(vector, &error),
            (_, outcome) => panic!("{} ({}): {outcome:?}", vector.name, vector.why),
        }
    }
}

fn check_accepted(vector: &Vector, prompt: &str, payload: Option<String>) {
    assert_eq!(Some(prompt), vector.prompt.as_deref(), "{}", vector.name);
    if vector.written.is_some() {
        assert_eq!(payload, vector.written, "{}", vector.name);
    } else {
        let value = payload.map_or(Value::Null, |json| serde_json::from_str(&json).unwrap());
        assert_eq!(value, vector.payload, "{}", vector.name);
    }
}

fn check_refused(vector: &Vector, error: &EnvelopeError) {
    assert_eq!(
        Some(error.kind()),
        vector.error.as_deref(),
        "{}: {error}",
        vector.name
    );
    assert_eq!(Some(error.line()), vector.line, "{}: {error}", vector.name);
    if let (Some(path), EnvelopeError::Payload { source, .. }) = (&vector.path, error) {
        assert_eq!(source.path(), path, "{}", vector.name);
    }
    let message = error.to_string();
    assert!(
        message.starts_with(&format!("line {}: ", error.line())),
        "{message}"
    );
    assert!(!message.contains('\n') && !error.hint().is_empty(), "{message}");
}

/// Vectors with a clear verdict that others collected, beside the repository; ours hold every rule of theirs.
#[test]
fn vectors_beside_the_repository_are_read_as_they_say() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/fixtures/envelope/clear.jsonl");
    let Ok(text) = std::fs::read_to_string(&path) else {
        // Written past the test runner, which keeps what a passing test prints to itself.
        let _ = writeln!(
            std::io::stderr(),
            "not run: vectors beside the repository: none in {}",
            path.display()
        );
        return;
    };
    assert!(text.lines().count() > 10, "the vectors are there");
    for line in text.lines() {
        let vector: Value = serde_json::from_str(line).unwrap();
        let name = vector["name"].as_str().unwrap();
        let stdin = match vector["stdin"].as_str() {
            Some(text) => text.as_bytes().to_vec(),
            None => decode_base64(vector["stdin_b64"].as_str().unwrap()),
        };
        match (
            vector["spec"].as_str().unwrap(),
            read(&stdin, vector["cmd"].as_str().unwrap()),
        ) {
            ("accept", Ok((prompt, payload))) => {
                assert_eq!(Some(prompt.as_str()), vector["spec_prompt"].as_str(), "{name}");
                let payload = payload.map_or(Value::Null, |json| serde_json::from_str(&json).unwrap());
                assert_eq!(payload, vector["spec_payload"], "{name}");
            }
            ("reject", Err(_)) => {}
            (_, outcome) => panic!("{name}: {outcome:?}"),
        }
    }
}
