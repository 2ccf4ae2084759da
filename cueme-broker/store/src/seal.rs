//! A checksum over a decision, so that a bit that flipped on the disk is never read to an agent.

use protocol_spec::id::CueId;
use sha2::{Digest, Sha256};

/// How much of the hash is kept, in bytes: enough against chance, which is all it is for.
const SEAL_BYTES: usize = 8;

/// What an agent will read, and for which question.
#[derive(Debug, Clone, Copy)]
pub struct Sealed<'a> {
    /// The question.
    pub cue: CueId,
    /// The number of what was decided.
    pub outcome: i64,
    /// The text.
    pub text: &'a str,
    /// What follows it.
    pub reminder: Option<&'a str>,
    /// The answer, as JSON.
    pub answer: Option<&'a str>,
}

impl Sealed<'_> {
    /// Computes the checksum.
    pub fn seal(&self) -> [u8; SEAL_BYTES] {
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
