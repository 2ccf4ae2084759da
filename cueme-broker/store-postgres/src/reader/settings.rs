//! Settings of humans, as JSON values by name.

use cueme_store::{SettingReads, StoreError};

use super::PostgresReader;
use super::row::Columns;
use crate::text::encode;

impl SettingReads for PostgresReader {
    fn setting(&self, name: &str) -> Result<Option<String>, StoreError> {
        let row = self.row("SELECT value FROM settings WHERE name = $1", &[&encode(name)])?;
        Ok(row.map(|row| row.text(0)).transpose()?)
    }
}
