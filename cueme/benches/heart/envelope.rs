//! Parsing a 16 MiB prompt, against finding its lines and validating its bytes.

use std::hint::black_box;
use std::time::{Duration, Instant};

use protocol_spec::envelope;

use crate::table::{Goal, Row, median, ratio, show};

const PROMPT_BYTES: usize = 16 * 1024 * 1024;

pub(crate) fn measure(scale: usize) -> Vec<Row> {
    let line = "请确认是否继续执行数据库迁移，旧表会保留到明天。 Shall I go on with it?\n";
    let prompt = line.repeat(PROMPT_BYTES / line.len());
    let bytes = format!("<cueme_prompt>\n{prompt}</cueme_prompt>\n").into_bytes();
    let (mut ours, mut floors) = (Vec::new(), Vec::new());
    for _ in 0..10 * scale {
        floors.push(time(|| scan(&bytes)));
        ours.push(time(|| {
            let text = envelope::decode(&bytes).expect("UTF-8");
            envelope::parse_cue(&text).expect("an envelope").prompt.len()
        }));
    }
    let (ours, floor) = (median(&mut ours), median(&mut floors));
    vec![Row {
        what: "envelope with a 16 MiB prompt, speed ÷ memchr line scan + UTF-8 validation",
        ours: show(ours),
        floor: show(floor),
        ratio: 1.0 / ratio(ours, floor),
        goal: Goal::AtLeast(0.5),
    }]
}

fn time(work: impl FnOnce() -> usize) -> Duration {
    let started = Instant::now();
    black_box(work());
    started.elapsed()
}

fn scan(bytes: &[u8]) -> usize {
    let text = simdutf8::basic::from_utf8(black_box(bytes)).expect("UTF-8");
    memchr::memchr_iter(b'\n', text.as_bytes()).count()
}
