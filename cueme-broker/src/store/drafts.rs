//! What somebody has begun to write, with a revision so that nobody overwrites what they have not seen.

use protocol_spec::time::Timestamp;
use rusqlite::{Connection, OptionalExtension, params};

use super::read::Reader;
use super::{Store, StoreError};

/// A draft as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft {
    /// Grows by one with each change.
    pub rev: i64,
    /// JSON of the page's own making.
    pub body: String,
    /// Who wrote it.
    pub by: Option<String>,
    /// When.
    pub at: Timestamp,
}

/// What a draft is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DraftPlace(String);

impl DraftPlace {
    /// The answer to a question.
    pub fn cue(cue: protocol_spec::id::CueId) -> Self {
        Self(format!("cue:{cue}"))
    }

    /// A message for an agent.
    pub fn agent(agent: &protocol_spec::id::AgentId) -> Self {
        Self(format!("agent:{agent}"))
    }
}

impl Store {
    /// Keeps a draft that is based on revision `base`; another base returns the draft that is there instead.
    pub fn keep_draft(
        &self,
        place: &DraftPlace,
        base: i64,
        body: &str,
        by: Option<&str>,
        at: Timestamp,
    ) -> Result<Result<Draft, Draft>, StoreError> {
        match draft(&self.connection, place)? {
            Some(stored) if stored.rev != base => Ok(Err(stored)),
            Some(_) | None => self.put_draft(place, base, body, by, at).map(Ok),
        }
    }

    /// Keeps what was sent as the draft it was, so that taking it back loses nothing.
    pub fn keep_sent(
        &self,
        place: &DraftPlace,
        body: &str,
        by: Option<&str>,
        at: Timestamp,
    ) -> Result<Draft, StoreError> {
        let base = draft(&self.connection, place)?.map_or(0, |stored| stored.rev);
        self.put_draft(place, base, body, by, at)
    }

    /// Throws a draft away.
    pub fn drop_draft(&self, place: &DraftPlace) -> Result<(), StoreError> {
        self.run("DELETE FROM drafts WHERE place = ?1", params![place.0])
    }

    /// Throws away drafts for questions that are settled or gone.
    pub fn drop_settled_drafts(&self) -> Result<(), StoreError> {
        self.run(
            "DELETE FROM drafts WHERE place LIKE 'cue:%' AND NOT EXISTS
                 (SELECT 1 FROM cues WHERE cue_id = substr(place, 5) AND delivery < 2)",
            &[],
        )
    }

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
            params![place.0, rev, body, by, at.as_millis()],
        )?;
        Ok(Draft {
            rev,
            body: body.to_owned(),
            by: by.map(str::to_owned),
            at,
        })
    }
}

impl Reader {
    /// Returns the draft for a place.
    pub fn draft(&self, place: &DraftPlace) -> Result<Option<Draft>, StoreError> {
        self.with(|connection| draft(connection, place))
    }
}

fn draft(connection: &Connection, place: &DraftPlace) -> Result<Option<Draft>, StoreError> {
    let found = connection
        .prepare_cached("SELECT rev, body, written_by, written_at FROM drafts WHERE place = ?1")?
        .query_row(params![place.0], |row| {
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
