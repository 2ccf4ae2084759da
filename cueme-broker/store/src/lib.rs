//! The interface of a broker's store, and its types.
//!
//! Each topic has a file: its types, the writes that the engine makes ([`Records`]) and the reads of all other parts
//! ([`Reader`]). A store implements each topic in a file of the same name. The engine alone holds a [`Store`], which
//! adds transactions and the loads for the rules ([`Transactions`]) and maintenance ([`Upkeep`]); [`Storage`] opens it.
//!
//! The encoding of stored values that all stores share, such as the numbers of enumerations, is here, too. This crate
//! does no I/O and knows no database. Code for a file system, a log or an index stays in the store that has one.

mod answers;
mod code;
mod error;
mod seal;
mod storage;
mod transactions;
mod upkeep;

pub mod copy;
pub mod search;

mod automatic;
mod bootstraps;
mod cards;
mod deliveries;
mod door;
mod drafts;
mod leads;
mod past;
mod questions;
mod runs;
mod settings;
mod surfaces;
mod uploads;

pub use answers::{answer_json, parse_answer};
pub use automatic::{AutomaticReads, AutomaticRecords, Notified, POLICY_PREFIX};
pub use bootstraps::{BootstrapRecord, BootstrapRecords};
pub use cards::{AgentRow, CardReads, CueRow, MessageRow, Pending};
pub use code::{Code, parse_id};
pub use deliveries::DeliveryRecords;
pub use door::{Device, DoorReads, DoorRecords, Pass, Token, TokenHash};
pub use drafts::{Draft, DraftPlace, DraftReads, DraftRecords};
pub use error::{DatabaseFault, FaultKind, StoreError};
pub use leads::{LeadRecords, RunLead};
pub use past::{PastDecision, place_of_past};
pub use questions::{HistoryQuery, QuestionReads, Recollection};
pub use runs::{RunReads, RunRecords, RunRow, RunsWanted};
pub use seal::Sealed;
pub use settings::{SettingReads, SettingRecords};
pub use storage::{Leadership, Storage, Store};
pub use surfaces::{SurfaceReads, SurfaceRecords};
pub use transactions::{
    BatchId, Changes, Foreign, Loads, LookUps, PlainQuestion, Remembered, Repairs, Transactions,
};
pub use upkeep::{CheckReport, Upkeep, UpkeepReads, UpkeepRecords};
pub use uploads::{Upload, UploadReads, UploadRecords};

/// Writes that the rules do not concern, inside a transaction.
pub trait Records:
    AutomaticRecords
    + BootstrapRecords
    + DeliveryRecords
    + DoorRecords
    + DraftRecords
    + LeadRecords
    + RunRecords
    + SettingRecords
    + SurfaceRecords
    + UpkeepRecords
    + UploadRecords
{
}

impl<T> Records for T where
    T: AutomaticRecords
        + BootstrapRecords
        + DeliveryRecords
        + DoorRecords
        + DraftRecords
        + LeadRecords
        + RunRecords
        + SettingRecords
        + SurfaceRecords
        + UpkeepRecords
        + UploadRecords
{
}

/// Reads beside the engine: they see committed state, and block no writer.
pub trait Reader:
    AutomaticReads
    + CardReads
    + DoorReads
    + DraftReads
    + QuestionReads
    + RunReads
    + SettingReads
    + SurfaceReads
    + UpkeepReads
    + UploadReads
    + std::fmt::Debug
    + Send
    + Sync
{
}

impl<T> Reader for T where
    T: AutomaticReads
        + CardReads
        + DoorReads
        + DraftReads
        + QuestionReads
        + RunReads
        + SettingReads
        + SurfaceReads
        + UpkeepReads
        + UploadReads
        + std::fmt::Debug
        + Send
        + Sync
{
}
