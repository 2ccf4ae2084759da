//! The embedded store: one SQLite database.
//!
//! [`SqliteStorage`] opens it. The engine's connection ([`SqliteStore`]) is the only one that writes; a second one checkpoints its
//! write-ahead log. Reads happen on connections of their own ([`SqliteReader`]), so that a long list never delays a question.
//!
//! Everything that only a database in a file needs is here: the write-ahead log, the disk reserve, damage, full-text search. This
//! crate decides nothing: the rules do, and the engine says when to commit.

mod fault;
mod open;
mod storage;

mod import;
mod load;
mod repair;
mod seal;
mod write;

mod ballast;
mod checkpointer;
mod log;
mod log_damage;
mod maintain;
mod space;
mod upkeep;

mod recall;
mod search;
#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tokens;
mod vocabulary;
mod words;

mod automatic;
mod bootstraps;
mod cards;
mod deliveries;
mod door;
mod drafts;
mod leads;
mod questions;
mod runs;
mod settings;
mod surfaces;
mod uploads;

pub use fault::failed;
pub use log::LogCheckpointer;
pub use log_damage::damage_in;
pub use maintain::{check_file, make_portable, void_access};
pub use open::{SCHEMA, SqliteStore, Synchronous};
pub use questions::SqliteReader;
pub use storage::SqliteStorage;
