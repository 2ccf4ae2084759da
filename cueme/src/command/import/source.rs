//! The original's database: schema 2 and 3, read and never written.
//!
//! Columns are read leniently. SQLite lets any value stand anywhere, and a row that cannot be understood must not keep
//! the others from being imported.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use protocol_spec::exit::Exit;
use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension, Row, params};

use crate::error::CliError;

/// The schemas that are understood.
const SCHEMAS: [&str; 2] = ["2", "3"];
/// Where the header of a database says how it is written, and the value that means a write-ahead log.
const JOURNAL_BYTE: usize = 19;
const WRITE_AHEAD: u8 = 2;

/// The tables that are read.
const TABLES: [&str; 7] = [
    "schema_meta",
    "agent_envs",
    "agent_profiles",
    "cue_requests",
    "cue_responses",
    "cue_response_files",
    "cue_files",
];

/// The largest database that is read.
const DATABASE_BYTES_MAX: u64 = 8 * 1024 * 1024 * 1024;
/// The largest single value, in bytes.
const VALUE_BYTES_MAX: i32 = 64 * 1024 * 1024;
/// The most rows of one table.
const ROWS_MAX: u64 = 1_000_000;
/// The timeout of the whole import, sending included.
const READ_WAIT_MAX: Duration = Duration::from_secs(30 * 60);
/// The number of SQLite steps between two checks of the deadline.
const STEPS_BETWEEN_LOOKS: i32 = 10_000;

/// The database, as it was when it was opened.
#[derive(Debug)]
pub(super) struct Source {
    connection: Connection,
    path: PathBuf,
    pub(super) schema: String,
}

/// An agent as the original describes it.
#[derive(Debug, Default)]
pub(super) struct SourceAgent {
    pub(super) agent_id: String,
    pub(super) runtime: Option<String>,
    pub(super) project_dir: Option<String>,
    pub(super) terminal: Option<String>,
    pub(super) name: Option<String>,
    /// Every time at which it was heard of.
    pub(super) times: Vec<String>,
}

/// A question as the original recorded it.
#[derive(Debug)]
pub(super) struct SourceCue {
    pub(super) row: i64,
    pub(super) request_id: Option<String>,
    pub(super) agent_id: Option<String>,
    pub(super) prompt: Option<String>,
    pub(super) payload: Option<String>,
    pub(super) status: Option<String>,
    pub(super) created_at: Option<String>,
    pub(super) updated_at: Option<String>,
    pub(super) response: Option<SourceResponse>,
}

/// An answer.
#[derive(Debug)]
pub(super) struct SourceResponse {
    pub(super) json: Option<String>,
    pub(super) is_cancelled: bool,
    pub(super) created_at: Option<String>,
    pub(super) files: Vec<SourceFile>,
}

/// A file that came with an answer.
#[derive(Debug)]
pub(super) struct SourceFile {
    /// Relative to the folder of the database.
    pub(super) path: String,
    pub(super) media_type: Option<String>,
}

impl Source {
    /// Opens the database so that nothing beside it or in it changes.
    pub(super) fn open(path: &Path) -> Result<Self, CliError> {
        Self::open_until(path, Instant::now() + READ_WAIT_MAX)
    }

    fn open_until(path: &Path, deadline: Instant) -> Result<Self, CliError> {
        check_files(path)?;
        let failed = |error: rusqlite::Error| unreadable(path, &error.to_string());
        let mut connection = Connection::open_with_flags(
            address(path)?,
            OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX,
        )
        .map_err(failed)?;
        limit(&mut connection, deadline).map_err(failed)?;
        // All that follows reads the database as it is now, whatever the original writes meanwhile.
        connection.execute_batch("BEGIN").map_err(failed)?;
        check_tables(&connection, path)?;
        let schema = schema(&connection, path)?;
        Ok(Self {
            connection,
            path: path.to_owned(),
            schema,
        })
    }

    /// Returns the folder that files are relative to.
    pub(super) fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new("."))
    }

    /// Returns how many questions there are, unless there are more than anybody has asked.
    pub(super) fn count(&self) -> Result<u64, CliError> {
        let count: u64 = self
            .connection
            .query_row("SELECT count(*) FROM cue_requests", [], |row| row.get(0))
            .map_err(|error| self.unreadable(&error))?;
        if count > ROWS_MAX {
            return Err(self.too_long("cue_requests"));
        }
        Ok(count)
    }

    /// Returns every agent that is described or has asked something.
    pub(super) fn agents(&self) -> Result<Vec<SourceAgent>, CliError> {
        let mut agents: BTreeMap<String, SourceAgent> = BTreeMap::new();
        if self.has_table("agent_envs")? {
            self.each("SELECT * FROM agent_envs", |row| {
                let Some(id) = text(row, "agent_id") else { return };
                let agent = entry(&mut agents, id);
                agent.runtime = text(row, "agent_runtime");
                agent.project_dir = text(row, "project_dir");
                agent.terminal = text(row, "agent_terminal");
                agent.times.extend(text(row, "updated_at"));
            })?;
        }
        self.each("SELECT agent_id, created_at FROM cue_requests", |row| {
            if let Some(id) = text(row, "agent_id") {
                entry(&mut agents, id).times.extend(text(row, "created_at"));
            }
        })?;
        if self.has_table("agent_profiles")? {
            self.each("SELECT agent_id, display_name FROM agent_profiles", |row| {
                if let Some(agent) = text(row, "agent_id").and_then(|id| agents.get_mut(&id)) {
                    agent.name = text(row, "display_name");
                }
            })?;
        }
        Ok(agents.into_values().collect())
    }

    /// Visits every question, oldest first, until `visit` fails.
    pub(super) fn cues(
        &self,
        mut visit: impl FnMut(SourceCue) -> Result<(), CliError>,
    ) -> Result<(), CliError> {
        let failed = |error: rusqlite::Error| self.unreadable(&error);
        let mut statement = self
            .connection
            .prepare("SELECT * FROM cue_requests ORDER BY id")
            .map_err(failed)?;
        let mut rows = statement.query([]).map_err(failed)?;
        while let Some(row) = rows.next().map_err(failed)? {
            let request_id = text(row, "request_id");
            let response = match &request_id {
                Some(id) => self.response(id).map_err(failed)?,
                None => None,
            };
            visit(SourceCue {
                row: row.get("id").map_err(failed)?,
                request_id,
                agent_id: text(row, "agent_id"),
                prompt: text(row, "prompt"),
                payload: text(row, "payload"),
                status: text(row, "status"),
                created_at: text(row, "created_at"),
                updated_at: text(row, "updated_at"),
                response,
            })?;
        }
        Ok(())
    }

    fn response(&self, request_id: &str) -> rusqlite::Result<Option<SourceResponse>> {
        let found = self
            .connection
            .prepare_cached("SELECT * FROM cue_responses WHERE request_id = ?1")?
            .query_row(params![request_id], |row| {
                let response = SourceResponse {
                    json: text(row, "response_json"),
                    is_cancelled: row.get::<_, Option<i64>>("cancelled").ok().flatten().unwrap_or(0) != 0,
                    created_at: text(row, "created_at"),
                    files: Vec::new(),
                };
                Ok((row.get::<_, i64>("id")?, response))
            })
            .optional()?;
        let Some((id, mut response)) = found else {
            return Ok(None);
        };
        response.files = self
            .connection
            .prepare_cached(
                "SELECT f.file, f.mime_type FROM cue_response_files r JOIN cue_files f ON f.id = r.file_id
                 WHERE r.response_id = ?1 ORDER BY r.idx",
            )?
            .query_map(params![id], |row| {
                Ok(SourceFile {
                    path: text(row, "file").unwrap_or_default(),
                    media_type: text(row, "mime_type"),
                })
            })?
            .collect::<Result<_, _>>()?;
        Ok(Some(response))
    }

    fn each(&self, sql: &str, mut visit: impl FnMut(&Row<'_>)) -> Result<(), CliError> {
        let failed = |error: rusqlite::Error| self.unreadable(&error);
        let mut statement = self.connection.prepare(sql).map_err(failed)?;
        let mut rows = statement.query([]).map_err(failed)?;
        let mut count = 0;
        while let Some(row) = rows.next().map_err(failed)? {
            count += 1;
            if count > ROWS_MAX {
                return Err(self.too_long(sql));
            }
            visit(row);
        }
        Ok(())
    }

    fn has_table(&self, name: &str) -> Result<bool, CliError> {
        self.connection
            .prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?1")
            .and_then(|mut statement| statement.exists(params![name]))
            .map_err(|error| self.unreadable(&error))
    }

    fn too_long(&self, what: &str) -> CliError {
        unreadable(&self.path, &format!("{what} has more than {ROWS_MAX} rows"))
    }

    fn unreadable(&self, error: &rusqlite::Error) -> CliError {
        if error.sqlite_error_code() == Some(ErrorCode::OperationInterrupted) {
            let seconds = READ_WAIT_MAX.as_secs();
            return unreadable(&self.path, &format!("reading it took more than {seconds} s"));
        }
        unreadable(&self.path, &error.to_string())
    }
}

/// Refuses everything but plain files: a pipe never ends, a device is no database, and a link may lead anywhere.
fn check_files(path: &Path) -> Result<(), CliError> {
    let Ok(found) = std::fs::symlink_metadata(path) else {
        return Err(
            CliError::new(Exit::NotFound, format!("there is no database {}", path.display()))
                .with_hint("name the file: `cueme import <path of cue.db>`; the original keeps it in ~/.cue"),
        );
    };
    if found.is_symlink() {
        return Err(unreadable(path, "it is a link").with_hint("name the file that it points to"));
    }
    if !found.is_file() {
        return Err(unreadable(path, "it is not a regular file"));
    }
    if found.len() > DATABASE_BYTES_MAX {
        return Err(unreadable(
            path,
            &format!("it has more than {DATABASE_BYTES_MAX} bytes"),
        ));
    }
    for ending in ["-wal", "-shm", "-journal"] {
        let beside = beside(path, ending);
        if std::fs::symlink_metadata(&beside).is_ok_and(|found| !found.is_file()) {
            let why = format!("{} is not a regular file", beside.display());
            return Err(unreadable(path, &why));
        }
    }
    Ok(())
}

/// Bounds what a hostile database can cost.
fn limit(connection: &mut Connection, deadline: Instant) -> rusqlite::Result<()> {
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, VALUE_BYTES_MAX)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.progress_handler(STEPS_BETWEEN_LOOKS, Some(move || Instant::now() >= deadline))?;
    Ok(())
}

/// Refuses a view or a virtual table in place of a table: it may compute rows for ever.
fn check_tables(connection: &Connection, path: &Path) -> Result<(), CliError> {
    let failed = |error: rusqlite::Error| unreadable(path, &error.to_string());
    for name in TABLES {
        let found: Option<(String, i64)> = connection
            .query_row(
                "SELECT type, rootpage FROM sqlite_master WHERE name = ?1 COLLATE NOCASE",
                params![name],
                |row| Ok((row.get(0)?, row.get(1)?)),
            )
            .optional()
            .map_err(failed)?;
        if let Some((kind, page)) = found
            && (kind != "table" || page == 0)
        {
            let kind = if kind == "table" { "virtual table" } else { &kind };
            return Err(unreadable(path, &format!("its {name} is a {kind}, not a table")));
        }
    }
    Ok(())
}

fn entry(agents: &mut BTreeMap<String, SourceAgent>, id: String) -> &mut SourceAgent {
    agents.entry(id.clone()).or_insert_with(|| SourceAgent {
        agent_id: id,
        ..SourceAgent::default()
    })
}

/// Reads a text that may be missing, of another type, or in a column that older schemas do not have.
fn text(row: &Row<'_>, column: &str) -> Option<String> {
    row.get::<_, Option<String>>(column)
        .ok()
        .flatten()
        .filter(|text| !text.is_empty())
}

/// Returns how SQLite is to open the file.
///
/// A reader of a database with a write-ahead log creates files beside it, unless SQLite is told that there is no
/// writer. A missing log means exactly that: a program that has such a database open has a log.
fn address(path: &Path) -> Result<String, CliError> {
    let absolute = std::path::absolute(path).map_err(|error| CliError::io("find", path, &error))?;
    let Some(text) = absolute.to_str() else {
        return Err(CliError::usage(format!(
            "the path {} is not UTF-8",
            path.display()
        )));
    };
    let escaped = text.replace('%', "%25").replace('?', "%3f").replace('#', "%23");
    let is_at_rest = is_write_ahead(path) && !beside(&absolute, "-wal").exists();
    let immutable = if is_at_rest { "&immutable=1" } else { "" };
    Ok(format!("file:{escaped}?mode=ro{immutable}"))
}

/// Returns the file that SQLite keeps beside a database under this ending.
fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(ending);
    path.with_file_name(name)
}

fn is_write_ahead(path: &Path) -> bool {
    use std::io::Read;
    let mut header = [0; JOURNAL_BYTE + 1];
    std::fs::File::open(path)
        .and_then(|mut file| file.read_exact(&mut header))
        .is_ok_and(|()| header[JOURNAL_BYTE] == WRITE_AHEAD)
}

fn schema(connection: &Connection, path: &Path) -> Result<String, CliError> {
    let found: Option<String> = connection
        .query_row(
            "SELECT value FROM schema_meta WHERE key = 'schema_version'",
            [],
            |row| row.get(0),
        )
        .optional()
        .map_err(|error| unreadable(path, &error.to_string()))?;
    match found {
        Some(schema) if SCHEMAS.contains(&schema.as_str()) => Ok(schema),
        Some(schema) => Err(unreadable(
            path,
            &format!(
                "its schema is {schema}, and only {} are known",
                SCHEMAS.join(" and ")
            ),
        )),
        None => Err(unreadable(path, "it is older than schema 2")
            .with_hint("update it with `migrate` of the original, then import it")),
    }
}

fn unreadable(path: &Path, why: &str) -> CliError {
    CliError::usage(format!(
        "{} cannot be read as a database of the original cueme: {why}",
        path.display()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A database with so many rows that SQLite looks at the clock while it reads them.
    fn long_database(folder: &Path) -> PathBuf {
        let path = folder.join("cue.db");
        let connection = Connection::open(&path).unwrap();
        connection
            .execute_batch(
                "CREATE TABLE schema_meta (key TEXT, value TEXT);
                 INSERT INTO schema_meta VALUES ('schema_version', '3');
                 CREATE TABLE cue_requests (id INTEGER PRIMARY KEY, agent_id TEXT, created_at TEXT);
                 WITH RECURSIVE many (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM many LIMIT 20000)
                     INSERT INTO cue_requests (agent_id, created_at) SELECT 'tavilron', '' FROM many;",
            )
            .unwrap();
        path
    }

    #[test]
    fn reading_ends_when_its_time_is_over() {
        let folder = tempfile::tempdir().unwrap();
        let path = long_database(folder.path());
        let source = Source::open(&path).unwrap();
        assert_eq!(source.agents().unwrap().len(), 1);
        let late = Source::open_until(&path, Instant::now()).unwrap();
        let error = late.agents().unwrap_err().to_string();
        assert!(error.contains("took more than 1800 s"), "{error}");
    }
}
