//! The line that a surface shows when a question has ended.

use protocol_spec::message::CueView;
use protocol_spec::outcome::Outcome;
use protocol_spec::visible::visible;

use super::card::Card;
use super::fit::label;

/// The part of an answer that is repeated.
const ANSWER_CHARS_MAX: usize = 300;

/// The end of a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::notify) struct Closing {
    /// One line, hidden characters spelled out.
    pub(super) line: String,
    /// The same without the words of the answer, for a place that the words must not reach.
    pub(super) wordless: String,
}

impl Closing {
    /// Describes the end of a question that may be deleted by now.
    pub(in crate::notify) fn of(cue: Option<&CueView>) -> Self {
        let same = |line: String| Self {
            wordless: line.clone(),
            line,
        };
        let Some(cue) = cue else {
            return same("This question was deleted.".to_owned());
        };
        let by = cue.by.as_deref().map(|by| format!(" by {}", one_line(by)));
        let by = by.unwrap_or_default();
        let text = cue.text.as_deref().map(one_line).unwrap_or_default();
        match cue.outcome {
            Outcome::Answered if text.is_empty() => same(format!("Answered{by}.")),
            Outcome::Answered => Self {
                line: format!("Answered{by}: {text}"),
                wordless: format!("Answered{by}."),
            },
            Outcome::Declined => same(format!("Declined{by}.")),
            Outcome::Cancelled => same(format!("Closed{by} without an answer.")),
            Outcome::Superseded => same("The agent went on without an answer.".to_owned()),
            Outcome::Open => same("This question was sent again.".to_owned()),
        }
    }

    /// Returns the line to show below a question: the answer's text is shown only where the question's was.
    pub(super) fn below(&self, card: Option<&Card>) -> &str {
        match card.and_then(|card| card.words.as_ref()) {
            Some(_) => &self.line,
            None => &self.wordless,
        }
    }
}

fn one_line(text: &str) -> String {
    label(&visible(text).replace(['\n', '\t'], " "), ANSWER_CHARS_MAX)
}
