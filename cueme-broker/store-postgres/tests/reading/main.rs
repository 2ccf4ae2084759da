//! Both stores read the same: what is written through their traits, and what is copied from one into the other.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod copying;
mod damage;
mod pictures;
mod restarts;
mod same;
mod searching;
mod world;

use std::path::Path;
use std::sync::Arc;

use cueme_store::{Storage, Store};
use cueme_store_postgres::{PostgresReader, PostgresStorage, Runtime, Settings};
use cueme_store_sqlite::{SqliteStorage, Synchronous};

/// Opens the embedded store.
fn open_sqlite(path: &Path) -> (SqliteStorage, Box<dyn Store>) {
    let mut storage = SqliteStorage::at(path, Synchronous::Full);
    let store = storage.open(true).unwrap();
    (storage, store)
}

/// Opens the shared store.
fn open_postgres(url: &str) -> (PostgresStorage, Box<dyn Store>) {
    let mut storage = PostgresStorage::at(url).unwrap();
    let store = storage.open(true).unwrap();
    (storage, store)
}

/// Reads the shared store without a writer.
fn read_postgres(url: &str) -> PostgresReader {
    let settings = Settings::from_url(url).unwrap();
    PostgresReader::connect(&settings, Arc::new(Runtime::start().unwrap()))
}

/// Indexes everything that was written.
fn index(store: &dyn Store) {
    while store.index_some().unwrap() {}
}
