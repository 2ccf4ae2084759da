//! How a question ended, as a surface says it where the question stood.

use protocol_spec::message::CueView;
use protocol_spec::outcome::Outcome;
use protocol_spec::visible::visible;

use super::fit::label;

/// How much of an answer is repeated.
const ANSWER_CHARS_MAX: usize = 300;

/// How a question ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::notify) struct Closing {
    /// One line, hidden characters spelled out.
    pub(super) line: String,
}

impl Closing {
    /// Describes the end of a question that may be gone by now.
    pub(in crate::notify) fn of(cue: Option<&CueView>) -> Self {
        let Some(cue) = cue else {
            return Self {
                line: "This question was deleted.".to_owned(),
            };
        };
        let by = cue.by.as_deref().map(|by| format!(" by {}", one_line(by)));
        let by = by.unwrap_or_default();
        let text = cue.text.as_deref().map(one_line).unwrap_or_default();
        let line = match cue.outcome {
            Outcome::Answered if text.is_empty() => format!("Answered{by}."),
            Outcome::Answered => format!("Answered{by}: {text}"),
            Outcome::Declined => format!("Declined{by}."),
            Outcome::Cancelled => format!("Closed{by} without an answer."),
            Outcome::Superseded => "The agent went on without an answer.".to_owned(),
            Outcome::Open => "This question was sent again.".to_owned(),
        };
        Self { line }
    }
}

fn one_line(text: &str) -> String {
    label(&visible(text).replace(['\n', '\t'], " "), ANSWER_CHARS_MAX)
}
