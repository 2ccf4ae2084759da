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
    let (mut ours, mut floors, mut copies, mut naives) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut target = vec![0; bytes.len()];
    for _ in 0..10 * scale {
        floors.push(time(|| scan(&bytes)));
        copies.push(time(|| {
            target.copy_from_slice(black_box(&bytes));
            target.len()
        }));
        naives.push(time(|| naive(&bytes)));
        ours.push(time(|| {
            let text = envelope::decode(&bytes).expect("UTF-8");
            envelope::parse_cue(&text).expect("an envelope").prompt.len()
        }));
    }
    let (ours, floor) = (median(&mut ours), median(&mut floors));
    let (copy, naive) = (median(&mut copies), median(&mut naives));
    let against = |what: &'static str, floor, goal, aim| Row {
        id: "P10",
        what: what.into(),
        ours: show(ours),
        floor: show(floor),
        ratio: 1.0 / ratio(ours, floor),
        goal,
        aim,
    };
    vec![
        against(
            "envelope with a 16 MiB prompt, speed ÷ memchr line scan + UTF-8 validation",
            floor,
            Goal::AtLeast(0.5),
            Goal::Told,
        ),
        against(
            "the same, speed ÷ copying its bytes",
            copy,
            Goal::Told,
            Goal::AtLeast(0.35),
        ),
        against(
            "the same, speed ÷ a naive reader",
            naive,
            Goal::Told,
            Goal::AtLeast(10.0),
        ),
    ]
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

/// Reads an envelope as one would at first: character by character into lines, and lines into a text.
fn naive(bytes: &[u8]) -> usize {
    let text = String::from_utf8(black_box(bytes).to_vec()).expect("UTF-8");
    let mut lines = Vec::new();
    let mut line = String::new();
    for character in text.chars() {
        if character == '\n' {
            lines.push(std::mem::take(&mut line));
        } else {
            line.push(character);
        }
    }
    let inner = lines
        .iter()
        .filter(|line| !line.trim().starts_with("<cueme_") && !line.trim().starts_with("</cueme_"));
    inner.cloned().collect::<Vec<_>>().join("\n").len()
}
