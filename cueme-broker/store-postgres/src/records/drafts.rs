//! Drafts, with a revision so that no client overwrites a change that it has not seen.

use cueme_store::{Draft, DraftPlace, DraftRecords, StoreError};
use protocol_spec::time::Timestamp;

use crate::fault::Fault;
use crate::statements::params;
use crate::store::PostgresStore;
use crate::text::Text;

impl DraftRecords for PostgresStore {
    fn keep_draft(
        &self,
        place: &DraftPlace,
        base: i64,
        body: &str,
        by: Option<&str>,
        at: Timestamp,
    ) -> Result<Result<Draft, Draft>, StoreError> {
        match self.stored_draft(place)? {
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
        let base = self.stored_draft(place)?.map_or(0, |stored| stored.rev);
        self.put_draft(place, base, body, by, at)
    }

    fn drop_draft(&self, place: &DraftPlace) -> Result<(), StoreError> {
        self.record("DELETE FROM drafts WHERE place = $1", params![place.as_str()])
    }

    fn drop_settled_drafts(&self) -> Result<(), StoreError> {
        self.has_recorded(
            "DELETE FROM drafts WHERE place LIKE 'cue:%' AND NOT EXISTS
                 (SELECT 1 FROM cues WHERE cue_id = substr(place, 5) AND delivery < 2)",
            params![],
        )
        .map(drop)
    }
}

impl PostgresStore {
    fn put_draft(
        &self,
        place: &DraftPlace,
        base: i64,
        body: &str,
        by: Option<&str>,
        at: Timestamp,
    ) -> Result<Draft, StoreError> {
        let rev = base.saturating_add(1);
        self.record(
            "INSERT INTO drafts (place, rev, body, written_by, written_at) VALUES ($1, $2, $3, $4, $5)
             ON CONFLICT (place) DO UPDATE SET rev = excluded.rev, body = excluded.body,
                 written_by = excluded.written_by, written_at = excluded.written_at",
            params![place.as_str(), rev, body, by, at.as_millis()],
        )?;
        Ok(Draft {
            rev,
            body: body.to_owned(),
            by: by.map(str::to_owned),
            at,
        })
    }

    fn stored_draft(&self, place: &DraftPlace) -> Result<Option<Draft>, StoreError> {
        let row = self.query_one(
            "SELECT rev, body, written_by, written_at FROM drafts WHERE place = $1",
            params![place.as_str()],
        )?;
        let Some(row) = row else { return Ok(None) };
        let read = || -> Result<Draft, Fault> {
            Ok(Draft {
                rev: row.try_get(0)?,
                body: row.try_get::<_, Text>(1)?.0,
                by: row.try_get::<_, Option<Text>>(2)?.map(|by| by.0),
                at: Timestamp::from_millis(row.try_get(3)?),
            })
        };
        Ok(Some(read()?))
    }
}
