//! Truncates outcomes and questions so that each fits into one line.
//!
//! New answers and messages are checked against limits that keep them within a line. Records from before these limits,
//! and a question shown in full with its answer, can be longer; these are truncated, and the text says so.

use serde::Serialize;

use super::{CueView, DeliveredOutcome, NAME_BYTES_MAX};
use crate::answer::Answer;
use crate::frame::{FRAME_BYTES_MAX, encoded_len};

/// The most bytes of a line that outcomes, or a question with its answer, may take together.
///
/// The rest of such a line is far shorter than the 64 KiB reserved for it.
pub const CONTENT_BYTES_MAX: usize = FRAME_BYTES_MAX - 64 * 1024;

/// The most bytes of a line that one byte of a text takes: a control character is written as `\u0001`.
pub const LINE_BYTES_PER_BYTE_MAX: usize = 6;

/// The most bytes of a line that keys, times and ids take beside the texts.
const SKELETON_BYTES_MAX: usize = 64 * 1024;

/// The most bytes of the note that says how much was left out.
const NOTE_BYTES_MAX: usize = 128;

/// Returns how many bytes of a line a text takes, without the quotes around it.
pub fn line_bytes(text: &str) -> usize {
    encoded_len(text) - 2
}

impl Answer {
    /// Returns how many bytes of a line it takes.
    pub fn line_bytes(&self) -> usize {
        encoded_len(self)
    }
}

impl DeliveredOutcome {
    /// Returns how many bytes of a line it takes.
    pub fn line_bytes(&self) -> usize {
        encoded_len(self)
    }

    /// Truncates it to fit into a line.
    ///
    /// The structured answer is dropped first, because the text repeats it; whether it ends the run is kept. A text
    /// that is still too long keeps its beginning, and a note at its end counts the bytes left out.
    pub fn fit(&mut self) {
        let texts = [Some(&self.text), self.reminder.as_ref(), self.by.as_ref()];
        if is_surely_short(texts, self.answer.as_ref()) || is_short(self) {
            return;
        }
        self.ends_run = self.ends_run();
        self.answer = None;
        for short in [&mut self.reminder, &mut self.by].into_iter().flatten() {
            truncate(short, LINE_BYTES_PER_BYTE_MAX * NAME_BYTES_MAX);
        }
        if is_short(self) {
            return;
        }
        let around = encoded_len(self) - line_bytes(&self.text);
        truncate(&mut self.text, CONTENT_BYTES_MAX.saturating_sub(around));
    }
}

impl CueView {
    /// Makes it fit into a line, as [`DeliveredOutcome::fit`] does; question and text share the room there is.
    pub fn fit(&mut self) {
        let payload = self.payload.as_ref().map_or(0, |payload| payload.get().len());
        let texts = [Some(&self.prompt), self.text.as_ref(), self.by.as_ref()];
        if payload <= SKELETON_BYTES_MAX && is_surely_short(texts, self.answer.as_ref()) || is_short(self) {
            return;
        }
        self.ends_run = self.ends_run();
        self.answer = None;
        if let Some(by) = &mut self.by {
            truncate(by, LINE_BYTES_PER_BYTE_MAX * NAME_BYTES_MAX);
        }
        if is_short(self) {
            return;
        }
        let mut text = self.text.take();
        let around = encoded_len(self) - line_bytes(&self.prompt);
        let share = CONTENT_BYTES_MAX.saturating_sub(around) / 2;
        truncate(&mut self.prompt, share);
        if let Some(text) = &mut text {
            truncate(text, share);
        }
        self.text = text;
    }
}

/// Returns true if the text fits even when every byte is escaped.
fn is_surely_short(texts: [Option<&String>; 3], answer: Option<&Answer>) -> bool {
    let texts: usize = texts.into_iter().flatten().map(String::len).sum();
    let bytes = texts + answer.map_or(0, Answer::bytes);
    bytes * LINE_BYTES_PER_BYTE_MAX + 2 * SKELETON_BYTES_MAX <= CONTENT_BYTES_MAX
}

fn is_short<T: Serialize>(content: &T) -> bool {
    encoded_len(content) <= CONTENT_BYTES_MAX
}

/// Keeps the beginning of a text that takes more than `max` bytes of a line, and says how much is missing.
fn truncate(text: &mut String, max: usize) {
    if line_bytes(text) <= max {
        return;
    }
    let mut room = max.saturating_sub(NOTE_BYTES_MAX);
    let mut end = 0;
    for letter in text.chars() {
        // Escaped letters are single bytes, and no escape is longer.
        let most = if letter.is_ascii_control() {
            LINE_BYTES_PER_BYTE_MAX
        } else {
            2
        };
        let bytes = letter.len_utf8().max(if letter.is_ascii() { most } else { 0 });
        if bytes > room {
            break;
        }
        room -= bytes;
        end += letter.len_utf8();
    }
    let missing = text.len() - end;
    text.truncate(end);
    text.push_str(&format!(
        "\n\n[{missing} more bytes do not fit into a line and are left out here]"
    ));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::envelope::PROMPT_BYTES_MAX;
    use crate::message::{Reply, encode_reply};
    use crate::outcome::{Kind, Outcome};
    use crate::time::Timestamp;

    fn told(text: String, answer: Option<Answer>) -> DeliveredOutcome {
        DeliveredOutcome {
            cue_id: crate::id::CueId::from_random(1),
            kind: Kind::Cue,
            outcome: Outcome::Answered,
            text,
            reminder: Some("ask again".to_owned()),
            answer,
            ends_run: false,
            decided_at: Timestamp::from_millis(0),
            by: Some("page".to_owned()),
            question: "?".to_owned(),
            repeat_of: None,
        }
    }

    fn saying(text: &str) -> Option<Answer> {
        Some(Answer {
            text: Some(text.to_owned()),
            ..Answer::default()
        })
    }

    fn fits(told: DeliveredOutcome) -> bool {
        encode_reply(crate::id::RequestId(uuid::Uuid::nil()), &Reply::Outcome(told)).is_ok()
    }

    #[test]
    fn what_fits_is_told_as_it_is() {
        let mut short = told("yes".to_owned(), saying("yes"));
        let before = short.clone();
        short.fit();
        assert_eq!(short, before);
    }

    #[test]
    fn where_text_and_data_do_not_fit_together_the_text_is_told() {
        let text = "y".repeat(40 << 20);
        let mut long = told(text.clone(), saying(&text));
        assert!(!fits(long.clone()));
        long.fit();
        assert!(long.text == text && long.answer.is_none());
        assert!(fits(long));
    }

    #[test]
    fn an_answer_that_does_not_fit_still_ends_the_run() {
        let text = "y".repeat(40 << 20);
        let answer = Answer {
            ends_run: true,
            ..saying(&text).unwrap()
        };
        let mut long = told(text, Some(answer));
        long.fit();
        assert!(long.answer.is_none() && long.ends_run());
        assert!(fits(long));
    }

    #[test]
    fn the_longest_question_is_shown_with_the_longest_answer_as_far_as_both_fit() {
        let long = "\"".repeat(PROMPT_BYTES_MAX);
        let view = serde_json::json!({
            "cue_id": crate::id::CueId::from_random(1), "seq": 1, "agent_id": "bako-nefi", "agent_runtime": "cursor",
            "project_dir": "/p", "kind": "cue", "origin": "agent", "prompt": "", "payload": null, "outcome": "answered",
            "delivery": "none", "asked_at": "2026-01-01T00:00:00.000Z", "waiting": 0,
        });
        let mut view: CueView = serde_json::from_value(view).unwrap();
        view.fit();
        assert_eq!(view.prompt, "");
        view.payload = serde_json::value::RawValue::from_string(format!("\"{}\"", "x".repeat(1 << 20))).ok();
        view.prompt = long.clone();
        view.text = Some(long.clone());
        view.answer = saying(&long).map(|answer| Answer {
            ends_run: true,
            ..answer
        });
        view.by = Some(long);
        view.fit();
        let text = view.text.as_deref().unwrap();
        assert!(view.answer.is_none() && view.ends_run());
        assert!(view.prompt.contains("left out here") && text.contains("left out here"));
        let shown = Reply::Cue(Box::new(view));
        assert!(encode_reply(crate::id::RequestId(uuid::Uuid::nil()), &shown).is_ok());
    }

    #[test]
    fn a_text_that_fits_no_line_is_told_as_far_as_it_does_and_what_is_missing_is_counted() {
        for letter in ["y", "\n", "\u{1}", "数"] {
            let text = letter.repeat(FRAME_BYTES_MAX / letter.len());
            let mut long = told(text.clone(), None);
            long.fit();
            let (kept, note) = long.text.rsplit_once("\n\n[").unwrap();
            let missing = format!("{} more bytes", text.len() - kept.len());
            assert!(note.starts_with(&missing), "{note}");
            assert!(
                text.starts_with(kept) && kept.len() > FRAME_BYTES_MAX / 7,
                "{letter:?}"
            );
            assert!(fits(long), "{letter:?}");
        }
    }
}
