//! The envelopes of Socket Mode: people's actions in a channel.

use serde_json::Value;

use super::render::MARKS;
use crate::notify::surface::inbox::Author;

/// A received envelope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Envelope {
    /// The connection is ready, or another envelope without an effect.
    Nothing,
    /// The server is about to close the connection.
    Disconnect,
    /// An envelope to acknowledge, with its event if it concerns the broker.
    Event {
        /// The id to acknowledge.
        id: String,
        /// The event.
        event: Option<Event>,
    },
}

/// An action of a person in a channel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Event {
    /// A button was pressed.
    Pressed {
        /// The person.
        origin: Author,
        /// The message in which the button stands.
        message: String,
        /// The button's data.
        data: String,
        /// The marked options in the message.
        marked: Vec<usize>,
        /// An id that stays the same when the press is repeated.
        key: String,
    },
    /// Something was written in a thread.
    Replied {
        /// The person.
        origin: Author,
        /// The message above the thread.
        thread: String,
        /// Its words.
        text: String,
        /// Files that came with it.
        files: Vec<SentFile>,
        /// An id that stays the same when the message is repeated.
        key: String,
    },
}

/// A file in a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SentFile {
    /// Its address.
    pub(super) url: String,
    /// The name that its sender gave it.
    pub(super) name: String,
}

/// Parses an envelope.
pub(super) fn parse_envelope(text: &str) -> Envelope {
    let envelope: Value = serde_json::from_str(text).unwrap_or_default();
    if envelope["type"] == "disconnect" {
        return Envelope::Disconnect;
    }
    let Some(id) = envelope["envelope_id"].as_str() else {
        return Envelope::Nothing;
    };
    let payload = &envelope["payload"];
    let event = match envelope["type"].as_str() {
        Some("interactive") => parse_press(payload),
        Some("events_api") => parse_reply(&payload["event"]),
        _ => None,
    };
    Envelope::Event {
        id: id.to_owned(),
        event,
    }
}

fn parse_press(payload: &Value) -> Option<Event> {
    let actions = payload["actions"]
        .as_array()
        .filter(|_| payload["type"] == "block_actions")?;
    let button = actions.iter().find(|action| action["type"] == "button")?;
    let container = &payload["container"];
    let user = &payload["user"];
    let selected = &payload["state"]["values"][MARKS][MARKS]["selected_options"];
    let marked = selected
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|option| option["value"].as_str()?.parse().ok())
        .collect();
    Some(Event::Pressed {
        origin: Author {
            place: container["channel_id"].as_str()?.to_owned(),
            user: user["id"].as_str()?.to_owned(),
            name: user["username"].as_str().unwrap_or_default().to_owned(),
        },
        message: container["message_ts"].as_str()?.to_owned(),
        data: button["value"].as_str()?.to_owned(),
        marked,
        key: format!(
            "{} {}",
            container["message_ts"].as_str()?,
            button["action_ts"].as_str()?
        ),
    })
}

/// Parses a message of a person in a thread; all others are ignored.
fn parse_reply(event: &Value) -> Option<Event> {
    let is_plain = match event["subtype"].as_str() {
        None => event["subtype"].is_null(),
        // A reply that is also sent to the channel is one all the same.
        Some(subtype) => matches!(subtype, "file_share" | "thread_broadcast"),
    };
    if event["type"] != "message" || !is_plain || !event["bot_id"].is_null() {
        return None;
    }
    let files = event["files"].as_array().into_iter().flatten();
    // A file without an address cannot be fetched, and the person gets an error.
    let files = files.map(|file| SentFile {
        url: file["url_private_download"]
            .as_str()
            .unwrap_or_default()
            .to_owned(),
        name: file["name"].as_str().unwrap_or("file").to_owned(),
    });
    Some(Event::Replied {
        origin: Author {
            place: event["channel"].as_str()?.to_owned(),
            user: event["user"].as_str()?.to_owned(),
            name: String::new(),
        },
        thread: event["thread_ts"].as_str()?.to_owned(),
        text: unescape(event["text"].as_str().unwrap_or_default()),
        files: files.collect(),
        key: event["ts"].as_str()?.to_owned(),
    })
}

/// Returns the words as they were written: Slack escapes three letters and marks links up as `<address|label>`.
fn unescape(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('<') {
        plain.push_str(before);
        let Some((control, after)) = after.split_once('>') else {
            plain.push('<');
            rest = after;
            continue;
        };
        let (target, shown) = control.split_once('|').unwrap_or((control, control));
        let is_link = target.contains("://");
        plain.push_str(if is_link {
            target
        } else {
            shown.trim_start_matches("mailto:")
        });
        rest = after;
    }
    plain.push_str(rest);
    plain
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&amp;", "&")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn envelopes_are_read_and_what_others_say_is_left_out() {
        let press = json!({ "type": "interactive", "envelope_id": "e1", "payload": {
            "type": "block_actions", "user": { "id": "U1", "username": "ada" },
            "container": { "message_ts": "1.1", "channel_id": "C1" },
            "state": { "values": { "marks": { "marks": { "selected_options": [{ "value": "2" }, { "value": "x" }] } } } },
            "actions": [{ "type": "button", "value": "7k3:s", "action_ts": "2.2" }] } });
        let Envelope::Event {
            id,
            event: Some(Event::Pressed { marked, key, .. }),
        } = parse_envelope(&press.to_string())
        else {
            panic!("not a press");
        };
        assert_eq!((id.as_str(), marked, key.as_str()), ("e1", vec![2], "1.1 2.2"));
        let message = |event: Value| {
            let envelope =
                json!({ "type": "events_api", "envelope_id": "e2", "payload": { "event": event } });
            match parse_envelope(&envelope.to_string()) {
                Envelope::Event { event, .. } => event,
                other => panic!("{other:?}"),
            }
        };
        let base = json!({ "type": "message", "channel": "C1", "user": "U1", "ts": "3", "text": "x" });
        assert_eq!(message(base.clone()), None, "not in a thread");
        let mut bot = base.clone();
        (bot["thread_ts"], bot["bot_id"]) = (json!("1.1"), json!("B1"));
        assert_eq!(message(bot), None);
        let mut reply = base;
        reply["thread_ts"] = json!("1.1");
        assert!(matches!(message(reply.clone()), Some(Event::Replied { thread, .. }) if thread == "1.1"));
        reply["subtype"] = json!("thread_broadcast");
        reply["files"] = json!([{ "id": "F1", "name": "kept elsewhere" }]);
        let Some(Event::Replied { files, .. }) = message(reply.clone()) else {
            panic!("a reply that is also sent to the channel is one");
        };
        assert_eq!(files.len(), 1, "a file that cannot be fetched is not passed over");
        reply["subtype"] = json!("message_changed");
        assert_eq!(message(reply), None);
        assert_eq!(
            parse_envelope("{\"type\":\"disconnect\",\"reason\":\"warning\"}"),
            Envelope::Disconnect
        );
        assert_eq!(parse_envelope("{\"type\":\"hello\"}"), Envelope::Nothing);
        assert_eq!(parse_envelope("rubbish"), Envelope::Nothing);
    }

    #[test]
    fn words_are_read_as_they_were_written() {
        for (sent, written) in [
            ("a &lt; b &amp;&amp; c", "a < b && c"),
            ("see <https://a.test/x|a.test>", "see https://a.test/x"),
            ("<mailto:a@b.test|a@b.test> <@U1> 1 < 2", "a@b.test @U1 1 < 2"),
        ] {
            assert_eq!(unescape(sent), written);
        }
    }
}
