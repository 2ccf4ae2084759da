//! Verifies the checksum over a decision.

use cueme_store::Sealed;
use protocol_spec::outcome::Outcome;
use tokio_postgres::Row;

use super::Fault;
use super::row::Columns;

/// Says whether there is a decision where there must be one, and whether it matches its checksum, if it has one.
///
/// The row begins with the question's id; `outcome` is the column of the outcome, and from `seal` on it has the seal, text,
/// reminder and answer of the decision. A value that cannot be read does not match.
pub(super) fn is_whole(row: &Row, outcome: usize, seal: usize) -> bool {
    let checked = || -> Result<bool, Fault> {
        let Some(written) = row.value::<Option<&[u8]>>(seal)? else {
            let has_decision = row.maybe_text(seal + 1)?.is_some();
            return Ok(has_decision || row.code::<Outcome>(outcome)?.is_answerable());
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
