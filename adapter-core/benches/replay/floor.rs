//! The floors of the replay benchmark: the same lines, split in the same way, parsed and dropped.

use std::io::Read;
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::stream::Source;

/// The fields of a flat parse: the large parts stay raw.
#[derive(Deserialize)]
#[expect(dead_code, reason = "the fields are only parsed")]
struct Flat<'a> {
    #[serde(borrow, rename = "type")]
    kind: &'a str,
    #[serde(borrow, default)]
    subtype: Option<&'a str>,
    #[serde(borrow, default)]
    session_id: Option<&'a str>,
    #[serde(borrow, default)]
    model_call_id: Option<&'a str>,
    #[serde(default)]
    timestamp_ms: Option<u64>,
    #[serde(borrow, default)]
    message: Option<&'a RawValue>,
    #[serde(borrow, default)]
    tool_call: Option<&'a RawValue>,
}

/// Cuts the stream into lines and times `parse` on all of them.
pub(crate) fn bare(mut source: Source, parse: impl Fn(&[u8])) -> Duration {
    let mut buffer = vec![0; 256 * 1024];
    let mut carry: Vec<u8> = Vec::new();
    let start = Instant::now();
    while let Ok(count @ 1..) = source.read(&mut buffer) {
        let mut rest = &buffer[..count];
        while let Some(end) = memchr::memchr(b'\n', rest) {
            if carry.is_empty() {
                parse(&rest[..end]);
            } else {
                carry.extend_from_slice(&rest[..end]);
                parse(&carry);
                carry.clear();
            }
            rest = &rest[end + 1..];
        }
        carry.extend_from_slice(rest);
    }
    start.elapsed()
}

/// Parses a line to a tree that owns everything.
pub(crate) fn parse_value(line: &[u8]) {
    let parsed: serde_json::Value = serde_json::from_slice(line).expect("the lines are JSON");
    std::hint::black_box(&parsed);
}

/// Parses a line to a few borrowed fields.
pub(crate) fn parse_flat(line: &[u8]) {
    let parsed: Flat<'_> = serde_json::from_slice(line).expect("the lines are JSON");
    std::hint::black_box(&parsed);
}
