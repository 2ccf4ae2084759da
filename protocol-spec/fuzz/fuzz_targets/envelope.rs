//! Reads any bytes as an envelope, and holds the outcome against the naive reading.

#![no_main]

#[path = "../../tests/support/naive.rs"]
mod naive;

use libfuzzer_sys::fuzz_target;
use protocol_spec::envelope;

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = envelope::decode(bytes) else { return };
    naive::compare(&text, false, &envelope::parse_cue(&text));
    naive::compare(&text, true, &envelope::parse_pause(&text));
});
