//! Copies a whole store into another one: a file into a database, and back.
//!
//! The copy is compared with what was copied, table by table, before it counts. A database is filled in one transaction and a
//! file under another name, so an interrupted copy has left nothing behind that anybody could take for a store.

mod files;
mod postgres;
mod sqlite;
mod tables;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use cueme_store::{CheckReport, StoreError};
use thiserror::Error;
use tokio_postgres::Client;

use self::files::{gather, lay_out};
use self::postgres::Database;
use self::sqlite::SqliteFile;
use self::tables::{TABLES, Table};
use crate::connect::Settings;
use crate::fault::Fault;
use crate::runtime::Runtime;

/// How many rows are written at once, at most …
const BATCH_ROWS: usize = 1000;
/// … and how many bytes, unless one row has more.
const BATCH_BYTES: usize = 8 * 1024 * 1024;

/// Why a store was not copied.
#[derive(Debug, Error)]
pub enum CopyError {
    /// One of the stores failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// There is nothing to copy.
    #[error("there is no database {}", .0.display())]
    Missing(PathBuf),
    /// There is something else where the copy should be.
    #[error("{} holds other questions already", .0.display())]
    NotEmpty(PathBuf),
    /// Brokers use what is to be copied.
    #[error("brokers use the database: {}", .0.join(", "))]
    InUse(Vec<String>),
    /// The copy is not what was copied.
    #[error("the copy of the table {0} is not what was copied")]
    Differs(&'static str),
    /// The caller stopped it.
    #[error("the copy was stopped")]
    Stopped,
}

impl From<Fault> for CopyError {
    fn from(fault: Fault) -> Self {
        Self::Store(fault.into())
    }
}

impl From<CopyError> for StoreError {
    fn from(error: CopyError) -> Self {
        match error {
            CopyError::Store(error) => error,
            other => Self::Damaged {
                path: PathBuf::from("the copy"),
                what: other.to_string(),
            },
        }
    }
}

/// How far a copy is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CopyProgress {
    /// The table that is being copied.
    pub table: &'static str,
    /// How many of its rows were copied.
    pub rows: u64,
}

/// Hears how far a copy is, and may stop it.
pub type OnProgress<'a> = &'a mut dyn FnMut(CopyProgress) -> ControlFlow<()>;

/// What was copied.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CopyReport {
    /// Rows by table.
    pub tables: Vec<(&'static str, u64)>,
    /// Files of answers.
    pub files: u64,
    /// Files that could not be copied, because they are not where they should be.
    pub missing_files: Vec<String>,
}

/// Copies the database in a file, which no broker uses, into an empty PostgreSQL database.
///
/// A database that has the same rows already is left as it is: then an earlier copy got so far, and nobody heard of it. A copy
/// that no broker has used is replaced.
pub fn copy_into_postgres(
    from: &Path,
    to: &Settings,
    runtime: &Runtime,
    progress: OnProgress<'_>,
) -> Result<CopyReport, CopyError> {
    let source = SqliteFile::open(from)?;
    runtime.block_on(async {
        let mut client = connect(to, runtime).await?;
        crate::migrate::migrate(&mut client, to).await?;
        let target = Database::write(&mut client).await?;
        if !target.is_empty().await? {
            if is_same(&source, &target).await? {
                return report(&source);
            }
            // One that no broker has ever used is a copy that was not put to use: the source went on meanwhile.
            if target.one("SELECT EXISTS (SELECT 1 FROM brokers)").await? {
                return Err(CopyError::NotEmpty(to.location().to_owned()));
            }
            target.clear().await?;
        }
        fill(&source, target, progress).await
    })
}

/// Puts the database in a file, such as a backup, in the place of everything that a PostgreSQL database holds.
///
/// Brokers that use it notice that it is another one. Files of answers that it has already are kept.
pub fn restore_into_postgres(
    from: &Path,
    to: &Settings,
    runtime: &Runtime,
    progress: OnProgress<'_>,
) -> Result<CopyReport, CopyError> {
    let source = SqliteFile::open(from)?;
    runtime.block_on(async {
        let mut client = connect(to, runtime).await?;
        crate::migrate::migrate(&mut client, to).await?;
        let target = Database::write(&mut client).await?;
        target.clear().await?;
        fill(&source, target, progress).await
    })
}

/// Copies every table and every file into a database without rows, compares them, and makes it durable.
async fn fill(
    source: &SqliteFile,
    target: Database<'_>,
    progress: OnProgress<'_>,
) -> Result<CopyReport, CopyError> {
    for table in TABLES {
        fill_table(source, &target, table, progress).await?;
    }
    let (files, missing_files) = gather(&target).await?;
    let event = source.last_number("events", "id")?;
    target
        .batch(&format!(
            "UPDATE head SET event = {event}, revision = revision + 1, records = records + 1;
             INSERT INTO unindexed (seq, side) SELECT seq, 0 FROM questions UNION ALL SELECT seq, 1 FROM decisions"
        ))
        .await?;
    verify(source, &target).await?;
    target.commit().await?;
    Ok(CopyReport {
        files,
        missing_files,
        ..report(source)?
    })
}

/// Copies a PostgreSQL database into a file that does not exist yet. Files of answers are laid out below `attachments`.
///
/// It is refused while brokers use the database: what they change after the copy has begun would not be copied.
pub fn copy_into_sqlite(
    from: &Settings,
    to: &Path,
    attachments: &Path,
    runtime: &Runtime,
    progress: OnProgress<'_>,
) -> Result<CopyReport, CopyError> {
    if to.exists() {
        return Err(CopyError::NotEmpty(to.to_owned()));
    }
    let unfinished = beside(to);
    let copied = runtime.block_on(async {
        let mut client = connect(from, runtime).await?;
        let source = Database::read(&mut client).await?;
        let brokers = source.brokers().await?;
        if !brokers.is_empty() {
            return Err(CopyError::InUse(brokers));
        }
        let target = write_file(&source, &unfinished, progress).await?;
        let (files, missing_files) = lay_out(&source, attachments).await?;
        let tables = report(&target)?.tables;
        target.finish()?;
        put_in_place(&unfinished, to)?;
        Ok(CopyReport {
            tables,
            files,
            missing_files,
        })
    });
    or_remove(&unfinished, copied)
}

/// Writes the portable file that a backup is.
pub(crate) async fn back_up(client: &mut Client, to: &Path) -> Result<CheckReport, CopyError> {
    let unfinished = beside(to);
    let written = async {
        let source = Database::read(client).await?;
        write_file(&source, &unfinished, &mut |_| ControlFlow::Continue(()))
            .await?
            .finish()?;
        let copy = sqlite::connect(&unfinished)?;
        let report = cueme_store_sqlite::make_portable(&unfinished, &copy)?;
        drop(copy);
        put_in_place(&unfinished, to)?;
        Ok(report)
    };
    or_remove(&unfinished, written.await)
}

/// Leaves nothing of a file behind that was not finished.
fn or_remove<T>(unfinished: &Path, result: Result<T, CopyError>) -> Result<T, CopyError> {
    result.inspect_err(|_| {
        // If this fails, the next copy tries again.
        let _ = sqlite::remove(unfinished);
    })
}

async fn connect(settings: &Settings, runtime: &Runtime) -> Result<Client, CopyError> {
    let (client, connection) = settings.connect().await?;
    runtime.spawn(async move {
        // The client hears of what goes wrong.
        let _ = connection.await;
    });
    Ok(client)
}

/// Copies every table into a file, and compares them.
async fn write_file(
    source: &Database<'_>,
    unfinished: &Path,
    progress: OnProgress<'_>,
) -> Result<SqliteFile, CopyError> {
    let target = SqliteFile::create(unfinished)?;
    for table in TABLES {
        let mut rows = 0;
        tell(progress, table, rows)?;
        source
            .visit(table, &mut |row| {
                rows += 1;
                if rows.is_multiple_of(BATCH_ROWS as u64) {
                    tell(progress, table, rows)?;
                }
                target.insert(table, &row)
            })
            .await?;
        if table.is_numbered {
            target.set_last_number(table.name, source.last_number(table).await?)?;
        }
    }
    target.set_last_number("events", source.one("SELECT event FROM head").await?)?;
    verify(&target, source).await?;
    Ok(target)
}

/// Copies one table into a database.
async fn fill_table(
    source: &SqliteFile,
    target: &Database<'_>,
    table: &'static Table,
    progress: OnProgress<'_>,
) -> Result<(), CopyError> {
    let mut copied = 0;
    tell(progress, table, copied)?;
    source
        .take_rows(table, async |rows| {
            target.insert(table, &rows).await?;
            copied += rows.len() as u64;
            tell(progress, table, copied)
        })
        .await?;
    if table.is_numbered {
        let number = source.last_number(table.name, table.order)?;
        target.set_last_number(table, number).await?;
    }
    Ok(())
}

fn tell(progress: OnProgress<'_>, table: &'static Table, rows: u64) -> Result<(), CopyError> {
    let progress = progress(CopyProgress {
        table: table.name,
        rows,
    });
    match progress {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(CopyError::Stopped),
    }
}

async fn verify(file: &SqliteFile, database: &Database<'_>) -> Result<(), CopyError> {
    match difference(file, database).await? {
        Some(table) => Err(CopyError::Differs(table)),
        None => Ok(()),
    }
}

async fn is_same(file: &SqliteFile, database: &Database<'_>) -> Result<bool, CopyError> {
    Ok(difference(file, database).await?.is_none())
}

/// Returns the first table that is not the same in both.
async fn difference(file: &SqliteFile, database: &Database<'_>) -> Result<Option<&'static str>, CopyError> {
    for table in TABLES {
        if file.digest(table)? != database.digest(table).await? {
            return Ok(Some(table.name));
        }
    }
    Ok(None)
}

fn report(file: &SqliteFile) -> Result<CopyReport, CopyError> {
    let count = |table: &Table| Ok((table.name, file.count(table)?));
    Ok(CopyReport {
        tables: TABLES.iter().map(count).collect::<Result<_, CopyError>>()?,
        ..CopyReport::default()
    })
}

/// Where a file is until it is whole.
fn beside(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".incomplete");
    PathBuf::from(name)
}

/// Gives a whole file its name, and never takes one from another.
fn put_in_place(unfinished: &Path, path: &Path) -> Result<(), CopyError> {
    std::fs::hard_link(unfinished, path).map_err(|source| sqlite::io("create", path, source))?;
    sqlite::remove(unfinished)?;
    // The copy is final once the directory is on the disk.
    if let Some(directory) = path.parent() {
        let synced = std::fs::File::open(directory).and_then(|directory| directory.sync_all());
        synced.map_err(|source| sqlite::io("write", directory, source))?;
    }
    Ok(())
}
