//! Draws any text as the page draws what an agent wrote.

#![no_main]

#[path = "../../src/hostile/readers.rs"]
#[allow(dead_code, reason = "one reader of several")]
mod readers;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| readers::markdown(bytes));
