//! The text an agent reads on stdout at the end of a wait: an outcome, earlier outcomes, or the next step.
//!
//! The text of an outcome was rendered when the human decided and is printed byte for byte; only a header line may
//! stand above it and a reminder below it.

use protocol_spec::id::CueId;
use protocol_spec::message::{DeliveredOutcome, Mailbox};
use runtimes::Language;
use serde::Serialize;

use crate::wording;

/// The format of the end of a wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// Plain text.
    Text,
    /// One JSON object on one line.
    Json,
}

/// A wait that ended because the runtime allows no more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rested {
    /// The question, which is still open.
    pub(crate) cue: Option<CueId>,
    /// The number of waits that ended like this, if the broker could tell.
    pub(crate) rounds: Option<u32>,
    /// Whether the agent should end its turn, because a hook holds it.
    pub(crate) give_up: bool,
    /// The language that the agent reads.
    pub(crate) language: Language,
}

impl Rested {
    /// A wait that ended before the question had a name.
    pub(crate) fn unknown() -> Self {
        Self {
            cue: None,
            rounds: None,
            give_up: false,
            language: Language::default(),
        }
    }
}

impl Form {
    /// Formats the outcome of a question.
    pub(crate) fn outcome(self, told: &DeliveredOutcome) -> String {
        match self {
            Self::Text => outcome_text(told),
            Self::Json => json(&Object::Outcome { told }),
        }
    }

    /// Writes the outcomes of earlier questions.
    pub(crate) fn mailbox(self, mailbox: &Mailbox, language: Language) -> String {
        let next = wording::new_question_open(language);
        match self {
            Self::Text => mailbox_text(mailbox, next),
            Self::Json => json(&Object::Mailbox { mailbox, next }),
        }
    }

    /// Writes what to do when the wait had to end.
    pub(crate) fn rested(self, rested: &Rested) -> String {
        let next = if rested.give_up {
            wording::away(rested.language)
        } else {
            wording::still_open(rested.language)
        };
        match self {
            Self::Text => format!("{next}\n"),
            Self::Json => json(&Object::Open {
                cue_id: rested.cue,
                rounds: rested.rounds,
                give_up: rested.give_up,
                next,
            }),
        }
    }
}

#[derive(Serialize)]
#[serde(tag = "result", rename_all = "snake_case")]
enum Object<'a> {
    Outcome {
        #[serde(flatten)]
        told: &'a DeliveredOutcome,
    },
    Mailbox {
        #[serde(flatten)]
        mailbox: &'a Mailbox,
        next: &'a str,
    },
    Open {
        cue_id: Option<CueId>,
        rounds: Option<u32>,
        give_up: bool,
        next: &'a str,
    },
}

fn json(object: &Object<'_>) -> String {
    // These types hold nothing that JSON cannot say.
    let mut line = serde_json::to_string(object).unwrap_or_default();
    line.push('\n');
    line
}

fn outcome_text(told: &DeliveredOutcome) -> String {
    let mut text = String::with_capacity(told.text.len() + 256);
    if let Some(at) = told.repeat_of {
        let question = &told.question;
        text.push_str(&format!(
            "[repeat: this was already delivered at {at} for your question \"{question}\"]\n"
        ));
    }
    push_lines(&mut text, &told.text);
    if let Some(reminder) = &told.reminder {
        text.push('\n');
        push_lines(&mut text, reminder);
    }
    text
}

fn mailbox_text(mailbox: &Mailbox, next: &str) -> String {
    let mut text = earlier_text(&mailbox.earlier);
    push_lines(&mut text, next);
    text
}

/// Writes outcomes, each below the question that it belongs to.
pub(crate) fn earlier_text(earlier: &[DeliveredOutcome]) -> String {
    let mut text = String::new();
    for told in earlier {
        let question = &told.question;
        let before = match told.repeat_of {
            Some(at) => format!(", already delivered at {at}"),
            None => String::new(),
        };
        text.push_str(&format!(
            "[outcome of your earlier question \"{question}\"{before}]\n"
        ));
        push_lines(&mut text, &told.text);
        text.push('\n');
    }
    text
}

fn push_lines(text: &mut String, lines: &str) {
    text.push_str(lines);
    if !lines.ends_with('\n') {
        text.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol_spec::outcome::{Kind, Outcome};
    use protocol_spec::time::Timestamp;

    fn told() -> DeliveredOutcome {
        DeliveredOutcome {
            cue_id: CueId::from_random(7),
            kind: Kind::Cue,
            outcome: Outcome::Answered,
            text: "Use SQLite.".into(),
            reminder: None,
            answer: None,
            ends_run: false,
            decided_at: Timestamp::from_millis(1_790_000_000_000),
            by: None,
            question: "Which database?".into(),
            repeat_of: None,
        }
    }

    #[test]
    fn an_answer_is_its_text_and_then_the_reminder() {
        let mut told = told();
        assert_eq!(Form::Text.outcome(&told), "Use SQLite.\n");
        told.reminder = Some("Cue again before you finish.".into());
        assert_eq!(
            Form::Text.outcome(&told),
            "Use SQLite.\n\nCue again before you finish.\n"
        );
    }

    #[test]
    fn a_repeat_has_one_header_line_and_the_same_text_below() {
        let repeat = DeliveredOutcome {
            repeat_of: Some(Timestamp::from_millis(1_790_000_000_120)),
            ..told()
        };
        let text = Form::Text.outcome(&repeat);
        let (header, rest) = text.split_once('\n').unwrap();
        assert_eq!(rest, Form::Text.outcome(&told()));
        assert_eq!(
            header,
            "[repeat: this was already delivered at 2026-09-21T14:13:20.120Z for your question \"Which database?\"]"
        );
    }

    #[test]
    fn a_mailbox_names_each_question_and_says_that_the_new_one_is_open() {
        let mailbox = Mailbox {
            cue_id: CueId::from_random(9),
            earlier: vec![told()],
        };
        let text = Form::Text.mailbox(&mailbox, Language::English);
        assert!(
            text.starts_with("[outcome of your earlier question \"Which database?\"]\nUse SQLite.\n\n["),
            "{text}"
        );
        assert!(text.contains("run the same command again"), "{text}");
    }

    #[test]
    fn a_wait_that_ends_is_neither_an_answer_nor_a_refusal() {
        let rested = Rested {
            cue: Some(CueId::from_random(1)),
            rounds: Some(1),
            give_up: false,
            language: Language::English,
        };
        assert!(Form::Text.rested(&rested).contains("same command again"));
        let rested = Rested {
            give_up: true,
            ..rested
        };
        let text = Form::Text.rested(&rested);
        assert!(
            text.contains("End your turn") && !text.contains("command again"),
            "{text}"
        );
    }

    #[test]
    fn json_is_one_object_on_one_line_that_says_which_case_it_is() {
        let rested = Rested {
            cue: Some(CueId::from_random(1)),
            rounds: Some(3),
            give_up: false,
            language: Language::English,
        };
        let mailbox = Mailbox {
            cue_id: CueId::from_random(9),
            earlier: vec![told()],
        };
        for (line, result) in [
            (Form::Json.outcome(&told()), "outcome"),
            (Form::Json.mailbox(&mailbox, Language::English), "mailbox"),
            (Form::Json.rested(&rested), "open"),
        ] {
            assert_eq!(line.matches('\n').count(), 1);
            let object: serde_json::Value = serde_json::from_str(&line).unwrap();
            assert_eq!(object["result"], result);
            assert!(object["cue_id"].is_string());
        }
    }
}
