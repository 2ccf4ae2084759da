//! The leader of each run: the driver that speaks with the human, and the message that it was about to send to the
//! agent.

use protocol_spec::id::{DriverId, RunId};
use protocol_spec::message::Sending;

use crate::StoreError;

/// The leader of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunLead {
    /// The driver that leads.
    pub leader: DriverId,
    /// The last message that a driver was about to send, and that driver.
    pub sending: Option<(DriverId, Sending)>,
}

/// Stores the leader of each run, so that it survives a crash of the broker.
pub trait LeadRecords {
    /// Returns the leader of a run.
    fn lead_of_run(&self, run: RunId) -> Result<Option<RunLead>, StoreError>;

    /// Makes a driver the leader of a run. The last message stays.
    fn keep_leader(&self, run: RunId, leader: DriverId) -> Result<(), StoreError>;

    /// Stores the message that the leader of a run is about to send.
    fn keep_sending(&self, run: RunId, leader: DriverId, sending: &Sending) -> Result<(), StoreError>;

    /// Forgets the leaders of runs that have ended.
    fn forget_ended_leads(&self) -> Result<(), StoreError>;
}
