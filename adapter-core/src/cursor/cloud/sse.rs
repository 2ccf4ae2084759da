//! Splits a stream of server-sent events into events.
//!
//! Bytes come in as the network delivers them; lines may end in LF, CRLF or CR and may be torn anywhere.

/// The longest event that is kept; a longer one is an error.
const EVENT_BYTES_MAX: usize = 16 << 20;

/// One event as sent.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SseEvent {
    /// The id to resume after, where the event has one.
    pub id: Option<String>,
    /// The event's name; `message` if it has none.
    pub event: String,
    /// The data, lines joined.
    pub data: String,
}

/// An event was longer than we accept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("event is longer than {EVENT_BYTES_MAX} bytes")]
pub struct EventTooLong;

/// Collects bytes and hands out events.
#[derive(Debug, Default)]
pub struct SseParser {
    line: Vec<u8>,
    after_cr: bool,
    started: bool,
    event: SseEvent,
    has_data: bool,
}

impl SseParser {
    /// Takes bytes and returns the events that they completed.
    ///
    /// # Errors
    ///
    /// Fails if an event grows beyond the limit; the stream is of no use after that.
    pub fn push(&mut self, bytes: &[u8]) -> Result<Vec<SseEvent>, EventTooLong> {
        let mut events = Vec::new();
        for &byte in bytes {
            let follows_cr = std::mem::take(&mut self.after_cr);
            match byte {
                b'\n' if follows_cr => {}
                b'\n' | b'\r' => {
                    self.after_cr = byte == b'\r';
                    events.extend(self.end_line());
                }
                _ => self.line.push(byte),
            }
            if self.line.len() + self.event.data.len() > EVENT_BYTES_MAX {
                return Err(EventTooLong);
            }
        }
        Ok(events)
    }

    fn end_line(&mut self) -> Option<SseEvent> {
        let bytes = std::mem::take(&mut self.line);
        let mut line = String::from_utf8_lossy(&bytes).into_owned();
        if !std::mem::replace(&mut self.started, true)
            && let Some(rest) = line.strip_prefix('\u{feff}')
        {
            line = rest.to_owned();
        }
        if line.is_empty() {
            return self.end_event();
        }
        let (field, value) = line.split_once(':').unwrap_or((&line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "id" if !value.contains('\0') => self.event.id = Some(value.to_owned()),
            "event" => value.clone_into(&mut self.event.event),
            "data" => {
                if std::mem::replace(&mut self.has_data, true) {
                    self.event.data.push('\n');
                }
                self.event.data.push_str(value);
            }
            // Comments keep the connection alive, and other fields are not for us.
            _ => {}
        }
        None
    }

    fn end_event(&mut self) -> Option<SseEvent> {
        let mut event = std::mem::take(&mut self.event);
        if !std::mem::take(&mut self.has_data) {
            return None;
        }
        if event.event.is_empty() {
            "message".clone_into(&mut event.event);
        }
        Some(event)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STREAM: &str = "\u{feff}: hello\nid: 7\nevent: assistant\ndata: {\"text\":\ndata: \"é\"}\n\n\
                          event: status\r\ndata:x\r\n\r\ndata\n\nid: 9\n\n";

    fn expected() -> Vec<SseEvent> {
        let event = |id: Option<&str>, event: &str, data: &str| SseEvent {
            id: id.map(str::to_owned),
            event: event.to_owned(),
            data: data.to_owned(),
        };
        vec![
            event(Some("7"), "assistant", "{\"text\":\n\"é\"}"),
            event(None, "status", "x"),
            event(None, "message", ""),
        ]
    }

    #[test]
    fn events_are_the_same_however_the_bytes_are_torn() {
        for size in [1, 2, 3, 7, 1_000] {
            let mut parser = SseParser::default();
            let mut events = Vec::new();
            for piece in STREAM.as_bytes().chunks(size) {
                events.extend(parser.push(piece).unwrap());
            }
            assert_eq!(events, expected(), "pieces of {size}");
        }
    }

    #[test]
    fn an_event_without_end_is_an_error() {
        let mut parser = SseParser::default();
        let piece = vec![b'x'; 1 << 20];
        let outcome = (0..32).try_for_each(|_| parser.push(&piece).map(drop));
        assert_eq!(outcome, Err(EventTooLong));
    }
}
