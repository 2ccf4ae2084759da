//! Replays what fuzzing kept, so that what it once found stays found without a nightly toolchain.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../src/hostile/readers.rs"]
mod readers;

use std::path::Path;

#[test]
fn every_reader_takes_everything_that_fuzzing_kept() {
    let corpora = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus");
    for (name, read) in readers::READERS {
        let inputs: Vec<_> = std::fs::read_dir(corpora.join(name))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        assert!(inputs.len() > 3, "the corpus of {name} is there");
        for input in inputs {
            println!("{}", input.display());
            read(&std::fs::read(&input).unwrap());
        }
    }
}
