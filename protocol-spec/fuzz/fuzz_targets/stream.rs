//! The stream of an agent's process: whatever it writes, the turn ends, and never with a panic.

#![no_main]

use adapter_core::cursor::cli::{ReplayOptions, replay};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    replay(bytes, std::io::sink(), ReplayOptions::default()).expect("a sink takes everything");
});
