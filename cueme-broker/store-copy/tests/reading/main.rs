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

use cueme_store::{QuestionReads, Storage, Store};
use cueme_store_copy::back_up;
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
    let mut storage = PostgresStorage::at(url, back_up).unwrap();
    let store = storage.open(true).unwrap();
    (storage, store)
}

/// Reads the shared store without a writer.
fn read_postgres(url: &str) -> PostgresReader {
    let settings = Settings::from_url(url).unwrap();
    PostgresReader::connect(&settings, Arc::new(Runtime::start().unwrap()), back_up)
}

/// Indexes everything that was written.
fn index(store: &dyn Store) {
    while store.index_some().unwrap() {}
}

#[test]
fn a_server_that_accepts_a_connection_and_is_silent_fails_a_read() {
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = silent.local_addr().unwrap().port();
    let reader = read_postgres(&format!("postgres://ada@127.0.0.1:{port}/inbox?sslmode=disable"));
    let error = reader.newest_event().unwrap_err();
    assert!(error.is_unreachable(), "{error}");
    assert!(error.to_string().contains("no answer for 10 s"), "{error}");
}
