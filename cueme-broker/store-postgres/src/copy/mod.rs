//! A whole database as the source or the target of a copy: its rows, and the files that answers carry.
//!
//! What it is copied from and to is up to the caller.

mod files;
mod transaction;

use std::future::Future;
use std::path::Path;
use std::pin::Pin;

use cueme_store::{CheckReport, StoreError};

pub use transaction::{CopyConnection, CopyTransaction};

/// Writes a snapshot of a database into the file of a backup, which does not exist yet, and verifies it.
pub type WriteBackup = for<'a> fn(
    CopyTransaction<'a>,
    &'a Path,
) -> Pin<Box<dyn Future<Output = Result<CheckReport, StoreError>> + 'a>>;
