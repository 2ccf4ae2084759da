//! Verifies the checksum over a decision, so that a decision with a flipped bit on the disk is never delivered to an
//! agent.

use protocol_spec::id::CueId;
use protocol_spec::outcome::Outcome;

use super::Columns;
use crate::Sealed;

/// The columns of a decision and its checksum.
pub(super) struct SealColumns {
    pub(super) outcome: usize,
    pub(super) seal: usize,
    pub(super) text: usize,
    pub(super) reminder: usize,
    pub(super) answer: usize,
}

impl SealColumns {
    /// Says whether a decision matches its checksum; `None` if it has none.
    pub(super) fn matches<R: Columns>(&self, row: &R, cue: CueId) -> Result<Option<bool>, R::Fault> {
        let Some(written) = row.maybe_bytes(self.seal)? else {
            return Ok(None);
        };
        let text = row.text(self.text)?;
        let (reminder, answer) = (row.maybe_text(self.reminder)?, row.maybe_text(self.answer)?);
        let sealed = Sealed {
            cue,
            outcome: row.number(self.outcome)?,
            text: &text,
            reminder: reminder.as_deref(),
            answer: answer.as_deref(),
        };
        Ok(Some(sealed.seal() == *written))
    }
}

/// Says whether there is a decision where there must be one, and whether it matches its checksum, if it has one.
///
/// The row begins with the question's id; `outcome` is the column of the outcome, and from `seal` on it has the seal, text,
/// reminder and answer of the decision. A value that cannot be read does not match.
pub fn is_whole<R: Columns>(row: &R, outcome: usize, seal: usize) -> bool {
    let columns = SealColumns {
        outcome,
        seal,
        text: seal + 1,
        reminder: seal + 2,
        answer: seal + 3,
    };
    let check = || -> Result<bool, R::Fault> {
        match columns.matches(row, row.id(0)?)? {
            Some(matches) => Ok(matches),
            None => Ok(!row.is_null(columns.text)? || row.code::<Outcome>(outcome)?.is_answerable()),
        }
    };
    check().unwrap_or(false)
}
