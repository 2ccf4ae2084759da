//! The words an agent reads around an answer. Rendered once, when the decision is made.

use super::state::Message;

/// How much of a question is shown to tell it from others, in characters.
const BEGINNING_CHARS_MAX: usize = 80;

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
        Some(standing) => format!("{text}\n\n[standing instruction, sent with every answer]\n{standing}"),
        None => text,
    }
}

/// Words messages that reach an agent without a question of its own.
pub(super) fn left(messages: &[Message]) -> String {
    let worded: Vec<String> = messages
        .iter()
        .map(|message| {
            format!(
                "[a message the human left for you, {}]\n{}",
                message.said_at, message.text
            )
        })
        .collect();
    worded.join("\n\n")
}

/// Puts messages that were left earlier above an answer, each labelled with when it was written.
pub(super) fn compose(messages: &[Message], answer: Option<&str>) -> String {
    let mut text = String::new();
    for message in messages {
        text.push_str(&format!("[written before this question, {}]\n", message.said_at));
        text.push_str(&message.text);
        text.push_str("\n\n");
    }
    match answer {
        Some(answer) if text.is_empty() => return answer.to_owned(),
        Some(answer) => {
            text.push_str("[answer]\n");
            text.push_str(answer);
        }
        None => text.truncate(text.trim_end_matches('\n').len()),
    }
    text
}
