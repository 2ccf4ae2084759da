//! Questions that are shown elsewhere: claims of channels, and what they call their messages.

use protocol_spec::id::CueId;
use protocol_spec::time::Timestamp;

use crate::{Notified, StoreError};

/// Keeps what is shown elsewhere.
pub trait SurfaceRecords {
    /// Claims a question for a channel before anything is sent; returns whether nobody had.
    fn claim_notice(&self, cue: CueId, channel: &str, at: Timestamp) -> Result<bool, StoreError>;

    /// Keeps what a channel calls what was sent, if the claim still stands; returns whether it does.
    fn keep_reference(&self, cue: CueId, channel: &str, reference: &str) -> Result<bool, StoreError>;

    /// Gives a claim up, or forgets what was withdrawn.
    fn forget_notice(&self, cue: CueId, channel: &str) -> Result<(), StoreError>;
}

/// Reads what is shown elsewhere.
pub trait SurfaceReads {
    /// Returns what was sent about a question to a channel.
    fn notice(&self, cue: CueId, channel: &str) -> Result<Option<Notified>, StoreError>;

    /// Returns everything that was sent to a channel and not withdrawn.
    fn notices_on(&self, channel: &str) -> Result<Vec<Notified>, StoreError>;
}
