//! A question as a push message. The service worker turns it into a notification, with its own words around it.

use protocol_spec::id::CueId;
use serde::Serialize;
use uuid::Uuid;

use super::encrypt::PLAINTEXT_BYTES_MAX;
use crate::notify::surface::card::{Asks, Card};
use crate::notify::surface::closing::Closing;
use crate::notify::surface::fit::{fit, label};

/// The part of a question that a notification shows, in characters; phones truncate longer ones.
const BODY_CHARS_MAX: usize = 400;
/// The same, in lines.
const BODY_LINES_MAX: usize = 8;
/// The longest title.
const TITLE_CHARS_MAX: usize = 80;
/// The most buttons of a notification; browsers show two.
const BUTTONS_MAX: usize = 2;
/// The part of a label that is shown on a button.
const BUTTON_CHARS_MAX: usize = 24;
/// The longest line that says how a question ended.
const CLOSING_CHARS_MAX: usize = 120;

/// A message to a device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(in crate::notify::surface) enum Message {
    /// A question that is open.
    Question(Question),
    /// A question that has ended.
    Over {
        /// Its id.
        cue: CueId,
        /// The line that says how it ended; absent when the text stays on this machine.
        #[serde(skip_serializing_if = "Option::is_none")]
        line: Option<String>,
    },
    /// A test that pushes arrive.
    Test,
}

/// A question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(in crate::notify::surface) struct Question {
    /// Its id.
    pub(in crate::notify::surface) cue: CueId,
    /// The asking agent.
    pub(in crate::notify::surface) title: String,
    /// The text, truncated; absent when it stays on this machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::notify::surface) body: Option<String>,
    /// Whether it is the whole question.
    pub(in crate::notify::surface) whole: bool,
    /// The buttons.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(in crate::notify::surface) buttons: Vec<Button>,
    /// The key of a decision: a press that is sent twice is one.
    pub(in crate::notify::surface) id: Uuid,
}

/// A button.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(in crate::notify::surface) struct Button {
    /// Its label.
    pub(in crate::notify::surface) label: String,
    /// The data that a press sends.
    pub(in crate::notify::surface) press: String,
}

impl Message {
    /// Returns the topic: a newer message replaces one with the same topic that the device has not fetched yet.
    pub(super) fn topic(&self) -> Option<String> {
        match self {
            Self::Question(Question { cue, .. }) | Self::Over { cue, .. } => Some(cue.to_string()),
            Self::Test => None,
        }
    }

    /// Encodes the message; it always fits into one record.
    pub(super) fn encode(&self) -> Vec<u8> {
        let encoded = serde_json::to_vec(self).unwrap_or_default();
        debug_assert!(encoded.len() <= PLAINTEXT_BYTES_MAX);
        encoded
    }
}

/// Renders a question.
pub(in crate::notify::surface) fn question(card: &Card) -> Question {
    let mut question = Question {
        cue: card.cue,
        title: label(&card.title, TITLE_CHARS_MAX),
        body: None,
        whole: false,
        buttons: Vec::new(),
        id: Uuid::now_v7(),
    };
    let Some(words) = &card.words else {
        return question;
    };
    let fitted = fit(words, BODY_CHARS_MAX, |_| 1);
    question.whole = fitted.hidden == 0 && words.lines().count() <= BODY_LINES_MAX;
    question.body = Some(fitted.text);
    let buttons = buttons(&card.asks);
    // A press answers a question that was shown whole, and a button shows its whole label.
    let is_plain = buttons
        .iter()
        .all(|button| button.label.chars().count() <= BUTTON_CHARS_MAX);
    if buttons.len() <= BUTTONS_MAX && is_plain && question.whole {
        question.buttons = buttons;
    }
    question
}

/// Says that a question has ended.
pub(in crate::notify::surface) fn over(cue: CueId, card: Option<&Card>, closing: &Closing) -> Message {
    let may_tell = card.is_some_and(|card| card.words.is_some());
    Message::Over {
        cue,
        line: may_tell.then(|| label(&closing.line, CLOSING_CHARS_MAX)),
    }
}

fn buttons(asks: &Asks) -> Vec<Button> {
    let button = |text: &str, press: &str| Button {
        label: text.to_owned(),
        press: press.to_owned(),
    };
    match asks {
        Asks::Continue => vec![button("Continue", "c")],
        Asks::Confirm { yes, no } => vec![button(yes, "y"), button(no, "n")],
        Asks::Choice { options, many: false } => (0..)
            .zip(options)
            .map(|(index, option): (usize, _)| button(option, &index.to_string()))
            .collect(),
        Asks::Words | Asks::Form | Asks::Choice { .. } => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn card(words: Option<&str>, asks: Asks) -> Card {
        Card {
            cue: CueId::from_random(7),
            title: "bako-nefi asks".to_owned(),
            words: words.map(str::to_owned),
            asks,
            is_code: false,
            url: None,
        }
    }

    fn confirm() -> Asks {
        Asks::Confirm {
            yes: "Go".to_owned(),
            no: "Stay".to_owned(),
        }
    }

    fn labels(question: &Question) -> Vec<&str> {
        question
            .buttons
            .iter()
            .map(|button| button.label.as_str())
            .collect()
    }

    #[test]
    fn a_confirm_and_a_short_choice_have_buttons_and_nothing_else_has() {
        let choice = |options: &[&str], many| Asks::Choice {
            options: options.iter().map(|option| (*option).to_owned()).collect(),
            many,
        };
        let shown = |asks: Asks| question(&card(Some("Which?"), asks)).buttons.len();
        assert_eq!(labels(&question(&card(Some("?"), confirm()))), ["Go", "Stay"]);
        assert_eq!(shown(choice(&["a", "b"], false)), 2);
        assert_eq!(shown(choice(&["a", "b", "c"], false)), 0);
        assert_eq!(shown(choice(&["a", "b"], true)), 0);
        assert_eq!(shown(choice(&["a", &"b".repeat(BUTTON_CHARS_MAX + 1)], false)), 0);
        assert_eq!(shown(Asks::Continue), 1);
        assert_eq!(shown(Asks::Words), 0);
    }

    #[test]
    fn a_hidden_question_sends_no_word_of_it_and_no_answer() {
        let shown = question(&card(None, confirm()));
        assert_eq!((shown.body, shown.whole), (None, false));
        let closing = Closing {
            line: "Answered by Ada: the secret".to_owned(),
            wordless: "Answered by Ada.".to_owned(),
        };
        let over = over(CueId::from_random(7), Some(&card(None, Asks::Words)), &closing);
        assert!(!String::from_utf8(over.encode()).unwrap().contains("secret"));
    }

    proptest! {
        #[test]
        fn every_message_fits_and_a_cut_confirm_has_no_buttons(words in "(\\PC|\n){0,200}", many in 0usize..10) {
            let words = words.repeat(many + 1);
            let shown = question(&card(Some(&words), confirm()));
            let is_long = words.chars().count() > BODY_CHARS_MAX || words.lines().count() > BODY_LINES_MAX;
            prop_assert_eq!(shown.whole, !is_long);
            prop_assert_eq!(shown.buttons.is_empty(), is_long);
            prop_assert!(Message::Question(shown).encode().len() <= PLAINTEXT_BYTES_MAX);
        }
    }
}
