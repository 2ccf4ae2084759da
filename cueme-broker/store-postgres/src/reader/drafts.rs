//! Drafts.

use cueme_store::{Draft, DraftPlace, DraftReads, StoreError};
use tokio_postgres::Row;

use super::row::Columns;
use super::{Fault, PostgresReader};

impl DraftReads for PostgresReader {
    fn draft(&self, place: &DraftPlace) -> Result<Option<Draft>, StoreError> {
        let row = self.row(
            "SELECT rev, body, written_by, written_at FROM drafts WHERE place = $1",
            &[&place.as_str()],
        )?;
        Ok(row.as_ref().map(draft).transpose()?)
    }
}

fn draft(row: &Row) -> Result<Draft, Fault> {
    Ok(Draft {
        rev: row.value(0)?,
        body: row.text(1)?,
        by: row.maybe_text(2)?,
        at: row.time(3)?,
    })
}
