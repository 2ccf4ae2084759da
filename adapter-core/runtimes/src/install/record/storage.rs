//! Keeps records and backups in our data folder.
//!
//! Backups are named by their digest, so that the same contents are kept once; only this user may read them, because
//! settings hold keys.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs, io,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use super::{Record, RecordedFile, digest};
use crate::install::{
    ApplyError, Request, Scope,
    apply::{failed, read_file, write_private},
};

const RECORDS: &str = "installed";
const BACKUPS: &str = "backups";

/// The version of the record's format.
const VERSION: u32 = 1;

/// The number of digest characters in a project's name.
const PROJECT_NAME_CHARS: usize = 16;

/// A record as it is written.
#[derive(Serialize, Deserialize)]
struct Stored {
    version: u32,
    runtime: String,
    scope: String,
    project: Option<PathBuf>,
    files: BTreeMap<PathBuf, StoredFile>,
    folders: Vec<PathBuf>,
}

#[derive(Serialize, Deserialize)]
struct StoredFile {
    /// The digest of the backup; absent when the file did not exist.
    before: Option<String>,
    after: String,
}

/// Returns the name of the record of an installation.
pub(in crate::install) fn name(request: &Request<'_>) -> String {
    match request.scope {
        Scope::User => format!("{}-user.json", request.runtime),
        Scope::Project => {
            let project = digest(request.paths.project().as_os_str().as_encoded_bytes());
            format!(
                "{}-project-{}.json",
                request.runtime,
                &project[..PROJECT_NAME_CHARS]
            )
        }
    }
}

/// Reads a record with the contents it refers to.
pub(in crate::install) fn load(data: &Path, name: &str) -> Result<Option<Record>, ApplyError> {
    let Some(stored) = parse(&data.join(RECORDS).join(name))? else {
        return Ok(None);
    };
    let mut files = BTreeMap::new();
    for (path, file) in stored.files {
        let before = match file.before {
            None => None,
            Some(backup) => match read_file(&data.join(BACKUPS).join(backup))? {
                Some(bytes) => Some(bytes),
                // Without its backup the file is treated as if it had never been recorded.
                None => continue,
            },
        };
        files.insert(
            path,
            RecordedFile {
                before,
                after: file.after,
            },
        );
    }
    Ok(Some(Record {
        files,
        folders: stored.folders,
    }))
}

/// The files and folders of other installations.
#[derive(Debug, Default)]
pub(in crate::install) struct Others {
    /// Their files.
    pub files: BTreeSet<PathBuf>,
    /// The folders they made.
    pub folders: BTreeSet<PathBuf>,
}

/// Collects what all records but one hold.
pub(in crate::install) fn others(data: &Path, own_name: &str) -> Result<Others, ApplyError> {
    let folder = data.join(RECORDS);
    let mut others = Others::default();
    let entries = match fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(others),
        Err(error) => return Err(failed("list", &folder)(error)),
    };
    for entry in entries {
        let entry = entry.map_err(failed("list", &folder))?;
        if entry.file_name() != own_name
            && let Some(stored) = parse(&entry.path())?
        {
            others.files.extend(stored.files.into_keys());
            others.folders.extend(stored.folders);
        }
    }
    Ok(others)
}

/// Writes a record and the backups it refers to.
pub(in crate::install) fn save(
    data: &Path,
    name: &str,
    request: &Request<'_>,
    record: &Record,
) -> Result<(), ApplyError> {
    let mut files = BTreeMap::new();
    for (path, file) in &record.files {
        let before = file
            .before
            .as_deref()
            .map(|bytes| back_up(data, bytes))
            .transpose()?;
        files.insert(
            path.clone(),
            StoredFile {
                before,
                after: file.after.clone(),
            },
        );
    }
    let stored = Stored {
        version: VERSION,
        runtime: request.runtime.tag().to_owned(),
        scope: request.scope.word().to_owned(),
        project: (request.scope == Scope::Project).then(|| request.paths.project().to_owned()),
        files,
        folders: record.folders.clone(),
    };
    let path = data.join(RECORDS).join(name);
    let text = serde_json::to_vec_pretty(&stored).map_err(|error| ApplyError::Record {
        path: path.clone(),
        message: error.to_string(),
    })?;
    write_private(&path, &text)
}

/// Forgets a record.
pub(in crate::install) fn delete(data: &Path, name: &str) -> Result<(), ApplyError> {
    let path = data.join(RECORDS).join(name);
    match fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed("delete", &path)(error)),
        _ => Ok(()),
    }
}

/// Keeps a copy of a file's contents and returns its name.
pub(in crate::install) fn back_up(data: &Path, bytes: &[u8]) -> Result<String, ApplyError> {
    let name = digest(bytes);
    let path = data.join(BACKUPS).join(&name);
    if !path.exists() {
        write_private(&path, bytes)?;
    }
    Ok(name)
}

fn parse(path: &Path) -> Result<Option<Stored>, ApplyError> {
    let Some(bytes) = read_file(path)? else {
        return Ok(None);
    };
    let not_understood = |message: String| ApplyError::Record {
        path: path.to_owned(),
        message,
    };
    let stored: Stored = serde_json::from_slice(&bytes).map_err(|error| not_understood(error.to_string()))?;
    if stored.version != VERSION {
        return Err(not_understood(format!(
            "version {} was written by another cueme",
            stored.version
        )));
    }
    Ok(Some(stored))
}
