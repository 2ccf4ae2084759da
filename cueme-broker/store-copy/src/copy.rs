//! Copies a file into a database, and back.

use std::future::Future;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::pin::Pin;

use cueme_store::copy::{BATCH_ROWS, TABLES, Table};
use cueme_store::{CheckReport, StoreError};
use cueme_store_postgres::{CopyConnection, CopyTransaction, Runtime, Settings};
use cueme_store_sqlite::{SqliteFile, remove_database};
use thiserror::Error;
use uuid::Uuid;

/// The reason why a store was not copied.
#[derive(Debug, Error)]
pub enum CopyError {
    /// One of the stores failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The source does not exist.
    #[error("there is no database {}", .0.display())]
    Missing(PathBuf),
    /// The target holds other data.
    #[error("{} holds other questions already", .0.display())]
    NotEmpty(PathBuf),
    /// Brokers use the source.
    #[error("brokers use the database: {}", .0.join(", "))]
    InUse(Vec<String>),
    /// A broker changed the source during the copy.
    #[error("{} was changed while it was copied", .0.display())]
    Changed(PathBuf),
    /// The connection broke during the commit, and the target cannot be reached to find out whether it happened.
    #[error("whether the copy was committed is unknown: {0}")]
    InDoubt(StoreError),
    /// The copy differs from its source.
    #[error("the copy of the table {0} is not what was copied")]
    Differs(&'static str),
    /// The caller stopped the copy.
    #[error("the copy was stopped")]
    Stopped,
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

/// The progress of a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CopyProgress {
    /// The table that is being copied.
    pub table: &'static str,
    /// The number of its rows copied so far.
    pub rows: u64,
}

/// Receives the progress of a copy, and may stop it.
pub type OnProgress<'a> = &'a mut dyn FnMut(CopyProgress) -> ControlFlow<()>;

/// The result of a copy.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CopyReport {
    /// Rows by table.
    pub tables: Vec<(&'static str, u64)>,
    /// Files of answers.
    pub files: u64,
    /// Files that could not be copied, because they are missing.
    pub missing_files: Vec<String>,
}

/// Copies the database in a file, which no broker uses, into an empty PostgreSQL database.
///
/// A database that has the same rows already is left as it is: an earlier copy succeeded, but its success was not
/// reported. A copy that no broker has used is replaced.
pub fn copy_into_postgres(
    from: &Path,
    to: &Settings,
    runtime: &Runtime,
    progress: OnProgress<'_>,
) -> Result<CopyReport, CopyError> {
    let source = open(from)?;
    runtime.block_on(async {
        let mut connection = CopyConnection::open(to, runtime).await?;
        let target = connection.write().await?;
        if !target.is_empty().await? {
            if is_same(&source, &target).await? {
                target.remove_mark().await?;
                return report(&source);
            }
            // A database that no broker has ever used is a copy that was never put into service; its source has changed
            // since.
            if target.was_used().await? {
                return Err(CopyError::NotEmpty(to.location().to_owned()));
            }
            target.clear().await?;
        }
        fill(&source, target, to, runtime, progress).await
    })
}

/// Replaces the content of a PostgreSQL database with the database in a file, such as a backup.
///
/// Brokers that use it detect that it was replaced. Files of answers that it has already are kept.
pub fn restore_into_postgres(
    from: &Path,
    to: &Settings,
    runtime: &Runtime,
    progress: OnProgress<'_>,
) -> Result<CopyReport, CopyError> {
    let source = open(from)?;
    runtime.block_on(async {
        let mut connection = CopyConnection::open(to, runtime).await?;
        let target = connection.write().await?;
        target.clear().await?;
        fill(&source, target, to, runtime, progress).await
    })
}

/// Copies every table and every file into a database without rows, compares them, and commits.
async fn fill(
    source: &SqliteFile,
    target: CopyTransaction<'_>,
    to: &Settings,
    runtime: &Runtime,
    progress: OnProgress<'_>,
) -> Result<CopyReport, CopyError> {
    for table in TABLES {
        fill_table(source, &target, table, progress).await?;
    }
    let (files, missing_files) = target.gather_files().await?;
    let (event, identity) = (source.last_number("events", "id")?, Uuid::new_v4());
    target.complete(event, identity).await?;
    verify(source, &target).await?;
    if let Err(error) = target.commit().await {
        resolve(error, identity, to, runtime).await?;
    }
    Ok(CopyReport {
        files,
        missing_files,
        ..report(source)?
    })
}

/// Finds out whether a failed commit happened: returns its error if it did not.
async fn resolve(
    error: StoreError,
    identity: Uuid,
    to: &Settings,
    runtime: &Runtime,
) -> Result<(), CopyError> {
    let read = async { CopyConnection::open(to, runtime).await?.identity().await };
    match read.await {
        Ok(found) if found == identity => Ok(()),
        Ok(_) => Err(error.into()),
        Err(_) => Err(CopyError::InDoubt(error)),
    }
}

/// Copies a PostgreSQL database into a file that does not exist yet. Files of answers are laid out below `attachments`.
///
/// It is refused while brokers use the database: changes made after the start of the copy would not be copied. Brokers refuse the
/// database from then on.
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
        let mut connection = CopyConnection::open(from, runtime).await?;
        connection.migrate().await?;
        let source = connection.read().await?;
        source.check_not_moved(from.location(), to).await?;
        let brokers = source.brokers().await?;
        if !brokers.is_empty() {
            return Err(CopyError::InUse(brokers));
        }
        let target = write_file(&source, &unfinished, progress).await?;
        let (files, missing_files) = source.lay_out_files(attachments).await?;
        let tables = report(&target)?.tables;
        target.finish()?;
        // A broker that started during the copy is not in its snapshot.
        let copied = source.head().await?;
        let mut connection = CopyConnection::open(from, runtime).await?;
        let now = connection.lock().await?;
        let brokers = now.brokers().await?;
        if !brokers.is_empty() {
            return Err(CopyError::InUse(brokers));
        }
        if now.head().await? != copied {
            return Err(CopyError::Changed(from.location().to_owned()));
        }
        put_in_place(&unfinished, to)?;
        now.mark_moved(to).await?;
        Ok(CopyReport {
            tables,
            files,
            missing_files,
        })
    });
    or_remove(&unfinished, copied)
}

/// Writes the portable file of a backup of a PostgreSQL database.
pub fn back_up<'a>(
    source: CopyTransaction<'a>,
    to: &'a Path,
) -> Pin<Box<dyn Future<Output = Result<CheckReport, StoreError>> + 'a>> {
    Box::pin(async move {
        let unfinished = beside(to);
        let written = async {
            write_file(&source, &unfinished, &mut |_| ControlFlow::Continue(()))
                .await?
                .finish()?;
            let report = SqliteFile::make_portable(&unfinished)?;
            put_in_place(&unfinished, to)?;
            Ok(report)
        };
        Ok(or_remove(&unfinished, written.await)?)
    })
}

/// Removes an unfinished file.
fn or_remove<T>(unfinished: &Path, result: Result<T, CopyError>) -> Result<T, CopyError> {
    result.inspect_err(|_| {
        // If this fails, the next copy tries again.
        let _ = remove_database(unfinished);
    })
}

/// Copies every table into a file, and compares them.
async fn write_file(
    source: &CopyTransaction<'_>,
    unfinished: &Path,
    progress: OnProgress<'_>,
) -> Result<SqliteFile, CopyError> {
    let target = SqliteFile::create(unfinished)?;
    for table in TABLES {
        let mut rows = 0;
        tell(progress, table, rows)?;
        source
            .visit(table, |row| -> Result<(), CopyError> {
                rows += 1;
                if rows.is_multiple_of(BATCH_ROWS as u64) {
                    tell(progress, table, rows)?;
                }
                Ok(target.insert(table, &row)?)
            })
            .await?;
        if table.is_numbered {
            target.set_last_number(table.name, source.last_number(table).await?)?;
        }
    }
    target.set_last_number("events", source.last_event().await?)?;
    verify(&target, source).await?;
    Ok(target)
}

/// Copies one table into a database.
async fn fill_table(
    source: &SqliteFile,
    target: &CopyTransaction<'_>,
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

async fn verify(file: &SqliteFile, database: &CopyTransaction<'_>) -> Result<(), CopyError> {
    match difference(file, database).await? {
        Some(table) => Err(CopyError::Differs(table)),
        None => Ok(()),
    }
}

async fn is_same(file: &SqliteFile, database: &CopyTransaction<'_>) -> Result<bool, CopyError> {
    Ok(difference(file, database).await?.is_none())
}

/// Returns the first table that differs.
async fn difference(
    file: &SqliteFile,
    database: &CopyTransaction<'_>,
) -> Result<Option<&'static str>, CopyError> {
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

fn open(path: &Path) -> Result<SqliteFile, CopyError> {
    if !path.is_file() {
        return Err(CopyError::Missing(path.to_owned()));
    }
    Ok(SqliteFile::open(path)?)
}

/// Turns an I/O error into the error of a file operation.
fn io(doing: &'static str, path: &Path, source: std::io::Error) -> CopyError {
    CopyError::Store(StoreError::Io {
        doing,
        path: path.to_owned(),
        source,
    })
}

/// The path of a file until it is complete.
fn beside(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".incomplete");
    PathBuf::from(name)
}

/// Renames a complete file to its final name, and never replaces another file.
fn put_in_place(unfinished: &Path, path: &Path) -> Result<(), CopyError> {
    std::fs::hard_link(unfinished, path).map_err(|source| io("create", path, source))?;
    remove_database(unfinished)?;
    // The copy is final once the directory is on the disk.
    if let Some(directory) = path.parent() {
        let synced = std::fs::File::open(directory).and_then(|directory| directory.sync_all());
        synced.map_err(|source| io("write", directory, source))?;
    }
    Ok(())
}
