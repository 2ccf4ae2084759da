//! Reads test vectors: one JSON object a line.

use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

/// One envelope and its expected result.
#[derive(Debug, Deserialize)]
pub(crate) struct Vector {
    pub(crate) name: String,
    stdin: Option<String>,
    stdin_b64: Option<String>,
    pub(crate) cmd: String,
    pub(crate) verdict: String,
    pub(crate) prompt: Option<String>,
    #[serde(default)]
    pub(crate) payload: Value,
    pub(crate) written: Option<String>,
    pub(crate) error: Option<String>,
    pub(crate) line: Option<usize>,
    pub(crate) path: Option<String>,
    pub(crate) why: String,
}

impl Vector {
    /// Returns the bytes of stdin.
    pub(crate) fn stdin(&self) -> Vec<u8> {
        match (&self.stdin, &self.stdin_b64) {
            (Some(text), None) => text.clone().into_bytes(),
            (None, Some(base64)) => decode_base64(base64),
            _ => panic!("{}: one of stdin and stdin_b64", self.name),
        }
    }
}

/// Reads our own vectors.
pub(crate) fn envelopes() -> Vec<Vector> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("vectors/envelope.jsonl");
    let text = std::fs::read_to_string(path).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// Decodes standard base64 with padding.
pub(crate) fn decode_base64(text: &str) -> Vec<u8> {
    const ALPHABET: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut bits, mut count, mut bytes) = (0u32, 0, Vec::new());
    for digit in text.trim_end_matches('=').bytes() {
        let value = ALPHABET.iter().position(|known| *known == digit).expect("base64");
        bits = (bits << 6) | u32::try_from(value).unwrap();
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push(u8::try_from((bits >> count) & 0xff).unwrap());
        }
    }
    bytes
}
