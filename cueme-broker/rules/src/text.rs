//! The words an agent reads around an answer. Rendered once, when the decision is made.

use std::cmp::Ordering;

use protocol_spec::time::{Timestamp, span};

use super::agent::Message;

/// How much of a question is shown to tell it from others, in characters.
const BEGINNING_CHARS_MAX: usize = 80;
/// Below it, a length of time is not counted.
const SECOND_MS: u64 = 1000;

/// The line above a standing instruction.
const STANDING: &str = "\n\n[standing instruction, sent with every answer]\n";
/// How the line above a note begins.
const NOTE: &str = "[note, written ";
/// How the line above a queued answer begins.
const UNSEEN: &str = "[the human has not seen this question: ";
/// The line above an answer that has notes above it.
const ANSWER: &str = "\n\n[answer]\n";
/// The line above a queued answer that has notes above it.
const QUEUED_ANSWER: &str = "\n\n[queued answer]\n";

/// The parts of the text that an agent read: what the human wrote for this question, and the words around it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextParts<'a> {
    pub notes: Vec<&'a str>,
    pub answer: &'a str,
    pub standing: Option<&'a str>,
}

/// Takes a composed text apart, for people. It goes by the labels, so it is for display only.
pub fn text_parts(text: &str) -> TextParts<'_> {
    let (text, standing) = match text.rsplit_once(STANDING) {
        Some((text, standing)) => (text, Some(standing)),
        None => (text, None),
    };
    let text = match text.strip_prefix(UNSEEN).and_then(|rest| rest.split_once("]\n")) {
        Some((_, rest)) => rest.trim_start_matches('\n'),
        None => text,
    };
    let labelled = text
        .strip_prefix(NOTE)
        .and_then(|rest| rest.split_once(ANSWER).or_else(|| rest.split_once(QUEUED_ANSWER)));
    let (notes, answer) = labelled.unwrap_or(("", text));
    let separator = format!("\n\n{NOTE}");
    let notes = notes
        .split(separator.as_str())
        .filter_map(|note| note.split_once("]\n"))
        .map(|(_, note)| note)
        .collect();
    TextParts {
        notes,
        answer,
        standing,
    }
}

/// Returns the first line of a prompt that says something, shortened.
pub fn beginning_of(prompt: &str) -> String {
    let line = prompt
        .lines()
        .map(str::trim)
        .find(|line| !line.is_empty())
        .unwrap_or_default();
    let mut letters = line.chars().filter(|letter| !letter.is_control());
    let mut short: String = letters.by_ref().take(BEGINNING_CHARS_MAX).collect();
    if letters.next().is_some() {
        short.push('…');
    }
    short
}

/// Appends the standing instruction of an agent, labelled so that it is not taken for part of the answer.
pub(super) fn with_standing(text: String, standing: Option<&str>) -> String {
    match standing {
        Some(standing) => format!("{text}{STANDING}{standing}"),
        None => text,
    }
}

/// Words notes that reach an agent without a question of its own.
pub(super) fn left(notes: &[Message]) -> String {
    let worded: Vec<String> = notes
        .iter()
        .map(|note| format!("[a note the human left for you, {}]\n{}", note.said_at, note.text))
        .collect();
    worded.join("\n\n")
}

/// Puts notes above an answer, each labelled with when it was written.
pub(super) fn compose(notes: &[Message], asked_at: Timestamp, answer: &str) -> String {
    if notes.is_empty() {
        return answer.to_owned();
    }
    format!("{}{ANSWER}{answer}", worded_notes(notes, asked_at))
}

/// Words a queued answer. The agent reads first that nobody has seen its question.
pub(super) fn unseen(notes: &[Message], answer: &Message, asked_at: Timestamp) -> String {
    let order = order_of_times(answer.said_at, asked_at);
    let first = format!("{UNSEEN}an answer queued {order} it, {}]", answer.said_at);
    if notes.is_empty() {
        return format!("{first}\n{}", answer.text);
    }
    let notes = worded_notes(notes, asked_at);
    format!("{first}\n\n{notes}{QUEUED_ANSWER}{}", answer.text)
}

/// Words notes, each labelled with when it was written.
pub(super) fn worded_notes(notes: &[Message], asked_at: Timestamp) -> String {
    let worded: Vec<String> = notes
        .iter()
        .map(|note| {
            let order = order_of_times(note.said_at, asked_at);
            format!("{NOTE}{order} this question, {}]\n{}", note.said_at, note.text)
        })
        .collect();
    worded.join("\n\n")
}

/// Says how long before or after a question something was written.
fn order_of_times(said_at: Timestamp, asked_at: Timestamp) -> String {
    let (order, millis) = match said_at.cmp(&asked_at) {
        Ordering::Less => ("before", asked_at.millis_since(said_at)),
        Ordering::Equal => return "at the same moment as".to_owned(),
        Ordering::Greater => ("after", said_at.millis_since(asked_at)),
    };
    if millis < SECOND_MS {
        format!("just {order}")
    } else {
        format!("{} {order}", span(millis))
    }
}

#[cfg(test)]
mod tests {
    use protocol_spec::id::RequestId;
    use protocol_spec::message::Purpose;

    use super::*;

    fn message(text: &str) -> Message {
        Message {
            request: RequestId(uuid::Uuid::from_u128(7)),
            text: text.into(),
            said_at: Timestamp::from_millis(4000),
            purpose: Purpose::Note,
            by: None,
        }
    }

    #[test]
    fn what_was_composed_is_taken_apart_again() {
        let asked = Timestamp::from_millis(9000);
        let notes = [message("mind\n\nthe tests"), message("use SQLite")];
        let plain = text_parts("yes");
        assert_eq!(
            (plain.answer, plain.notes.len(), plain.standing),
            ("yes", 0, None)
        );
        for text in [
            compose(&notes, asked, "yes"),
            unseen(&notes, &message("yes"), asked),
        ] {
            let text = with_standing(text, Some("analysis only"));
            let parts = text_parts(&text);
            assert_eq!(parts.notes, ["mind\n\nthe tests", "use SQLite"]);
            assert_eq!((parts.answer, parts.standing), ("yes", Some("analysis only")));
        }
        assert_eq!(text_parts(&unseen(&[], &message("yes"), asked)).answer, "yes");
    }

    #[test]
    fn the_order_of_times_is_told_in_words_that_hold_within_a_second_too() {
        let order = |said, asked| order_of_times(Timestamp::from_millis(said), Timestamp::from_millis(asked));
        assert_eq!(order(5000, 5000), "at the same moment as");
        assert_eq!(
            (order(4001, 5000), order(5999, 5000)),
            ("just before".into(), "just after".into())
        );
        assert_eq!(
            (order(4000, 5000), order(65_000, 5000)),
            ("1 s before".into(), "1 min after".into())
        );
    }
}
