//! Questions shown on other surfaces: the claims of channels, and their message ids.

use protocol_spec::id::CueId;
use protocol_spec::time::Timestamp;

use crate::{Notified, StoreError};

/// Writes claims and messages.
pub trait SurfaceRecords {
    /// Claims a question for a channel before anything is sent; returns whether the claim is new.
    fn claim_notice(&self, cue: CueId, channel: &str, at: Timestamp) -> Result<bool, StoreError>;

    /// Stores the channel's id of the sent message, if the claim still stands; returns whether it does.
    fn keep_reference(&self, cue: CueId, channel: &str, reference: &str) -> Result<bool, StoreError>;

    /// Releases a claim, or forgets a withdrawn message.
    fn forget_notice(&self, cue: CueId, channel: &str) -> Result<(), StoreError>;
}

/// Reads claims and messages.
pub trait SurfaceReads {
    /// Returns the message about a question in a channel.
    fn notice(&self, cue: CueId, channel: &str) -> Result<Option<Notified>, StoreError>;

    /// Returns all messages of a channel that were not withdrawn.
    fn notices_on(&self, channel: &str) -> Result<Vec<Notified>, StoreError>;
}
