//! Maintenance of the database: checks, backups, deletion of old questions.

use std::path::Path;
use std::time::Duration;

use cueme_store::{CheckReport, StoreError, UpkeepReads, UpkeepRecords};
use protocol_spec::time::Timestamp;
use rusqlite::backup::Backup;
use rusqlite::{Connection, OpenFlags, params};

use super::SqliteReader;
use super::SqliteStore;
use super::fault::{Fault, failed};
use super::open::{SCHEMA, Synchronous, schema_of};
use super::seal::is_whole;
use super::space::{compact, give_some_back};

/// The most problems that a check lists.
const PROBLEMS_MAX: u32 = 20;
/// The pages copied before other connections get a turn.
const BACKUP_PAGES: i32 = 256;
/// The most questions deleted in one transaction.
const PURGE_BATCH: u32 = 500;

/// Reopens questions whose answer has a password that the agent has not received: a copy holds no passwords.
const UNDELIVERED_SECRETS: &str = "
    CREATE TEMP TABLE secret AS SELECT seq, cue_id FROM cues
        WHERE delivery < 2 AND seq IN (SELECT seq FROM decisions WHERE redacted_text IS NOT NULL);
    UPDATE messages SET cue_id = NULL WHERE cue_id IN (SELECT cue_id FROM secret);
    DELETE FROM upload_uses WHERE cue_id IN (SELECT cue_id FROM secret);
    DELETE FROM search WHERE rowid IN (SELECT 2 * seq + 1 FROM secret);
    DELETE FROM decisions WHERE seq IN (SELECT seq FROM secret);
    UPDATE cues SET outcome = 0, delivery = 0, handed_at = NULL, automatic = 0 WHERE seq IN (SELECT seq FROM secret);
    DROP TABLE secret;";
/// Deletes all sign-ins. A browser that signed out after the copy was made must not regain access by it.
const ACCESS: &str = "DELETE FROM devices; DELETE FROM links; DELETE FROM tokens; DELETE FROM bootstraps;";

/// Checks a database file that no broker uses, without changing it.
pub fn check_file(path: &Path) -> Result<CheckReport, StoreError> {
    let failed = failed("open", path);
    let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY).map_err(failed)?;
    let found = schema_of(&connection).map_err(failed)?;
    if found > SCHEMA {
        return Err(StoreError::Newer {
            path: path.to_owned(),
            found,
            known: SCHEMA,
        });
    }
    if found == 0 {
        return Err(StoreError::Damaged {
            path: path.to_owned(),
            what: "it is not a cueme database".into(),
        });
    }
    Ok(check(&connection)?)
}

/// Brings a copy of a database to the newest schema and makes its devices, links and tokens void.
pub fn void_access(path: &Path) -> Result<(), StoreError> {
    let store = SqliteStore::open(path, Synchronous::Full, true)?;
    store.with(|connection| Ok(leave_out(connection, ACCESS)?))?;
    store.checkpoint()
}

/// Turns a copy of a database into a backup: one self-contained file, without passwords and without credentials.
pub(crate) fn make_portable(path: &Path, copy: &Connection) -> Result<CheckReport, StoreError> {
    copy.pragma_update(None, "journal_mode", "delete")
        .and_then(|()| leave_out(copy, UNDELIVERED_SECRETS))
        .and_then(|()| leave_out(copy, ACCESS))
        .and_then(|()| compact(copy))
        .map_err(failed("write the copy", path))?;
    Ok(check(copy)?)
}

fn leave_out(connection: &Connection, statements: &str) -> rusqlite::Result<()> {
    connection.pragma_update(None, "secure_delete", true)?;
    connection.execute_batch(&format!("BEGIN; {statements} COMMIT;"))
}

impl UpkeepReads for SqliteReader {
    fn check(&self) -> Result<CheckReport, StoreError> {
        self.with(check)
    }

    fn back_up(&self, to: &Path) -> Result<CheckReport, StoreError> {
        let failed = failed("write the copy", to);
        create_new(to)?;
        self.with(|connection| {
            let mut copy = Connection::open(to).map_err(failed)?;
            Backup::new(connection, &mut copy)
                .and_then(|backup| backup.run_to_completion(BACKUP_PAGES, Duration::ZERO, None))
                .map_err(failed)?;
            Ok(make_portable(to, &copy)?)
        })
    }
}

impl UpkeepRecords for SqliteStore {
    fn purge_some(&self, before: Timestamp) -> Result<(u64, bool), StoreError> {
        let sequences: Vec<i64> = self.with(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT seq FROM cues WHERE delivery = 2 AND acknowledged_at < ?1 ORDER BY seq LIMIT ?2",
            )?;
            let found = statement.query_map(params![before.as_millis(), PURGE_BATCH], |row| row.get(0))?;
            Ok(found.collect::<Result<_, _>>()?)
        })?;
        for seq in &sequences {
            self.run(
                "DELETE FROM search WHERE rowid IN (2 * ?1, 2 * ?1 + 1)",
                params![seq],
            )?;
            self.run(
                "DELETE FROM messages WHERE cue_id = (SELECT cue_id FROM cues WHERE seq = ?1)",
                params![seq],
            )?;
            self.run(
                "DELETE FROM receipts WHERE cue_id = (SELECT cue_id FROM cues WHERE seq = ?1)",
                params![seq],
            )?;
            self.run("DELETE FROM cues WHERE seq = ?1", params![seq])?;
        }
        let count = sequences.len() as u64;
        if count < u64::from(PURGE_BATCH) {
            self.run(
                "DELETE FROM events WHERE at < ?1 AND id < (SELECT max(id) FROM events)",
                params![before.as_millis()],
            )?;
        }
        Ok((count, count == u64::from(PURGE_BATCH)))
    }

    fn count_purgeable(&self, before: Timestamp) -> Result<u64, StoreError> {
        self.with(|connection| {
            Ok(connection.query_row(
                "SELECT count(*) FROM cues WHERE delivery = 2 AND acknowledged_at < ?1",
                params![before.as_millis()],
                |row| row.get(0),
            )?)
        })
    }

    fn shrink_some(&self, empty_percent_max: u8) -> Result<bool, StoreError> {
        self.with(|connection| Ok(give_some_back(connection, empty_percent_max)?))
    }
}

fn check(connection: &Connection) -> Result<CheckReport, Fault> {
    let mut problems: Vec<String> = connection
        .prepare(&format!("PRAGMA integrity_check({PROBLEMS_MAX})"))?
        .query_map([], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    problems.retain(|line| line != "ok");
    let orphans: u64 = connection.query_row("SELECT count(*) FROM pragma_foreign_key_check", [], |row| {
        row.get(0)
    })?;
    if orphans > 0 {
        problems.push(format!("{orphans} rows refer to rows that do not exist"));
    }
    problems.extend(damaged_questions(connection)?);
    Ok(CheckReport {
        problems,
        schema: schema_of(connection)?,
        cues: connection.query_row("SELECT count(*) FROM cues", [], |row| row.get(0))?,
        bytes: connection.query_row(
            "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()",
            [],
            |row| row.get(0),
        )?,
    })
}

/// Lists the questions whose decision has a wrong checksum.
fn damaged_questions(connection: &Connection) -> Result<Vec<String>, Fault> {
    // An older schema has no seals.
    let Ok(mut statement) = connection.prepare(
        "SELECT c.cue_id, c.outcome, d.seal, d.text, d.reminder, d.answer, c.delivery < 2
         FROM cues c LEFT JOIN decisions d USING (seq)
             WHERE d.seal IS NOT NULL OR (c.outcome NOT IN (0, 4) AND d.text IS NULL)",
    ) else {
        return Ok(Vec::new());
    };
    let mut rows = statement.query([])?;
    let mut problems = Vec::new();
    while let Some(row) = rows.next()? {
        let cue: String = row.get(0)?;
        if problems.len() < PROBLEMS_MAX as usize && !is_whole(row, 1, 2) {
            let remedy = match row.get(6)? {
                true => format!("; `cueme cancel {cue}` closes it"),
                false => String::new(),
            };
            problems.push(format!(
                "question {cue} is out of service: what was decided about it is not what was written{remedy}"
            ));
        }
    }
    Ok(problems)
}

fn create_new(path: &Path) -> Result<(), StoreError> {
    use std::os::unix::fs::OpenOptionsExt;
    let created = std::fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path);
    created.map(drop).map_err(|source| StoreError::Io {
        doing: "create",
        path: path.to_owned(),
        source,
    })
}
