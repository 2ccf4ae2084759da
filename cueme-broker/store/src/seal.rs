//! A checksum over a decision, so that a decision with a flipped bit on the disk is never delivered to an agent.

use protocol_spec::id::CueId;
use sha2::{Digest, Sha256};

/// The bytes of the hash that are kept: enough to detect random errors, which is its only purpose.
const SEAL_BYTES: usize = 8;

/// A decision as the agent will read it, with its question.
#[derive(Debug, Clone, Copy)]
pub struct Sealed<'a> {
    /// The question.
    pub cue: CueId,
    /// The number of the outcome.
    pub outcome: i64,
    /// The text.
    pub text: &'a str,
    /// The reminder below it.
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
            // Each part is preceded by its length, so that no two decisions have the same input.
            hash.update(part.map_or(u64::MAX, |part| part.len() as u64).to_le_bytes());
            hash.update(part.unwrap_or_default());
        }
        let whole: [u8; 32] = hash.finalize().into();
        let mut seal = [0; SEAL_BYTES];
        seal.copy_from_slice(&whole[..SEAL_BYTES]);
        seal
    }
}
