//! The words an agent reads around an answer. Rendered once, when the decision is made.

use std::cmp::Ordering;

use protocol_spec::answer::{without_attachments, without_end};
use protocol_spec::outcome::Outcome;
use protocol_spec::time::{Timestamp, format_span};

use super::agent::Message;

/// The length of the excerpt of a question that tells it from others, in characters.
const BEGINNING_CHARS_MAX: usize = 80;
/// Shorter times are not counted, in milliseconds.
const SECOND_MS: u64 = 1000;

/// The line above a standing instruction.
const STANDING: &str = "\n\n[standing instruction, sent with every answer]\n";
/// The beginning of the line above a note.
const NOTE: &str = "[note, written ";
/// The beginning of the line above a queued answer.
const UNSEEN: &str = "[the human has not seen this question: ";
/// The line above an answer that has notes above it.
const ANSWER: &str = "\n\n[answer]\n";
/// The line above a queued answer that has notes above it.
const QUEUED_ANSWER: &str = "\n\n[queued answer]\n";

/// The beginning of the text of a declined question.
const DECLINED: &str = "declined: ";
/// The reason in that text, if the human gave none.
const NO_REASON: &str = "the human does not want to answer this";
/// The text of a closed question.
const CANCELLED: &str = "cancelled: the question was closed without an answer";

/// The parts of the text that an agent read: what the human wrote for this question, and the words around it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextParts<'a> {
    pub notes: Vec<&'a str>,
    pub answer: &'a str,
    pub standing: Option<&'a str>,
}

/// Splits a composed text into its parts, for people. It goes by the labels, so it is for display only.
pub fn text_parts(text: &str, outcome: Outcome) -> TextParts<'_> {
    let (text, standing) = match text.rsplit_once(STANDING) {
        Some((text, standing)) => (text, Some(standing)),
        None => (text, None),
    };
    let text = match text.strip_prefix(UNSEEN).and_then(|rest| rest.split_once("]\n")) {
        Some((_, rest)) => rest.trim_start_matches('\n'),
        None => text,
    };
    let separator = format!("\n\n{NOTE}");
    let (notes, answer) = match outcome {
        Outcome::Declined => split_declined(text, &separator),
        Outcome::Cancelled => ("", reason_of_closing(text)),
        Outcome::Open | Outcome::Answered | Outcome::Superseded => split_answered(text),
    };
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

/// Returns the notes and the answer.
fn split_answered(text: &str) -> (&str, &str) {
    let labelled = text
        .strip_prefix(NOTE)
        .and_then(|rest| rest.split_once(ANSWER).or_else(|| rest.split_once(QUEUED_ANSWER)));
    let (notes, answer) = labelled.unwrap_or(("", text));
    (notes, without_end(answer))
}

/// Returns the notes and the reason, which is empty if there was none.
fn split_declined<'a>(text: &'a str, separator: &str) -> (&'a str, &'a str) {
    let (reason, notes) = text.split_once(separator).unwrap_or((text, ""));
    let reason = reason.strip_prefix(DECLINED).unwrap_or(reason);
    (notes, if reason == NO_REASON { "" } else { reason })
}

fn reason_of_closing(text: &str) -> &str {
    let Some(rest) = text.strip_prefix(CANCELLED) else {
        return text;
    };
    let reason = rest.strip_prefix(" (").and_then(|rest| rest.strip_suffix(')'));
    reason.unwrap_or(rest)
}

/// Returns what a human answered in a composed text, or why they did not, without the words around it. For display only.
pub fn own_answer(text: &str, outcome: Outcome) -> &str {
    without_attachments(text_parts(text, outcome).answer)
}

/// Returns what a human wrote in a composed text, notes first, without the labels around it. For display only.
pub fn human_words(text: &str, outcome: Outcome) -> String {
    let parts = text_parts(text, outcome);
    let mut words = parts.notes;
    words.push(without_attachments(parts.answer));
    words.extend(parts.standing);
    words.retain(|part| !part.is_empty());
    words.join("\n")
}

/// Renders the text of a declined question, without its notes.
pub(super) fn refusal(reason: Option<&str>) -> String {
    format!("{DECLINED}{}", reason.unwrap_or(NO_REASON))
}

/// Renders the text of a closed question.
pub(super) fn cancelled(reason: Option<&str>) -> String {
    match reason {
        Some(reason) => format!("{CANCELLED} ({reason})"),
        None => CANCELLED.to_owned(),
    }
}

/// Returns the first line of a prompt that is not blank, truncated.
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

/// Renders notes that reach an agent without a question of its own.
pub(super) fn render_notes(notes: &[Message]) -> String {
    let worded: Vec<String> = notes
        .iter()
        .map(|note| format!("[a note the human left for you, {}]\n{}", note.said_at, note.text))
        .collect();
    worded.join("\n\n")
}

/// Puts notes above an answer, each labelled with the time it was written.
pub(super) fn compose(notes: &[Message], asked_at: Timestamp, answer: &str) -> String {
    if notes.is_empty() {
        return answer.to_owned();
    }
    format!("{}{ANSWER}{answer}", worded_notes(notes, asked_at))
}

/// Renders a queued answer. It begins by saying that the human has not seen the question.
pub(super) fn unseen(notes: &[Message], answer: &Message, asked_at: Timestamp) -> String {
    let order = order_of_times(answer.said_at, asked_at);
    let first = format!("{UNSEEN}an answer queued {order} it, {}]", answer.said_at);
    if notes.is_empty() {
        return format!("{first}\n{}", answer.text);
    }
    let notes = worded_notes(notes, asked_at);
    format!("{first}\n\n{notes}{QUEUED_ANSWER}{}", answer.text)
}

/// Renders notes, each labelled with the time it was written.
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
        format!("{} {order}", format_span(millis))
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
        let plain = text_parts("yes", Outcome::Answered);
        assert_eq!(
            (plain.answer, plain.notes.len(), plain.standing),
            ("yes", 0, None)
        );
        for text in [
            compose(&notes, asked, "yes"),
            unseen(&notes, &message("yes"), asked),
        ] {
            let text = with_standing(text, Some("analysis only"));
            let parts = text_parts(&text, Outcome::Answered);
            assert_eq!(parts.notes, ["mind\n\nthe tests", "use SQLite"]);
            assert_eq!((parts.answer, parts.standing), ("yes", Some("analysis only")));
        }
        let unseen = unseen(&[], &message("yes"), asked);
        assert_eq!(text_parts(&unseen, Outcome::Answered).answer, "yes");
    }

    #[test]
    fn a_person_reads_what_a_human_wrote_and_nothing_that_was_put_around_it() {
        let asked = Timestamp::from_millis(9000);
        let answered =
            |text: &str| human_words(&compose(&[message("mind it")], asked, text), Outcome::Answered);
        assert_eq!(answered("yes"), "mind it\nyes");
        assert_eq!(
            answered("yes\n\nattachments:\n/tmp/a b.png\n/tmp/c"),
            "mind it\nyes"
        );
        assert_eq!(answered("attachments:\n/tmp/a"), "mind it");
        assert_eq!(
            answered("the attachments:\n/tmp"),
            "mind it\nthe attachments:\n/tmp"
        );
        assert_eq!(answered("attachments:\nnone"), "mind it\nattachments:\nnone");
        let ends = "[the human ends the run: finish now, without asking again]";
        assert_eq!(human_words(ends, Outcome::Answered), "");
        let notes = worded_notes(&[message("mind it")], asked);
        let standing = |text: String| with_standing(text, Some("only look"));
        for (reason, read) in [
            (None, "mind it\nonly look"),
            (Some("no time"), "mind it\nno time\nonly look"),
        ] {
            let text = standing(format!("{}\n\n{notes}", refusal(reason)));
            assert_eq!(human_words(&text, Outcome::Declined), read);
            assert_eq!(
                human_words(&refusal(reason), Outcome::Declined),
                reason.unwrap_or("")
            );
            assert_eq!(
                human_words(&cancelled(reason), Outcome::Cancelled),
                reason.unwrap_or("")
            );
        }
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
