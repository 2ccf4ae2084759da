//! A question as a notification of ntfy. It is published as plain text, which ntfy shows literally.

use serde_json::{Value, json};

use crate::notify::surface::card::{Asks, Card};
use crate::notify::surface::fit::{fit, label};

/// The longest message in bytes; ntfy turns longer ones into files.
const MESSAGE_BYTES_MAX: usize = 4096;
/// The bytes reserved for the hint.
const FRAME_BYTES: usize = 400;
/// The longest title.
const TITLE_CHARS_MAX: usize = 120;
/// The most buttons of a notification.
const ACTIONS_MAX: usize = 3;
/// The part of a label that is shown on a button.
const BUTTON_CHARS_MAX: usize = 40;

/// A notification.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Notification {
    /// The line above.
    pub(super) title: String,
    /// The words.
    pub(super) message: String,
    /// The buttons: their labels, and the data that a press publishes after the key.
    pub(super) buttons: Vec<(String, String)>,
    /// Whether all of the question is in it.
    pub(super) whole: bool,
}

/// Renders a question.
pub(super) fn question(card: &Card) -> Notification {
    let title = label(&card.title, TITLE_CHARS_MAX);
    let Some(words) = &card.words else {
        return Notification {
            title,
            message: "Open the question to read and answer it.".to_owned(),
            buttons: Vec::new(),
            whole: false,
        };
    };
    let fitted = fit(words, MESSAGE_BYTES_MAX - FRAME_BYTES, char::len_utf8);
    // A press answers a question that was shown whole, and no other message here shows the rest.
    let buttons = if fitted.hidden > 0 {
        Vec::new()
    } else {
        buttons(&card.asks)
    };
    let hint = match (fitted.hidden > 0, buttons.is_empty()) {
        (true, _) => "\n\nOpen the question to read all of it and to answer.",
        (false, true) => "\n\nOpen the question to answer it.",
        (false, false) => "",
    };
    Notification {
        title,
        message: fitted.text + hint,
        buttons,
        whole: fitted.hidden == 0,
    }
}

fn buttons(asks: &Asks) -> Vec<(String, String)> {
    let button = |text: &str, code: &str| (label(text, BUTTON_CHARS_MAX), code.to_owned());
    match asks {
        Asks::Continue => vec![button("Continue", "c")],
        Asks::Confirm { yes, no } => vec![button(yes, "y"), button(no, "n")],
        Asks::Choice { options, many: false } if options.len() <= ACTIONS_MAX => options
            .iter()
            .enumerate()
            .map(|(index, option)| button(option, &index.to_string()))
            .collect(),
        Asks::Words | Asks::Form | Asks::Choice { .. } => Vec::new(),
    }
}

/// Writes a button that publishes to the reply topic.
pub(super) fn action(
    button: &(String, String),
    reply_url: &str,
    key: &str,
    authorization: Option<&str>,
) -> Value {
    let (text, code) = button;
    let mut action = json!({
        "action": "http",
        "label": text,
        "url": reply_url,
        "method": "POST",
        "body": format!("{key} {code}"),
        "clear": true,
    });
    if let Some(authorization) = authorization {
        action["headers"] = json!({ "Authorization": authorization });
    }
    action
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use protocol_spec::id::CueId;

    use super::*;

    fn card(words: &str, asks: Asks) -> Card {
        Card {
            cue: CueId::from_random(7),
            title: "bako-nefi asks".to_owned(),
            words: Some(words.to_owned()),
            asks,
            is_code: false,
            url: None,
        }
    }

    fn choice(count: usize, many: bool) -> Asks {
        Asks::Choice {
            options: (0..count).map(|option| option.to_string()).collect(),
            many,
        }
    }

    #[test]
    fn three_options_are_buttons_and_more_are_answered_on_the_page() {
        assert_eq!(question(&card("?", choice(3, false))).buttons.len(), 3);
        assert_eq!(question(&card("?", choice(4, false))).buttons.len(), 0);
        let many = question(&card("?", choice(2, true)));
        assert!(many.buttons.is_empty() && many.message.ends_with("Open the question to answer it."));
    }

    proptest! {
        #[test]
        fn every_character_is_shown_or_counted_and_a_cut_confirm_has_no_buttons(words in "(\\PC|\n){0,200}", many in 0usize..30) {
            let words = words.repeat(many + 1);
            let asks = Asks::Confirm { yes: "Yes".to_owned(), no: "No".to_owned() };
            let shown = question(&card(&words, asks));
            prop_assert!(shown.message.len() <= MESSAGE_BYTES_MAX);
            prop_assert_eq!(shown.whole, shown.message.starts_with(&words));
            prop_assert_eq!(shown.whole, !shown.buttons.is_empty());
        }
    }
}
