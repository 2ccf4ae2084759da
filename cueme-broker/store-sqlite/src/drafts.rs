//! Drafts, with a revision so that no client overwrites a change that it has not seen.

use cueme_store::{Draft, DraftPlace, DraftReads, DraftRecords, StoreError};
use protocol_spec::time::Timestamp;
use rusqlite::{Connection, OptionalExtension, params};

use super::SqliteReader;
use super::SqliteStore;
use super::fault::Fault;

impl DraftRecords for SqliteStore {
    fn keep_draft(
        &self,
        place: &DraftPlace,
        base: i64,
        body: &str,
        by: Option<&str>,
        at: Timestamp,
    ) -> Result<Result<Draft, Draft>, StoreError> {
        match self.with(|connection| draft(connection, place))? {
            Some(stored) if stored.rev != base => Ok(Err(stored)),
            Some(_) | None => self.put_draft(place, base, body, by, at).map(Ok),
        }
    }

    fn keep_sent(
        &self,
        place: &DraftPlace,
        body: &str,
        by: Option<&str>,
        at: Timestamp,
    ) -> Result<Draft, StoreError> {
        let base = self
            .with(|connection| draft(connection, place))?
            .map_or(0, |stored| stored.rev);
        self.put_draft(place, base, body, by, at)
    }

    fn drop_draft(&self, place: &DraftPlace) -> Result<(), StoreError> {
        self.run("DELETE FROM drafts WHERE place = ?1", params![place.as_str()])
    }

    fn drop_settled_drafts(&self) -> Result<(), StoreError> {
        self.run(
            "DELETE FROM drafts WHERE place LIKE 'cue:%' AND NOT EXISTS
                 (SELECT 1 FROM cues WHERE cue_id = substr(place, 5) AND delivery < 2)",
            &[],
        )
    }
}

impl SqliteStore {
    fn put_draft(
        &self,
        place: &DraftPlace,
        base: i64,
        body: &str,
        by: Option<&str>,
        at: Timestamp,
    ) -> Result<Draft, StoreError> {
        let rev = base.saturating_add(1);
        self.run(
            "INSERT OR REPLACE INTO drafts (place, rev, body, written_by, written_at) VALUES (?1, ?2, ?3, ?4, ?5)",
            params![place.as_str(), rev, body, by, at.as_millis()],
        )?;
        Ok(Draft {
            rev,
            body: body.to_owned(),
            by: by.map(str::to_owned),
            at,
        })
    }
}

impl DraftReads for SqliteReader {
    fn draft(&self, place: &DraftPlace) -> Result<Option<Draft>, StoreError> {
        self.with(|connection| draft(connection, place))
    }
}

fn draft(connection: &Connection, place: &DraftPlace) -> Result<Option<Draft>, Fault> {
    let found = connection
        .prepare_cached("SELECT rev, body, written_by, written_at FROM drafts WHERE place = ?1")?
        .query_row(params![place.as_str()], |row| {
            Ok(Draft {
                rev: row.get(0)?,
                body: row.get(1)?,
                by: row.get(2)?,
                at: Timestamp::from_millis(row.get(3)?),
            })
        })
        .optional()?;
    Ok(found)
}
