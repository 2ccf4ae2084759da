//! Reads the checksum over a decision, so that a bit that flipped on the disk is never read to an agent.

use cueme_store::{Sealed, parse_id};
use rusqlite::Row;

use super::fault::Fault;

/// Says whether what was decided is what was written, as far as that can be told.
///
/// The row begins with the question's id; `outcome` is the column of the outcome, and from `seal` on it has the seal, text,
/// reminder and answer of the decision. A value that cannot be read is not what was written.
pub(super) fn is_whole(row: &Row<'_>, outcome: usize, seal: usize) -> bool {
    let checked = || -> Result<bool, Fault> {
        let Some(written) = row.get::<_, Option<Vec<u8>>>(seal)? else {
            return Ok(true);
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
