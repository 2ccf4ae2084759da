//! What is on disk: one SQLite database.
//!
//! The engine's connection is the only one that writes. Everything it writes comes as a [`Change`](crate::machine::Change)
//! of the machine; this module decides nothing. Reading for humans happens on connections of its own, so that a long
//! list never delays a question.

mod code;
mod error;
mod open;

mod load;
mod write;

mod maintain;
mod read;
mod search;

pub use error::StoreError;
pub use load::Remembered;
pub use maintain::CheckReport;
pub use open::{SCHEMA, Store, Synchronous};
pub use read::{HistoryQuery, Reader};
pub use search::Recalled;
