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

#[test]
fn the_frame_corpus_is_cut_alike_whole_and_in_pieces() {
    use protocol_spec::frame::Splitter;
    use protocol_spec::message::{decode_reply, decode_request};
    let mut messages = 0;
    for bytes in corpus("frame") {
        let (cut, bytes) = bytes.split_first().expect("a corpus file is not empty");
        let mut whole = Splitter::default();
        whole.push(bytes);
        let mut pieces = Splitter::default();
        for piece in bytes.chunks(usize::from(*cut).max(1)) {
            pieces.push(piece);
            while let Some(line) = pieces.next_line().expect("within the limit") {
                messages += usize::from(decode_request(line).is_ok() || decode_reply(line).is_ok());
                assert_eq!(whole.next_line(), Ok(Some(line)));
            }
        }
        assert_eq!(whole.next_line(), Ok(None));
    }
    assert!(messages >= 5, "the corpus holds real messages: {messages}");
}
