//! What chats have in common: who pressed or replied, what that means, and what is said back.

use protocol_spec::answer::Attachment;
use protocol_spec::id::CueId;

use super::card::Card;
use super::inbox::{Author, Deed, Heard, Inbox, Shown};
use super::press::Press;

/// Names a message: ids are unique in a chat or channel only.
pub(super) fn place(chat: &str, message: &str) -> String {
    format!("{chat} {message}")
}

/// Returns the name and the text of the file that a question comes with when its words do not fit.
pub(super) fn file_of(card: &Card, hidden: usize) -> Option<(String, &str)> {
    let words = card.words.as_deref().filter(|_| hidden > 0)?;
    Some((format!("{}.txt", card.cue), words))
}

/// Describes a question that was posted.
pub(super) fn posted(card: &Card, message: String, hidden: usize) -> Shown {
    Shown {
        message,
        whole: hidden == 0 && card.words.is_some(),
        ..Shown::default()
    }
}

/// Somebody pressed a button; `None` when it is none of ours or the person may not answer.
pub(super) async fn pressed(
    inbox: &Inbox,
    author: &Author,
    data: &str,
    key: &str,
    marked: Option<Vec<usize>>,
) -> Option<Heard> {
    let (cue, press) = Press::decode(data)?;
    let by = inbox.person(&author.user, &author.name)?;
    Some(inbox.pressed(&Deed { by, cue, key }, press, marked).await)
}

/// What somebody wrote in reply to a question.
#[derive(Debug)]
pub(super) struct Written<'a> {
    pub(super) author: &'a Author,
    pub(super) cue: CueId,
    pub(super) key: &'a str,
    pub(super) text: &'a str,
}

/// Somebody replied. Files are fetched only for a person who may answer. Returns what is said back, unless the reply decided
/// the question.
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
        key: written.key,
    };
    match inbox.replied(&deed, written.text, attachments).await {
        Heard::Not(why) => Some(why),
        Heard::Decided | Heard::Marked(..) => None,
    }
}
