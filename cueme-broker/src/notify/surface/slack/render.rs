//! A question as blocks of a Slack message.
//!
//! An agent's words are text elements of a `rich_text` block, which Slack shows literally: no markup, mention, link or emoji is
//! read in them. The fallback text, which notifications show, is escaped.

use serde_json::{Value, json};

use crate::notify::escape::for_slack;
use crate::notify::surface::card::{Asks, Card};
use crate::notify::surface::closing::Closing;
use crate::notify::surface::fit::{fit, label};
use crate::notify::surface::press::Press;

/// The most characters of a question that a message shows.
const WORDS_CHARS_MAX: usize = 10_000;
/// The longest text of a button or an option.
const LABEL_CHARS_MAX: usize = 75;
/// The most buttons of a block.
const BUTTONS_MAX: usize = 25;
/// The most checkboxes of a block; more become a menu.
const CHECKBOXES_MAX: usize = 10;
/// The most options of a menu.
const MENU_MAX: usize = 100;
/// The part of a question that a notification shows, in characters.
const FALLBACK_CHARS_MAX: usize = 300;
/// The block and the action that hold the marked options.
pub(super) const MARKS: &str = "marks";

/// A message.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Message {
    /// The text that notifications show.
    pub(super) text: String,
    /// The blocks.
    pub(super) blocks: Vec<Value>,
    /// The number of characters of the question that are left out.
    pub(super) hidden: usize,
}

/// Renders a question that is open.
pub(super) fn question(card: &Card) -> Message {
    let mut message = body(card);
    let answers = if message.hidden > 0 && card.asks_consent() {
        Vec::new()
    } else {
        answers(card)
    };
    let is_choice = matches!(card.asks, Asks::Choice { .. });
    let hint = match (&card.words, message.hidden > 0, answers.is_empty()) {
        (None, ..) => "Open the question to read and answer it.",
        (_, true, true) if card.asks_consent() => {
            "Too long to be decided here: the file in the thread has all of it."
        }
        (_, true, _) => "The file in the thread has all of it. Reply in the thread, or open the question.",
        (_, false, true) => "Reply in the thread to answer.",
        _ if is_choice => "Choose, or reply in the thread with a number or with words.",
        (_, false, false) => "Press a button, or reply in the thread.",
    };
    message.blocks.extend(answers);
    let link = card.url.as_deref().map(|url| format!(" <{}>", for_slack(url)));
    message
        .blocks
        .push(context(&format!("{hint}{}", link.unwrap_or_default())));
    message
}

/// Renders a question that has ended, without buttons.
pub(super) fn closed(card: Option<&Card>, closing: &Closing) -> Message {
    let mut message = card.map_or_else(
        || Message {
            text: String::new(),
            blocks: Vec::new(),
            hidden: 0,
        },
        body,
    );
    let line = closing.below(card);
    message.text = for_slack(line);
    message.blocks.push(rich_text(vec![section(line, false)]));
    message
}

fn body(card: &Card) -> Message {
    let mut parts = vec![section(&label(&card.title, 200), true)];
    let mut text = card.title.clone();
    let mut hidden = 0;
    if let Some(words) = &card.words {
        let fitted = fit(words, WORDS_CHARS_MAX, |_| 1);
        parts.push(if card.is_code {
            json!({ "type": "rich_text_preformatted", "elements": [{ "type": "text", "text": fitted.text }] })
        } else {
            section(&format!("\n{}", fitted.text), false)
        });
        hidden = fitted.hidden;
        text = format!("{text}: {words}");
    }
    Message {
        text: for_slack(&label(&text, FALLBACK_CHARS_MAX)),
        blocks: vec![rich_text(parts)],
        hidden,
    }
}

fn answers(card: &Card) -> Vec<Value> {
    let button = |text: &str, press: Press| {
        let code = press.encode(card.cue);
        json!({ "type": "button", "text": plain(text), "action_id": code, "value": code })
    };
    let actions =
        |buttons: Vec<Value>| json!({ "type": "actions", "block_id": "answer", "elements": buttons });
    match &card.asks {
        Asks::Words | Asks::Form => Vec::new(),
        Asks::Continue => vec![actions(vec![button("Continue", Press::Continue)])],
        Asks::Confirm { yes, no } => vec![actions(vec![button(yes, Press::Yes), button(no, Press::No)])],
        Asks::Choice { options, many: false } => {
            let options = options.iter().take(BUTTONS_MAX).enumerate();
            let buttons =
                options.map(|(index, option)| button(&numbered(index, option), Press::Option(index)));
            vec![actions(buttons.collect())]
        }
        Asks::Choice { options, many: true } => {
            vec![
                marks(options),
                actions(vec![button("Send", Press::Send { seen: None })]),
            ]
        }
    }
}

fn marks(options: &[String]) -> Value {
    let is_short = options.len() <= CHECKBOXES_MAX;
    let options: Vec<Value> = options
        .iter()
        .take(MENU_MAX)
        .enumerate()
        .map(|(index, option)| json!({ "text": plain(&numbered(index, option)), "value": index.to_string() }))
        .collect();
    let kind = if is_short {
        "checkboxes"
    } else {
        "multi_static_select"
    };
    json!({
        "type": "section",
        "block_id": MARKS,
        "text": plain("Options"),
        "accessory": { "type": kind, "action_id": MARKS, "options": options },
    })
}

fn numbered(index: usize, option: &str) -> String {
    format!("{}. {option}", index + 1)
}

fn plain(text: &str) -> Value {
    json!({ "type": "plain_text", "text": label(text, LABEL_CHARS_MAX), "emoji": false })
}

fn rich_text(elements: Vec<Value>) -> Value {
    json!({ "type": "rich_text", "elements": elements })
}

fn section(text: &str, bold: bool) -> Value {
    let mut element = json!({ "type": "text", "text": text });
    if bold {
        element["style"] = json!({ "bold": true });
    }
    json!({ "type": "rich_text_section", "elements": [element] })
}

fn context(text: &str) -> Value {
    json!({ "type": "context", "elements": [{ "type": "mrkdwn", "text": text, "verbatim": true }] })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use protocol_spec::id::CueId;

    use super::*;

    fn card(words: &str, asks: Asks, is_code: bool) -> Card {
        Card {
            cue: CueId::from_random(7),
            title: "bako-nefi asks".to_owned(),
            words: Some(words.to_owned()),
            asks,
            is_code,
            url: Some("https://cue.example.org/#/cue/7k3".to_owned()),
        }
    }

    fn choice(count: usize) -> Asks {
        Asks::Choice {
            options: (0..count).map(|option| format!("option {option}")).collect(),
            many: true,
        }
    }

    #[test]
    fn many_options_are_checkboxes_or_a_menu() {
        let kind = |count| question(&card("?", choice(count), false)).blocks[1]["accessory"]["type"].clone();
        assert_eq!(
            (kind(10), kind(11)),
            (json!("checkboxes"), json!("multi_static_select"))
        );
    }

    proptest! {
        #[test]
        fn every_character_is_shown_literally_or_counted(words in "(\\PC|\n|<!channel>){0,300}", many in 0usize..60, is_code: bool) {
            let words = words.repeat(many + 1);
            let asks = Asks::Confirm { yes: "Yes".to_owned(), no: "No".to_owned() };
            let message = question(&card(&words, asks, is_code));
            let shown = message.blocks[0]["elements"][1]["elements"][0]["text"].as_str().unwrap();
            prop_assert!(message.hidden > 0 || shown.trim_start_matches('\n') == words.trim_start_matches('\n'));
            prop_assert_eq!(message.hidden == 0, message.blocks[1]["type"] == "actions");
            prop_assert!(!message.text.contains(['<', '>']));
            // An agent's words are in text elements alone.
            for block in &message.blocks[1..] {
                prop_assert!(!block.to_string().contains("!channel"));
            }
        }
    }
}
