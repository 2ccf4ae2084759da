//! A question as a Telegram message.
//!
//! No parse mode is used, so that nothing an agent writes is markup. A tool's input is a `pre` entity, in which Telegram looks
//! for no links or mentions; in other words, a word joiner keeps an `@` from calling somebody.

use serde_json::{Value, json};

use crate::notify::escape::without_mentions;
use crate::notify::surface::card::{Asks, Card};
use crate::notify::surface::closing::Closing;
use crate::notify::surface::fit::{fit, label};
use crate::notify::surface::press::{Marks, Press};

/// The longest message, in UTF-16 units.
const MESSAGE_UNITS_MAX: usize = 4096;
/// The space reserved for the title, the link and the hint.
const FRAME_UNITS: usize = 1100;
/// The part of a label that is shown on a button.
const BUTTON_CHARS_MAX: usize = 40;
/// The most buttons of a message.
const BUTTONS_MAX: usize = 100;

/// A message.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Message {
    /// The text.
    pub(super) text: String,
    /// The range of the tool's input in it.
    pub(super) entities: Value,
    /// The buttons.
    pub(super) keyboard: Value,
    /// The number of characters of the question that are left out.
    pub(super) hidden: usize,
}

/// Renders a question that is open; `marked` are the options chosen so far.
pub(super) fn question(card: &Card, marked: &[usize]) -> Message {
    let mut message = body(card);
    let buttons = if message.hidden > 0 && card.asks_consent() {
        Vec::new()
    } else {
        buttons(card, marked)
    };
    let hint = hint(card, message.hidden, buttons.is_empty());
    message.text.push_str(&format!("\n\n{hint}"));
    if let Some(url) = &card.url {
        message.text.push_str(&format!("\n{url}"));
    }
    message.keyboard = json!({ "inline_keyboard": buttons });
    message
}

/// Renders a question that has ended, without buttons.
pub(super) fn closed(card: Option<&Card>, closing: &Closing) -> Message {
    let mut message = card.map_or_else(
        || Message {
            text: String::new(),
            entities: json!([]),
            keyboard: Value::Null,
            hidden: 0,
        },
        body,
    );
    if !message.text.is_empty() {
        message.text.push_str("\n\n");
    }
    message.text.push_str(&without_mentions(closing.below(card)));
    message.keyboard = json!({ "inline_keyboard": [] });
    message
}

fn body(card: &Card) -> Message {
    let title = without_mentions(&label(&card.title, 200));
    let Some(words) = &card.words else {
        return Message {
            text: title,
            entities: json!([]),
            keyboard: Value::Null,
            hidden: 0,
        };
    };
    let words = if card.is_code {
        words.clone()
    } else {
        without_mentions(words)
    };
    let mut fitted = fit(&words, MESSAGE_UNITS_MAX - FRAME_UNITS, char::len_utf16);
    if !card.is_code {
        // After truncation, an `@` may begin a word.
        fitted.text = without_mentions(&fitted.text);
    }
    let offset = units(&title) + 2;
    let entities = if card.is_code {
        json!([{ "type": "pre", "offset": offset, "length": units(&fitted.text) }])
    } else {
        json!([])
    };
    Message {
        text: format!("{title}\n\n{}", fitted.text),
        entities,
        keyboard: Value::Null,
        hidden: fitted.hidden,
    }
}

fn hint(card: &Card, hidden: usize, has_no_buttons: bool) -> &'static str {
    match (&card.words, &card.asks) {
        (None, _) => "Open the question to read and answer it.",
        _ if hidden > 0 && card.asks_consent() => {
            "Too long to be decided here: the file below has all of it; decide at"
        }
        _ if hidden > 0 => "The file below has all of it. Reply to this message, or answer at",
        (_, Asks::Form) => "Reply to this message, or fill in the form at",
        (_, Asks::Choice { many: true, .. }) if !has_no_buttons => {
            "Mark options and press Send, or reply with their numbers or with words."
        }
        (_, Asks::Choice { .. }) if !has_no_buttons => {
            "Press a button, or reply with its number or with words."
        }
        _ if has_no_buttons => "Reply to this message to answer.",
        _ => "Press a button, or reply to this message.",
    }
}

fn buttons(card: &Card, marked: &[usize]) -> Vec<Value> {
    let button = |text: &str, press: Press| json!([{ "text": label(text, BUTTON_CHARS_MAX), "callback_data": press.encode(card.cue) }]);
    match &card.asks {
        Asks::Words | Asks::Form => Vec::new(),
        Asks::Continue => vec![button("Continue", Press::Continue)],
        Asks::Confirm { yes, no } => vec![button(yes, Press::Yes), button(no, Press::No)],
        Asks::Choice { options, many } => {
            let shown = options.iter().take(BUTTONS_MAX - 1).enumerate();
            let mut rows: Vec<Value> = shown
                .map(|(index, option)| {
                    let mark = match (many, marked.contains(&index)) {
                        (false, _) => "",
                        (true, true) => "☑ ",
                        (true, false) => "☐ ",
                    };
                    button(&format!("{mark}{}. {option}", index + 1), Press::Option(index))
                })
                .collect();
            if *many {
                let seen = Some(Marks::of(marked));
                rows.push(button("Send", Press::Send { seen }));
            }
            rows
        }
    }
}

fn units(text: &str) -> usize {
    text.chars().map(char::len_utf16).sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use protocol_spec::id::CueId;

    use super::*;

    fn card(words: &str, asks: Asks, is_code: bool) -> Card {
        Card {
            cue: CueId::from_random(7),
            title: "bako-nefi (shop) asks".to_owned(),
            words: Some(words.to_owned()),
            asks,
            is_code,
            url: Some("https://cue.example.org/#/cue/7k3".to_owned()),
        }
    }

    fn confirm() -> Asks {
        Asks::Confirm {
            yes: "Allow".to_owned(),
            no: "Deny".to_owned(),
        }
    }

    /// Returns a text without the word joiners that break mentions.
    fn bare(text: &str) -> String {
        text.replace('\u{2060}', "")
    }

    fn slice(text: &str, offset: usize, length: usize) -> String {
        let units: Vec<u16> = text.encode_utf16().skip(offset).take(length).collect();
        String::from_utf16(&units).unwrap()
    }

    #[test]
    fn an_approval_that_is_not_shown_whole_has_no_buttons_and_says_where_to_decide() {
        let short = question(&card("rm -rf target", confirm(), true), &[]);
        assert_eq!(
            short.keyboard["inline_keyboard"].as_array().map(Vec::len),
            Some(2)
        );
        assert_eq!(short.hidden, 0);
        let long = question(&card(&"x".repeat(5000), confirm(), true), &[]);
        assert_eq!(long.keyboard["inline_keyboard"], json!([]));
        assert!(
            long.text.contains(&format!("{} characters", long.hidden)),
            "{}",
            long.text
        );
        assert!(
            long.text
                .ends_with("decide at\nhttps://cue.example.org/#/cue/7k3"),
            "{}",
            long.text
        );
    }

    #[test]
    fn nothing_leaves_the_machine_without_a_preview() {
        let mut card = card("a secret", Asks::Words, false);
        card.words = None;
        let message = question(&card, &[]);
        assert!(
            !message.text.contains("secret") && message.text.contains("https://"),
            "{}",
            message.text
        );
    }

    proptest! {
        #[test]
        fn every_character_is_shown_or_counted_and_no_mention_is_made(
            words in "(\\PC|\n|@[a-z]{3}){0,200}", many in 0usize..30, is_code: bool
        ) {
            let words = words.repeat(many + 1);
            let message = question(&card(&words, confirm(), is_code), &[]);
            prop_assert!(units(&message.text) <= MESSAGE_UNITS_MAX);
            if is_code {
                let entity = &message.entities[0];
                let at = |key: &str| usize::try_from(entity[key].as_u64().unwrap()).unwrap();
                let shown = slice(&message.text, at("offset"), at("length"));
                prop_assert!(message.hidden > 0 || shown == words);
            } else {
                let is_shown = bare(&message.text).contains(&bare(&words));
                prop_assert!(message.hidden > 0 || is_shown);
                prop_assert_eq!(&crate::notify::escape::without_mentions(&message.text), &message.text);
            }
            prop_assert_eq!(message.hidden > 0, message.text.contains("characters are not shown here"));
        }
    }
}
