//! What is on disk: one SQLite database.
//!
//! The engine's connection is the only one that writes; a second one folds its log into the database. What the rules concern comes as a [`Change`](crate::machine::Change)
//! of the machine; the rest (drafts, devices, settings) is written by name. This module decides nothing. Reading for humans happens on connections of its own, so that a long
//! list never delays a question.

mod ballast;
mod code;
mod error;
mod log;
mod log_damage;
mod open;
mod repair;
mod seal;

mod import;
mod load;
mod write;

mod common_words;
mod maintain;
mod read;
mod recall;
mod search;
mod space;
mod vocabulary;
mod words;

mod automatic;
mod bootstraps;
mod cards;
mod deliveries;
mod door;
mod drafts;
mod runs;
mod settings;
mod uploads;

pub use automatic::{Notified, POLICY_PREFIX};
pub(crate) use ballast::Ballast;
pub use bootstraps::Bootstraps;
pub use cards::{AgentRow, CueRow, MessageRow, Pending};
pub use door::{Device, Token, TokenHash};
pub use drafts::{Draft, DraftPlace};
pub use error::StoreError;
pub use load::Remembered;
pub use log::LogCheckpointer;
pub(crate) use log::has_log;
pub use log_damage::damage_in;
pub use maintain::{CheckReport, void_access};
pub(crate) use open::FileId;
pub use open::{SCHEMA, Store, Synchronous};
pub use read::{HistoryQuery, Reader, Recollection};
pub use runs::{RunRow, RunsWanted};
pub use uploads::Upload;
