//! `cueme backup`: a verified copy of the database while the broker works.

use std::path::{Path, PathBuf};

use crate::display::counted;
use protocol_spec::exit::Exit;
use protocol_spec::message::{Backup, Request};

use crate::cli::BackupArgs;
use crate::client::{call, expect_reply};
use crate::error::CliError;
use crate::{environment, output};

pub(super) fn run(args: &BackupArgs) -> Result<Exit, CliError> {
    let path = target(&args.file)?;
    let request = Request::Backup(Backup {
        path: path.to_string_lossy().into_owned(),
    });
    let done = expect_reply!(call(&environment::places()?, &request)?, BackedUp)?;
    output::print_line(&format!(
        "backed up {} to {} ({} bytes, verified)",
        counted(done.cues, "question"),
        done.path,
        done.bytes
    ))?;
    Ok(Exit::Done)
}

/// Makes the path absolute, because the broker works in another directory.
fn target(file: &Path) -> Result<PathBuf, CliError> {
    let absolute = std::path::absolute(file)
        .map_err(|error| CliError::usage(format!("could not use {}: {error}", file.display())))?;
    if absolute.to_str().is_none() {
        return Err(CliError::usage(format!(
            "the path {} is not UTF-8",
            file.display()
        )));
    }
    if absolute.exists() {
        return Err(CliError::usage(format!("{} already exists", absolute.display()))
            .with_hint("a backup never overwrites a file; choose another name"));
    }
    Ok(absolute)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_backup_never_overwrites() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("copy.db");
        assert_eq!(target(&file).unwrap(), file);
        std::fs::write(&file, "").unwrap();
        assert!(target(&file).is_err());
    }
}
