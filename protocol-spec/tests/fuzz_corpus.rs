//! Replays the corpora of the fuzz targets, so that what fuzzing once found stays found without a nightly toolchain.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::path::Path;

use protocol_spec::envelope;
use protocol_spec::payload::Payload;
use support::naive;

/// Returns the files of one target's corpus.
fn corpus(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fuzz/corpus")
        .join(target);
    let files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| std::fs::read(entry.unwrap().path()).unwrap())
        .collect();
    assert!(!files.is_empty(), "the corpus of {target} is there");
    files
}

#[test]
fn the_envelope_corpus_is_read_alike_by_both_readings() {
    for bytes in corpus("envelope") {
        let Ok(text) = envelope::decode(&bytes) else {
            continue;
        };
        naive::compare(&text, false, &envelope::parse_cue(&text));
        naive::compare(&text, true, &envelope::parse_pause(&text));
    }
}

#[test]
fn the_payload_corpus_keeps_its_meaning_in_its_normal_form() {
    for bytes in corpus("payload") {
        let Ok(payload) = Payload::parse(std::str::from_utf8(&bytes).unwrap()) else {
            continue;
        };
        let normal = Payload::parse(&payload.normalised()).unwrap();
        assert_eq!(normal.shape(), payload.shape());
        assert_eq!(Payload::parse(&payload.one_line()).unwrap(), payload);
    }
}
