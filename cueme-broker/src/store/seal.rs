//! A checksum over a decision, so that a bit that flipped on the disk is never read to an agent.

use protocol_spec::id::CueId;
use sha2::{Digest, Sha256};

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
