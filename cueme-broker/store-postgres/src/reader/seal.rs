//! Whether a decision is what was written.

use cueme_store::Sealed;
use tokio_postgres::Row;

use super::Fault;
use super::row::Columns;

/// Says whether what was decided is what was written, as far as that can be told.
///
/// The row begins with the question's id; `outcome` is the column of the outcome, and from `seal` on it has the seal, text,
/// reminder and answer of the decision. A value that cannot be read is not what was written.
pub(super) fn is_whole(row: &Row, outcome: usize, seal: usize) -> bool {
    let checked = || -> Result<bool, Fault> {
        let Some(written) = row.value::<Option<&[u8]>>(seal)? else {
            return Ok(true);
        };
        let text = row.text(seal + 1)?;
        let (reminder, answer) = (row.maybe_text(seal + 2)?, row.maybe_text(seal + 3)?);
        let sealed = Sealed {
            cue: row.id(0)?,
            outcome: row.value(outcome)?,
            text: &text,
            reminder: reminder.as_deref(),
            answer: answer.as_deref(),
        };
        Ok(sealed.seal() == *written)
    };
    checked().unwrap_or(false)
}
