//! `cueme restore`: put a backup in the place of the database.
//!
//! The file is checked before anything is touched. While the swap happens this process holds both locks, so that no
//! client can start a broker in between; the database that was there is kept beside the new one.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::ops::ControlFlow;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use cueme_broker::lifecycle::Lock;
use cueme_store::{CheckReport, StoreError};
use cueme_store_copy::{CopyError, restore_into_postgres};
use cueme_store_postgres::{Runtime, Settings};
use cueme_store_sqlite::{SqliteStore, Synchronous, check_file, void_access};
use protocol_spec::endpoint::Places;
use protocol_spec::exit::Exit;
use protocol_spec::message::{Nothing, Request};

use super::broker::stop;
use super::store::in_force;
use crate::cli::RestoreArgs;
use crate::client::{call, expect_reply, lock_start};
use crate::display::{counted, now};
use crate::error::CliError;
use crate::{environment, output};

pub(super) fn run(args: &RestoreArgs) -> Result<Exit, CliError> {
    let places = environment::places()?;
    let report = verify(&args.file)?;
    let kept = {
        let _start = lock_start(&places)?;
        stop(&places)?;
        let _broker = Lock::take(&places).map_err(|error| CliError::no_broker(error.to_string()))?;
        let fresh = prepare(&args.file, &places.database())?;
        match in_force(&places)? {
            None => swap(&fresh, &places)?,
            Some(shared) => {
                put_into(&fresh, &shared)?;
                None
            }
        }
    };
    let status = expect_reply!(call(&places, &Request::Status(Nothing {}))?, Status)?;
    output::print_line(&format!(
        "restored {} from {}; the broker runs again (pid {})",
        counted(report.cues, "question"),
        args.file.display(),
        status.pid
    ))?;
    output::print_line("browsers and tokens of the backup are signed out: `cueme ui` signs you in again")?;
    if let Some(kept) = kept {
        output::print_line(&format!("the previous database is kept as {}", kept.display()))?;
    }
    Ok(Exit::Done)
}

/// Makes sure that the file is a whole database of ours, of a schema we know.
fn verify(file: &Path) -> Result<CheckReport, CliError> {
    if !file.is_file() {
        return Err(CliError::usage(format!("there is no file {}", file.display()))
            .with_hint("give a file that `cueme backup` wrote"));
    }
    let report = check_file(file).map_err(|error| refused(&error))?;
    match report.problems.first() {
        None => Ok(report),
        Some(problem) => Err(
            CliError::usage(format!("{} is damaged: {problem}", file.display()))
                .with_hint("nothing was changed; restore another backup"),
        ),
    }
}

fn refused(error: &StoreError) -> CliError {
    let hint = match error {
        StoreError::Newer { .. } => "update cueme to the version that wrote it; nothing was changed",
        _ => "nothing was changed; give a file that `cueme backup` wrote",
    };
    CliError::usage(error.to_string()).with_hint(hint)
}

/// Copies `file` beside the database, so that nobody is signed in by it; returns where the copy is.
fn prepare(file: &Path, database: &Path) -> Result<PathBuf, CliError> {
    let fresh = beside(database, "restoring");
    // A log that an interrupted restore left would be taken for this file's own.
    for suffix in ["-wal", "-shm"] {
        let log = with_suffix(&fresh, suffix);
        if let Err(error) = fs::remove_file(&log)
            && error.kind() != io::ErrorKind::NotFound
        {
            return Err(CliError::io("remove", &log, &error));
        }
    }
    copy_private(file, &fresh).map_err(|error| CliError::io("copy the backup to", &fresh, &error))?;
    void_access(&fresh).map_err(|error| refused(&error))?;
    Ok(fresh)
}

/// Puts `fresh` in the place of what a shared store holds. Other brokers notice that it is another one.
fn put_into(fresh: &Path, shared: &Settings) -> Result<(), CliError> {
    let failed =
        |error: &dyn std::fmt::Display| CliError::new(Exit::Io, format!("{error}; nothing was changed"));
    let runtime = Runtime::start().map_err(|error| failed(&error))?;
    let restored = restore_into_postgres(fresh, shared, &runtime, &mut |_| ControlFlow::Continue(()));
    // The copy was made for this alone.
    let _ = fs::remove_file(fresh);
    let report = restored.map_err(|error| match error {
        CopyError::InDoubt(_) => CliError::new(Exit::Io, error.to_string())
            .with_hint("look at `cueme inbox` once the database can be reached, or restore it again"),
        CopyError::Store(error) => match error.hint() {
            Some(remedy) => failed(&error).with_hint(remedy),
            None => failed(&error),
        },
        error => failed(&error),
    })?;
    for file in &report.missing_files {
        output::tell(&format!("warning: the file {file} is not in the backup"));
    }
    Ok(())
}

/// Puts `fresh` in the place of the database; returns where the old one is kept.
fn swap(fresh: &Path, places: &Places) -> Result<Option<PathBuf>, CliError> {
    let database = places.database();
    let kept = keep_old(&database)?;
    fs::rename(fresh, &database)
        .map_err(|error| CliError::io("put the backup in place of", &database, &error))?;
    // The swap is final once the directory is on disk.
    if let Some(directory) = database.parent() {
        let _ = File::open(directory).and_then(|directory| directory.sync_all());
    }
    Ok(kept)
}

/// Gives the old database a second name, so that at every moment there is a whole one in its place.
fn keep_old(database: &Path) -> Result<Option<PathBuf>, CliError> {
    if !database.exists() {
        return Ok(None);
    }
    // A database that is too broken for this is kept together with its log.
    let is_folded = SqliteStore::open(database, Synchronous::Full, true)
        .and_then(|store| store.checkpoint())
        .is_ok();
    let kept = beside(database, &format!("before-restore-{}", now().as_millis()));
    fs::hard_link(database, &kept)
        .map_err(|error| CliError::io("keep the old database as", &kept, &error))?;
    for suffix in ["-wal", "-shm"] {
        let log = with_suffix(database, suffix);
        let moved = if is_folded {
            fs::remove_file(&log)
        } else {
            fs::rename(&log, with_suffix(&kept, suffix))
        };
        if let Err(error) = moved
            && error.kind() != io::ErrorKind::NotFound
        {
            return Err(CliError::io("move aside", &log, &error));
        }
    }
    Ok(Some(kept))
}

fn copy_private(from: &Path, to: &Path) -> io::Result<()> {
    let mut source = File::open(from)?;
    let mut target = OpenOptions::new()
        .create(true)
        .write(true)
        .truncate(true)
        .mode(0o600)
        .open(to)?;
    io::copy(&mut source, &mut target)?;
    target.sync_all()
}

fn beside(database: &Path, what: &str) -> PathBuf {
    with_suffix(database, &format!(".{what}"))
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn database(path: &Path) {
        SqliteStore::open(path, Synchronous::Full, true)
            .unwrap()
            .checkpoint()
            .unwrap();
    }

    #[test]
    fn what_is_not_a_database_of_ours_is_refused_before_anything_is_touched() {
        let home = tempfile::tempdir().unwrap();
        let text = home.path().join("notes.txt");
        fs::write(
            &text,
            "hello, this is not a database at all, but it is long enough to look at",
        )
        .unwrap();
        let empty = home.path().join("empty.db");
        fs::write(&empty, "").unwrap();
        for file in [&text, &empty, &home.path().join("missing")] {
            assert_eq!(
                verify(file).unwrap_err().report(),
                Exit::Usage,
                "{}",
                file.display()
            );
        }
        let good = home.path().join("good.db");
        database(&good);
        assert_eq!(verify(&good).unwrap().cues, 0);
    }

    #[test]
    fn a_damaged_backup_is_refused() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("good.db");
        database(&file);
        let mut bytes = fs::read(&file).unwrap();
        for byte in bytes.iter_mut().skip(4096).take(8192) {
            *byte ^= 0x5a;
        }
        fs::write(&file, bytes).unwrap();
        assert!(verify(&file).is_err());
    }

    #[test]
    fn the_swap_keeps_the_old_database_and_leaves_no_log_of_it() {
        let home = tempfile::tempdir().unwrap();
        let places = Places::below(home.path());
        fs::create_dir(&places.data_dir).unwrap();
        database(&places.database());
        let before = fs::read(places.database()).unwrap();
        let backup = home.path().join("backup.db");
        fs::write(&backup, "the backup").unwrap();
        let kept = swap(&backup, &places).unwrap().unwrap();
        assert_eq!(fs::read(&kept).unwrap(), before);
        assert_eq!(fs::read(places.database()).unwrap(), b"the backup");
        assert!(!with_suffix(&places.database(), "-wal").exists());
    }
}
