//! Reads beside the engine, on connections that cannot write.
//!
//! Each topic has a file with the name it has in `cueme_store`.

mod pool;
mod row;
mod seal;

mod automatic;
mod cards;
mod door;
mod drafts;
mod questions;
mod recall;
mod runs;
mod search;
mod settings;
mod surfaces;
mod upkeep;
mod uploads;

pub(crate) use crate::fault::Fault;
pub use pool::PostgresReader;
pub(crate) use row::Columns;
