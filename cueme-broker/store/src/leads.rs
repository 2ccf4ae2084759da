//! Which driver of a run speaks with the human, and what it was about to send to the agent.

use protocol_spec::id::{DriverId, RunId};
use protocol_spec::message::Sending;

use crate::StoreError;

/// Who leads a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunLead {
    /// The driver that leads.
    pub leader: DriverId,
    /// What was to be sent last, and the driver that was about to send it.
    pub sending: Option<(DriverId, Sending)>,
}

/// Keeps who leads which run, so that a broker that was killed knows it afterwards.
pub trait LeadRecords {
    /// Returns who leads a run.
    fn lead_of_run(&self, run: RunId) -> Result<Option<RunLead>, StoreError>;

    /// Makes a driver the leader of a run. What was to be sent last stays.
    fn keep_leader(&self, run: RunId, leader: DriverId) -> Result<(), StoreError>;

    /// Keeps what the leader of a run is about to send.
    fn keep_sending(&self, run: RunId, leader: DriverId, sending: &Sending) -> Result<(), StoreError>;

    /// Forgets who leads runs that have ended.
    fn forget_ended_leads(&self) -> Result<(), StoreError>;
}
