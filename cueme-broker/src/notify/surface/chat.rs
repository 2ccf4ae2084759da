//! The common part of chats: handling presses and replies, and the response to them.

use protocol_spec::answer::Attachment;
use protocol_spec::id::CueId;

use super::card::Card;
use super::inbox::{Author, Deed, Heard, Inbox, Shown};
use super::press::Press;

/// The response to words that are no button of an approval.
const REFUSED: &str = "These words are none of its buttons, so they refuse the request, and the agent reads them as the reason.";

/// Names a message: ids are unique in a chat or channel only.
pub(super) fn place(chat: &str, message: &str) -> String {
    format!("{chat} {message}")
}

/// Returns the name and the text of the file that a question comes with when its words do not fit.
pub(super) fn file_of(card: &Card, hidden: usize) -> Option<(String, &str)> {
    let words = card.words.as_deref().filter(|_| hidden > 0)?;
    Some((format!("{}.txt", card.cue), words))
}

/// Says that the file with the whole question is missing, and links to the question.
pub(super) fn file_missing(card: &Card) -> String {
    let place = card.url.as_deref().unwrap_or("the page");
    format!("The file could not be sent. All of the question is at {place}")
}

/// Describes a question that was posted.
pub(super) fn posted(card: &Card, message: String, hidden: usize) -> Shown {
    Shown {
        message,
        whole: hidden == 0 && card.words.is_some(),
        ..Shown::default()
    }
}

/// A pressed button.
#[derive(Debug)]
pub(super) struct Button<'a> {
    pub(super) author: &'a Author,
    /// The message below which it stands.
    pub(super) message: &'a str,
    /// Its data. A program in place of the service's own client may send any data.
    pub(super) data: &'a str,
    pub(super) key: &'a str,
}

/// Handles a press; `None` when it is no button of ours or the person may not answer.
pub(super) async fn pressed(inbox: &Inbox, button: &Button<'_>, marked: Option<Vec<usize>>) -> Option<Heard> {
    let (cue, press) = Press::decode(button.data)?;
    let by = inbox.person(&button.author.user, &button.author.name)?;
    let deed = Deed {
        by,
        cue,
        message: Some(button.message),
        key: button.key,
        pass: None,
    };
    Some(inbox.pressed(&deed, press, marked).await)
}

/// A reply to a question.
#[derive(Debug)]
pub(super) struct Written<'a> {
    pub(super) author: &'a Author,
    pub(super) cue: CueId,
    /// The message that it replies to.
    pub(super) message: &'a str,
    pub(super) key: &'a str,
    pub(super) text: &'a str,
}

/// Handles a reply. Files are fetched only for a person who may answer. Returns the response, unless the reply decided
/// the question as its author reads it.
pub(super) async fn replied(
    inbox: &Inbox,
    written: &Written<'_>,
    files: impl Future<Output = Result<Vec<Attachment>, String>>,
) -> Option<String> {
    let author = written.author;
    let by = inbox.person(&author.user, &author.name)?;
    let attachments = match files.await {
        Ok(attachments) => attachments,
        Err(why) => {
            return Some(format!(
                "Nothing was answered, because a file could not be fetched: {why}"
            ));
        }
    };
    let deed = Deed {
        by,
        cue: written.cue,
        message: Some(written.message),
        key: written.key,
        pass: None,
    };
    match inbox.replied(&deed, written.text, attachments).await {
        Heard::Not(why) => Some(why),
        Heard::Refused => Some(REFUSED.to_owned()),
        Heard::Decided | Heard::Marked(..) | Heard::NotSeen(..) => None,
    }
}
