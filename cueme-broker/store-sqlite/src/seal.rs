//! Verifies the checksum over a decision, so that a decision with a flipped bit on the disk is never delivered to an
//! agent.

use cueme_store::{Code, Sealed, parse_id};
use protocol_spec::outcome::Outcome;
use rusqlite::Row;
use rusqlite::types::ValueRef;

use super::fault::Fault;

/// Says whether there is a decision where there must be one, and whether it matches its checksum, if it has one.
///
/// The row begins with the question's id; `outcome` is the column of the outcome, and from `seal` on it has the seal, text,
/// reminder and answer of the decision. A value that cannot be read does not match.
pub(super) fn is_whole(row: &Row<'_>, outcome: usize, seal: usize) -> bool {
    let checked = || -> Result<bool, Fault> {
        let Some(written) = row.get::<_, Option<Vec<u8>>>(seal)? else {
            let has_decision = row.get_ref(seal + 1)? != ValueRef::Null;
            return Ok(has_decision || Outcome::from_number(row.get(outcome)?)?.is_answerable());
        };
        let text: String = row.get(seal + 1)?;
        let (reminder, answer): (Option<String>, Option<String>) = (row.get(seal + 2)?, row.get(seal + 3)?);
        let sealed = Sealed {
            cue: parse_id(row.get(0)?)?,
            outcome: row.get(outcome)?,
            text: &text,
            reminder: reminder.as_deref(),
            answer: answer.as_deref(),
        };
        Ok(sealed.seal() == *written)
    };
    checked().unwrap_or(false)
}
