//! A checksum over a decision, so that a bit that flipped on the disk is never read to an agent.

use protocol_spec::id::CueId;
use rusqlite::Row;
use sha2::{Digest, Sha256};

use super::fault::Fault;
use super::load::parse;

/// How much of the hash is kept, in bytes: enough against chance, which is all it is for.
const SEAL_BYTES: usize = 8;

/// What an agent will read, and for which question.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sealed<'a> {
    pub(super) cue: CueId,
    pub(super) outcome: i64,
    pub(super) text: &'a str,
    pub(super) reminder: Option<&'a str>,
    pub(super) answer: Option<&'a str>,
}

impl Sealed<'_> {
    /// Computes the checksum.
    pub(super) fn seal(&self) -> [u8; SEAL_BYTES] {
        let mut hash = Sha256::new();
        hash.update(self.outcome.to_le_bytes());
        for part in [
            Some(self.cue.as_str()),
            Some(self.text),
            self.reminder,
            self.answer,
        ] {
            // Each part behind its length, so that no two decisions look alike.
            hash.update(part.map_or(u64::MAX, |part| part.len() as u64).to_le_bytes());
            hash.update(part.unwrap_or_default());
        }
        let whole: [u8; 32] = hash.finalize().into();
        let mut seal = [0; SEAL_BYTES];
        seal.copy_from_slice(&whole[..SEAL_BYTES]);
        seal
    }
}

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
            cue: parse(row.get(0)?)?,
            outcome: row.get(outcome)?,
            text: &text,
            reminder: reminder.as_deref(),
            answer: answer.as_deref(),
        };
        Ok(sealed.seal() == *written)
    };
    checked().unwrap_or(false)
}
