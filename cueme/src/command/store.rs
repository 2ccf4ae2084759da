//! `cueme store`: where the inbox is kept, and its move from a file into a database that brokers share, or back.
//!
//! While it is copied this process holds both locks, so that no client starts a broker in between. The configuration is
//! switched last: until then the old store is the one in force, and a move that was interrupted can be run again.

use std::fs;
use std::io::{self, IsTerminal, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use cueme_broker::lifecycle::Lock;
use cueme_broker::notify::{ConfigureError, change_config};
use cueme_broker::place::{StoreUrl, shared_store};
use cueme_store::StoreError;
use cueme_store_copy::{CopyError, CopyProgress, CopyReport, copy_into_postgres, copy_into_sqlite};
use cueme_store_postgres::{Runtime, Settings};
use cueme_store_sqlite::{SqliteStore, Synchronous};
use protocol_spec::endpoint::Places;
use protocol_spec::exit::Exit;
use protocol_spec::message::{Nothing, Request};
use toml_edit::value;

use super::broker::stop;
use crate::cli::{StoreArgs, StoreVerb};
use crate::client::{call, expect_reply, lock_start};
use crate::display::{counted, now};
use crate::error::CliError;
use crate::{environment, output};

/// The table that people count.
const QUESTIONS: &str = "cues";

pub(super) fn run(args: StoreArgs) -> Result<Exit, CliError> {
    let places = environment::places()?;
    match args.verb {
        None => show(&places),
        Some(StoreVerb::Move { to }) if to == "-" => move_to(&places, &address_from_stdin()?),
        Some(StoreVerb::Move { to }) => move_to(&places, &to),
    }
}

/// Returns the shared store in force, if there is one.
pub(super) fn in_force(places: &Places) -> Result<Option<Settings>, CliError> {
    let url = shared_store(&places.config).map_err(|error| {
        CliError::usage(error.to_string()).with_hint("correct it, then run the command again")
    })?;
    url.map(|url| settings(&url)).transpose()
}

fn settings(url: &StoreUrl) -> Result<Settings, CliError> {
    Settings::from_url(url.expose()).map_err(|error| refused(&error))
}

fn show(places: &Places) -> Result<Exit, CliError> {
    let location = match in_force(places)? {
        Some(settings) => settings.location().display().to_string(),
        None => places.database().display().to_string(),
    };
    output::print_line(&location)?;
    Ok(Exit::Done)
}

/// Reads the address of the new store, whose password the arguments would show to other users.
fn address_from_stdin() -> Result<String, CliError> {
    if io::stdin().is_terminal() {
        output::tell("paste the address of the new store here:");
    }
    let mut line = String::new();
    io::stdin()
        .read_line(&mut line)
        .map_err(|error| CliError::new(Exit::Io, format!("could not read the address: {error}")))?;
    if line.trim().is_empty() {
        return Err(CliError::usage("there is no address on stdin")
            .with_hint("example: cueme store move - < file-with-the-address"));
    }
    Ok(line)
}

fn move_to(places: &Places, to: &str) -> Result<Exit, CliError> {
    if std::env::var_os("CUEME_STORE").is_some_and(|store| !store.is_empty()) {
        return Err(
            CliError::usage("CUEME_STORE is set and would override the configuration")
                .with_hint("unset CUEME_STORE, set `store` in the configuration instead, and run it again"),
        );
    }
    let target = match to.trim() {
        "sqlite" => None,
        url => Some(Settings::from_url(url).map_err(|error| refused(&error))?),
    };
    let (report, kept) = match (in_force(places)?, target) {
        (None, Some(target)) => into_database(places, to.trim(), &target)?,
        (Some(source), None) => into_file(places, &source)?,
        (Some(source), Some(target)) if source.location() != target.location() => {
            return Err(CliError::usage("the inbox is in another database already")
                .with_hint("move it into the file first: `cueme store move sqlite`"));
        }
        (None, None) | (Some(_), Some(_)) => {
            output::print_line("the inbox is already there; nothing was changed")?;
            return Ok(Exit::Done);
        }
    };
    let status = expect_reply!(call(places, &Request::Status(Nothing {}))?, Status)?;
    let questions = report.tables.iter().find(|(table, _)| *table == QUESTIONS);
    output::print_line(&format!(
        "moved {} and {} to {}; the broker runs again (pid {})",
        counted(questions.map_or(0, |(_, rows)| *rows), "question"),
        counted(report.files, "file"),
        status.database,
        status.pid
    ))?;
    for file in &report.missing_files {
        output::tell(&format!("warning: the file {file} no longer exists"));
    }
    if let Some(kept) = kept {
        output::print_line(&format!("the database file is kept as {}", kept.display()))?;
    }
    Ok(Exit::Done)
}

/// Copies the file of this machine into a database; returns what was copied and where the file is kept.
fn into_database(
    places: &Places,
    url: &str,
    target: &Settings,
) -> Result<(CopyReport, Option<PathBuf>), CliError> {
    let _start = lock_start(places)?;
    stop(places)?;
    let _broker = Lock::take(places).map_err(|error| CliError::no_broker(error.to_string()))?;
    let database = places.database();
    // Makes an empty one where nobody has asked anything yet, and brings an older one to this program's schema.
    SqliteStore::open(&database, Synchronous::Full, true)
        .and_then(|store| store.checkpoint())
        .map_err(|error| refused(&error))?;
    let report =
        copy_into_postgres(&database, target, &runtime()?, &mut shown).map_err(|error| stopped(&error))?;
    change_config(places, |document| {
        document["store"] = value(url);
        Ok(())
    })
    .map_err(|error| not_switched(&error))?;
    Ok((report, Some(put_aside(&database)?)))
}

/// Copies a database into the file of this machine.
fn into_file(places: &Places, source: &Settings) -> Result<(CopyReport, Option<PathBuf>), CliError> {
    let _start = lock_start(places)?;
    stop(places)?;
    let _broker = Lock::take(places).map_err(|error| CliError::no_broker(error.to_string()))?;
    let database = places.database();
    // An earlier attempt, or the file from before the inbox was moved away: neither is in force.
    let kept = database.exists().then(|| put_aside(&database)).transpose()?;
    let attachments = places.attachments();
    let report = copy_into_sqlite(source, &database, &attachments, &runtime()?, &mut shown)
        .map_err(|error| stopped(&error))?;
    change_config(places, |document| {
        document.remove("store");
        Ok(())
    })
    .map_err(|error| not_switched(&error))?;
    Ok((report, kept))
}

/// Gives a database file another name, with whatever belongs to it.
fn put_aside(database: &Path) -> Result<PathBuf, CliError> {
    let with = |path: &Path, suffix: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        PathBuf::from(name)
    };
    let kept = with(database, &format!(".before-move-{}", now().as_millis()));
    for suffix in ["", "-wal", "-shm"] {
        let (from, to) = (with(database, suffix), with(&kept, suffix));
        match fs::rename(&from, &to) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(CliError::io("put aside", &from, &error));
            }
            Ok(()) | Err(_) => {}
        }
    }
    Ok(kept)
}

/// Shows how far the copy is, where somebody looks.
fn shown(progress: CopyProgress) -> ControlFlow<()> {
    let mut stderr = io::stderr();
    if stderr.is_terminal() {
        // The progress line is optional, so a failed write is ignored.
        let _ = write!(
            stderr,
            "\r\x1b[Kcopying {}: {} rows",
            progress.table, progress.rows
        );
    }
    ControlFlow::Continue(())
}

fn runtime() -> Result<Runtime, CliError> {
    Runtime::start().map_err(|error| CliError::new(Exit::Io, format!("could not start threads: {error}")))
}

fn refused(error: &StoreError) -> CliError {
    let said = CliError::usage(error.to_string());
    match error.hint() {
        Some(hint) => said.with_hint(hint),
        None => said,
    }
}

fn not_switched(error: &ConfigureError) -> CliError {
    CliError::new(
        Exit::Io,
        format!("the copy is complete, but the configuration was not switched: {error}"),
    )
    .with_hint("the old store is still in use; correct that and run the command again")
}

fn stopped(error: &CopyError) -> CliError {
    let remedy = match error {
        CopyError::Store(error) => error.hint(),
        _ => None,
    };
    if let Some(remedy) = remedy {
        let said = format!("{error}; the old store is still in use");
        return CliError::new(Exit::Io, said).with_hint(remedy);
    }
    let hint = match error {
        CopyError::InUse(_) => "stop them with `cueme broker stop` where they run; nothing was changed",
        CopyError::Changed(_) => {
            "stop the brokers that use it, with `cueme broker stop` where they run, and run the command again"
        }
        CopyError::NotEmpty(_) => "give an empty database; nothing was changed",
        _ => "the old store is still in use; run the command again",
    };
    CliError::new(Exit::Io, error.to_string()).with_hint(hint)
}
