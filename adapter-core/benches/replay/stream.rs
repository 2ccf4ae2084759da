//! The stream that is replayed, made as it is read.

use std::io::{self, Read, Write};

const CHUNK_BYTES: usize = 4 * 1024 * 1024;

/// The content of the stream.
#[derive(Clone, Copy)]
pub(crate) enum Mix {
    /// Nothing but small deltas.
    Deltas,
    /// Deltas, and a 200 KB tool result after every thousand.
    Mixed,
}

/// Makes the stream by repeating one chunk, so that it is never held as a whole.
pub(crate) struct Source {
    chunk: Vec<u8>,
    at: usize,
    left: usize,
}

impl Source {
    pub(crate) fn new(mix: Mix, bytes: usize) -> Self {
        Self {
            chunk: chunk(mix),
            at: 0,
            left: bytes,
        }
    }
}

impl Read for Source {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.at == self.chunk.len() {
            if self.left < self.chunk.len() {
                return Ok(0);
            }
            self.left -= self.chunk.len();
            self.at = 0;
        }
        let count = buffer.len().min(self.chunk.len() - self.at);
        buffer[..count].copy_from_slice(&self.chunk[self.at..self.at + count]);
        self.at += count;
        Ok(count)
    }
}

/// Returns whole lines of about the chunk's size.
fn chunk(mix: Mix) -> Vec<u8> {
    let session = "5d11ee85-1660-4fa7-95d5-125423fa2371";
    let mut chunk = Vec::with_capacity(CHUNK_BYTES + 512 * 1024);
    let mut count = 0_u64;
    while chunk.len() < CHUNK_BYTES {
        count += 1;
        let word = ["the", " quick", " brown", " fox\\n", " jumps ", "über "][count as usize % 6];
        let _ = writeln!(
            chunk,
            r#"{{"type":"assistant","message":{{"role":"assistant","content":[{{"type":"text","text":"{word}{count}"}}]}},"session_id":"{session}","timestamp_ms":{}}}"#,
            1_790_000_000_000 + count
        );
        if matches!(mix, Mix::Mixed) && count.is_multiple_of(1_000) {
            tool(&mut chunk, session, count);
        }
    }
    chunk
}

fn tool(chunk: &mut Vec<u8>, session: &str, count: u64) {
    let content = "fn main() { println!(\\\"hello\\\"); }\\n".repeat(5_400);
    let args = r#""args":{"path":"/w/src/main.rs"}"#;
    let tail =
        format!(r#""toolCallId":"c{count}","startedAtMs":"1"}},"session_id":"{session}","timestamp_ms":2}}"#);
    let _ = writeln!(
        chunk,
        r#"{{"type":"tool_call","subtype":"started","call_id":"c{count}","tool_call":{{"readToolCall":{{{args}}},{tail}"#
    );
    let _ = writeln!(
        chunk,
        r#"{{"type":"tool_call","subtype":"completed","call_id":"c{count}","tool_call":{{"readToolCall":{{{args},"result":{{"success":{{"content":"{content}","path":"/w"}}}}}},{tail}"#
    );
}
