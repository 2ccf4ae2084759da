//! The shared store: the state of any number of brokers in one PostgreSQL database.
//!
//! [`PostgresStorage`] opens it. The engine's connection ([`PostgresStore`]) is the only one of a broker that writes what the
//! rules decide; a second one listens to the other brokers and keeps this broker's lease. Reads happen on connections of their
//! own ([`PostgresReader`]). Every transaction locks the one row of the table `head` first, so those of all brokers follow each
//! other. A whole database is copied through one [`CopyTransaction`].
//!
//! This crate decides nothing: the rules do, and the engine says when to commit. It does not know the embedded store: the
//! file of a backup is written by the function that it is given ([`WriteBackup`]).

mod connect;
mod fault;
mod inspect;
mod lease;
mod listen;
mod migrate;
mod moved;
mod password;
mod queue;
mod runtime;
mod shared;
mod start_up;
mod statements;
mod storage;
mod store;
mod text;
mod tls;

mod changes;
mod loads;
mod look_ups;
mod membership;
mod past;
mod records;
mod repairs;
mod transactions;
mod upkeep;

mod copy;
mod index;
mod lexemes;
mod reader;

pub use connect::Settings;
pub use copy::{CopyConnection, CopyTransaction, WriteBackup};
pub use inspect::{Inspection, inspect};
pub use migrate::SCHEMA;
pub use reader::PostgresReader;
pub use runtime::Runtime;
pub use storage::PostgresStorage;
pub use store::PostgresStore;
