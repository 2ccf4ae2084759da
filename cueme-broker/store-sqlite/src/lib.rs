//! The embedded store: one SQLite database.
//!
//! [`SqliteStorage`] opens it. The engine's connection ([`SqliteStore`]) is the only one that writes; a second one checkpoints its
//! write-ahead log. Reads happen on connections of their own ([`SqliteReader`]), so that a long list never delays a question.
//!
//! Everything specific to a database in a file is here: the write-ahead log, the disk reserve, damage, full-text
//! search. This crate makes no decisions: the rules do, and the engine says when to commit.

mod fault;
mod open;
mod storage;

mod import;
mod load;
mod reader;
mod repair;
mod seal;
mod write;

mod checkpointer;
mod copied_file;
mod library;
mod log;
mod log_damage;
mod maintain;
mod reserve_file;
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

pub use copied_file::{SqliteFile, remove_database};
pub use library::{library_options, library_version};
pub use log::LogCheckpointer;
pub use log_damage::damage_in;
pub use maintain::{check_file, void_access};
pub use open::{SCHEMA, SqliteStore, Synchronous};
pub use reader::SqliteReader;
pub use storage::SqliteStorage;
