//! The path of the database, and the disk reserve for answers.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use cueme_store::{Reader, Storage, Store, StoreError, Upkeep};

use super::open::{SCHEMA, SqliteStore, Synchronous};
use super::reader::SqliteReader;
use super::reserve_file::ReserveFile;

/// A database in a file.
#[derive(Debug)]
pub struct SqliteStorage {
    path: PathBuf,
    synchronous: Synchronous,
    /// The disk reserve.
    reserve: ReserveFile,
    /// Whether the reserve is released: the remaining space is for answers.
    is_full: bool,
}

impl SqliteStorage {
    /// Describes the database at `path`.
    pub fn at(path: &Path, synchronous: Synchronous) -> Self {
        Self {
            path: path.to_owned(),
            synchronous,
            reserve: ReserveFile::of(path),
            is_full: false,
        }
    }
}

impl Storage for SqliteStorage {
    fn open(&mut self, was_clean: bool) -> Result<Box<dyn Store>, StoreError> {
        let store = SqliteStore::open(&self.path, self.synchronous, was_clean)?;
        if !self.is_full && !self.reserve.create() && self.reserve.fits() {
            tracing::warn!("there is too little space to keep some for answers");
            self.is_full = true;
        }
        if self.is_full {
            store.save_space(true);
        }
        Ok(Box::new(store))
    }

    fn reader(&self) -> Arc<dyn Reader> {
        Arc::new(SqliteReader::new(&self.path))
    }

    fn schema(&self) -> u32 {
        SCHEMA
    }

    fn location(&self) -> PathBuf {
        self.path.clone()
    }

    fn is_full(&self) -> bool {
        self.is_full
    }

    fn use_reserve(&mut self) -> bool {
        self.is_full = self.reserve.fits();
        self.reserve.release()
    }

    fn regain_reserve(&mut self) -> bool {
        if self.is_full && self.reserve.create() {
            self.is_full = false;
        }
        !self.is_full
    }
}
