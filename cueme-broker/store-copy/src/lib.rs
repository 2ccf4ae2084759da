//! Copies a whole store into another one: a SQLite file into a PostgreSQL database, and back.
//!
//! The copy is compared with its source, table by table, before it counts. A database is filled in one transaction and
//! a file under another name, so an interrupted copy leaves nothing behind that could be mistaken for a store.
//!
//! This is the only crate that is about two stores; the tests that compare them are here, too. It opens no store for a broker and
//! switches no configuration.

mod copy;

pub use copy::{
    CopyError, CopyProgress, CopyReport, OnProgress, back_up, copy_into_postgres, copy_into_sqlite,
    restore_into_postgres,
};
