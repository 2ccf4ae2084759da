//! The updates of the Bot API: people's actions in a chat.

use serde_json::Value;

use crate::notify::surface::inbox::Author;

/// An update.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Update {
    /// Its number; numbers increase.
    pub(super) id: i64,
    /// The event, if it concerns the broker.
    pub(super) event: Option<Event>,
}

/// An action of a person in a chat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Event {
    /// A button was pressed.
    Pressed {
        /// The person.
        origin: Author,
        /// The message below which the button stands.
        message: i64,
        /// The id to acknowledge.
        callback: String,
        /// The button's data.
        data: String,
    },
    /// Something was written.
    Wrote(Words),
}

/// A message of a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Words {
    /// The author.
    pub(super) origin: Author,
    /// The message.
    pub(super) message: i64,
    /// The message that it replies to.
    pub(super) reply_to: Option<i64>,
    /// Whether it is meant for a bot: a reply to one, or written in a private chat.
    pub(super) is_for_bot: bool,
    /// Its words.
    pub(super) text: String,
    /// A file that came with it.
    pub(super) file: Option<SentFile>,
}

/// A file in a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SentFile {
    /// The API's id of it.
    pub(super) id: String,
    /// The name that its sender gave it.
    pub(super) name: String,
}

/// Reads a page of updates, in their order. Anything else in the page is left out.
pub(super) fn parse_updates(page: &Value) -> Vec<Update> {
    let mut updates: Vec<Update> = page
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|update| {
            Some(Update {
                id: update["update_id"].as_i64()?,
                event: parse_press(&update["callback_query"]).or_else(|| parse_message(&update["message"])),
            })
        })
        .collect();
    updates.sort_by_key(|update| update.id);
    updates
}

fn parse_press(query: &Value) -> Option<Event> {
    Some(Event::Pressed {
        origin: origin(&query["from"], &query["message"]["chat"])?,
        message: query["message"]["message_id"].as_i64()?,
        callback: query["id"].as_str()?.to_owned(),
        data: query["data"].as_str()?.to_owned(),
    })
}

fn parse_message(message: &Value) -> Option<Event> {
    let text = message["text"].as_str().or_else(|| message["caption"].as_str());
    let origin = origin(&message["from"], &message["chat"])?;
    Some(Event::Wrote(Words {
        is_for_bot: origin.place == origin.user || message["reply_to_message"]["from"]["is_bot"] == true,
        origin,
        message: message["message_id"].as_i64()?,
        reply_to: message["reply_to_message"]["message_id"].as_i64(),
        text: text.unwrap_or_default().to_owned(),
        file: parse_file(message),
    }))
}

fn parse_file(message: &Value) -> Option<SentFile> {
    let largest_photo = message["photo"].as_array().and_then(|sizes| sizes.last());
    let others = ["document", "video", "audio", "voice"].into_iter();
    let found = largest_photo.map(|photo| (photo, "photo.jpg")).or_else(|| {
        others
            .map(|kind| (&message[kind], kind))
            .find(|(file, _)| file.is_object())
    });
    let (file, otherwise) = found?;
    Some(SentFile {
        id: file["file_id"].as_str()?.to_owned(),
        name: file["file_name"].as_str().unwrap_or(otherwise).to_owned(),
    })
}

fn origin(from: &Value, chat: &Value) -> Option<Author> {
    let name = from["username"].as_str().or_else(|| from["first_name"].as_str());
    Some(Author {
        place: chat["id"].as_i64()?.to_string(),
        user: from["id"].as_i64()?.to_string(),
        name: name.unwrap_or_default().to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn updates_are_read_in_their_order_and_the_rest_is_left_out() {
        let page = json!([
            { "update_id": 9, "message": { "message_id": 4, "chat": { "id": -5 }, "from": { "id": 42, "first_name": "Ada" },
              "caption": "see", "photo": [{ "file_id": "s" }, { "file_id": "l" }], "reply_to_message": { "message_id": 3 } } },
            { "update_id": 8, "callback_query": { "id": "q", "from": { "id": 42, "username": "ada" }, "data": "7k3:y",
              "message": { "message_id": 3, "chat": { "id": -5 } } } },
            { "update_id": 10, "poll": {} },
            { "no": "update" },
        ]);
        let updates = parse_updates(&page);
        assert_eq!(
            updates.iter().map(|update| update.id).collect::<Vec<_>>(),
            [8, 9, 10]
        );
        let Some(Event::Pressed { origin, data, .. }) = &updates[0].event else {
            panic!("not a press");
        };
        assert_eq!(
            (origin.user.as_str(), origin.name.as_str(), data.as_str()),
            ("42", "ada", "7k3:y")
        );
        let Some(Event::Wrote(Words {
            reply_to, text, file, ..
        })) = &updates[1].event
        else {
            panic!("not a message");
        };
        assert_eq!((*reply_to, text.as_str()), (Some(3), "see"));
        assert_eq!(file.as_ref().map(|file| file.id.as_str()), Some("l"));
        assert_eq!(updates[2].event, None);
        assert_eq!(parse_updates(&json!({ "ok": true })), []);
    }
}
