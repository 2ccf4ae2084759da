//! Messages that wait for an agent, or went into a decision.

use cueme_rules::Message;

use super::Columns;
use crate::MessageRow;

columns! {
    REQUEST, TEXT, SAID_AT, PURPOSE, SAID_BY
}

/// Reads a message for the rules.
pub fn waiting_message<R: Columns>(row: &R) -> Result<Message, R::Fault> {
    Ok(Message {
        request: row.request(REQUEST)?,
        text: row.text(TEXT)?.into(),
        said_at: row.time(SAID_AT)?,
        purpose: row.code(PURPOSE)?,
        by: row.maybe_text(SAID_BY)?,
    })
}

/// Reads a message as the inbox shows it.
pub fn message_row<R: Columns>(row: &R) -> Result<MessageRow, R::Fault> {
    Ok(MessageRow {
        request: row.request(REQUEST)?,
        text: row.text(TEXT)?,
        by: row.maybe_text(SAID_BY)?,
        at: row.time(SAID_AT)?,
        purpose: row.code(PURPOSE)?,
    })
}
