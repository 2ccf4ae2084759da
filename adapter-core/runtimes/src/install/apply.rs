//! Reads what a plan is made from, and carries a plan out.
//!
//! A file is replaced in one step (a temporary file, then a rename) with its permissions kept, and its old contents are
//! in a backup before that. Links are followed, because people keep their settings in a dotfiles folder; in a project
//! a link that leads out of it is refused, because a repository could aim it at anything.

use std::{
    collections::BTreeSet,
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
};

use tempfile::NamedTempFile;

use super::{
    ApplyError, FileEdit, Paths, Plan, Record, Request, Scope, Snapshot, plan, recipe::signs, record::storage,
};
use crate::{Runtime, facts::Sign};

/// The largest file that is read: Claude Code keeps its history in the same file as its servers.
const SETTINGS_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Lists the runtimes that show signs of being installed on this machine.
pub fn detect(paths: &Paths, search_path: &[PathBuf]) -> Vec<Runtime> {
    let program = |name: &str| {
        search_path
            .iter()
            .any(|folder| folder.join(name).is_file() || folder.join(format!("{name}.exe")).is_file())
    };
    let is_shown = |runtime: Runtime, sign: &Sign| match sign {
        Sign::Program(name) => program(name),
        Sign::Exists(place) => paths.resolve(runtime, *place).exists(),
    };
    Runtime::ALL
        .into_iter()
        .filter(|runtime| runtime.facts().signs.iter().any(|sign| is_shown(*runtime, sign)))
        .collect()
}

/// Looks which of two accepted names a runtime's settings have here, and which programs that read `AGENTS.md` are used.
pub fn notice_spellings(paths: &mut Paths) {
    let places = Runtime::Opencode.facts().mcp.value;
    for place in [places.user, places.project].into_iter().flatten() {
        let usual = paths.resolve(Runtime::Opencode, place);
        let with_comments = usual.with_extension("jsonc");
        if !usual.exists() && with_comments.exists() {
            paths.mark_used(&with_comments);
        }
    }
    for sign in signs(paths) {
        if sign.exists() {
            paths.mark_used(&sign);
        }
    }
}

/// Reads the files that a request is about and what is recorded of an earlier installation.
///
/// `data` is the folder where records and backups are kept.
pub fn read(request: &Request<'_>, data: &Path) -> Result<Snapshot, ApplyError> {
    let name = storage::name(request);
    let record = storage::load(data, &name)?;
    let mut paths: BTreeSet<PathBuf> = plan::files(request).into_iter().collect();
    paths.extend(record.iter().flat_map(|record| record.files.keys().cloned()));
    let mut snapshot = Snapshot {
        record,
        claimed: storage::others(data, &name)?.files,
        ..Snapshot::default()
    };
    for path in paths {
        if let Some(bytes) = read_file(&path)? {
            snapshot.files.insert(path, bytes);
        }
    }
    Ok(snapshot)
}

/// Carries a plan out.
///
/// Backups and the record are written first, so that a removal can restore the files even after a crash in between.
pub fn apply(request: &Request<'_>, plan: &Plan, data: &Path) -> Result<(), ApplyError> {
    let name = storage::name(request);
    for edit in &plan.edits {
        check_unchanged(edit)?;
        if let Some(before) = &edit.before {
            storage::back_up(data, before)?;
        }
    }
    let earlier = storage::load(data, &name)?.unwrap_or_default();
    let folders = made_folders(plan, earlier.folders, &storage::others(data, &name)?.folders);
    if let Some(record) = &plan.record {
        let record = Record {
            folders: folders.clone(),
            ..record.clone()
        };
        storage::save(data, &name, request, &record)?;
    }
    for edit in &plan.edits {
        write_edit(request, edit)?;
    }
    if plan.record.is_none() {
        storage::delete(data, &name)?;
        remove_empty(&folders);
    }
    Ok(())
}

fn check_unchanged(edit: &FileEdit) -> Result<(), ApplyError> {
    if read_file(&edit.path)? == edit.before {
        Ok(())
    } else {
        Err(ApplyError::Changed {
            path: edit.path.clone(),
        })
    }
}

/// Reads a file, if it is there.
pub(super) fn read_file(path: &Path) -> Result<Option<Vec<u8>>, ApplyError> {
    match fs::metadata(path) {
        Ok(metadata) if metadata.len() > SETTINGS_BYTES_MAX => Err(ApplyError::TooLarge {
            path: path.to_owned(),
            bytes: metadata.len(),
            max: SETTINGS_BYTES_MAX,
        }),
        Ok(_) => fs::read(path).map(Some).map_err(failed("read", path)),
        Err(error) if is_absent(&error) => Ok(None),
        Err(error) => Err(failed("look at", path)(error)),
    }
}

fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

/// Adds the folders that the plan will make to those that were made before, outermost first.
///
/// A folder that another installation made counts too: whichever is removed last takes it away.
fn made_folders(plan: &Plan, mut folders: Vec<PathBuf>, others: &BTreeSet<PathBuf>) -> Vec<PathBuf> {
    for edit in plan.edits.iter().filter(|edit| edit.after.is_some()) {
        let is_ours = |folder: &&Path| !folder.exists() || others.contains(*folder);
        let ours: Vec<&Path> = edit.path.ancestors().skip(1).take_while(is_ours).collect();
        for folder in ours.into_iter().rev() {
            if !folders.iter().any(|known| known == folder) {
                folders.push(folder.to_owned());
            }
        }
    }
    folders
}

fn write_edit(request: &Request<'_>, edit: &FileEdit) -> Result<(), ApplyError> {
    let target = resolved(request, &edit.path)?;
    match &edit.after {
        Some(after) => replace(&target, after),
        None => fs::remove_file(&target).map_err(failed("delete", &target)),
    }
}

/// Follows a link to the file that is really meant.
fn resolved(request: &Request<'_>, path: &Path) -> Result<PathBuf, ApplyError> {
    let Some((existing, rest)) = path.ancestors().find_map(|folder| {
        let rest = path.strip_prefix(folder).ok()?;
        folder.canonicalize().ok().map(|real| (real, rest.to_owned()))
    }) else {
        return Ok(path.to_owned());
    };
    let target = if rest.as_os_str().is_empty() {
        existing
    } else {
        existing.join(rest)
    };
    if request.scope == Scope::Project {
        let project = request.paths.project();
        let project = project.canonicalize().map_err(failed("find", project))?;
        if !target.starts_with(&project) {
            return Err(ApplyError::LinkOutside {
                path: path.to_owned(),
                target,
            });
        }
    }
    Ok(target)
}

/// Replaces a file in one step, keeping its permissions.
fn replace(path: &Path, bytes: &[u8]) -> Result<(), ApplyError> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(failed("make the folder", folder))?;
    let permissions = fs::metadata(path).ok().map(|metadata| metadata.permissions());
    let mut file = temporary(folder).map_err(failed("make a temporary file in", folder))?;
    file.write_all(bytes).map_err(failed("write", path))?;
    if let Some(permissions) = permissions {
        file.as_file()
            .set_permissions(permissions)
            .map_err(failed("keep the permissions of", path))?;
    }
    file.as_file().sync_all().map_err(failed("write", path))?;
    file.persist(path)
        .map_err(|error| failed("replace", path)(error.error))?;
    Ok(())
}

/// Makes a temporary file with the permissions that any new file of this user would get.
fn temporary(folder: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".cueme-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder
            .permissions(fs::Permissions::from_mode(0o666))
            .tempfile_in(folder)
    }
    #[cfg(not(unix))]
    builder.tempfile_in(folder)
}

/// Removes folders of ours that are empty; one that someone uses by now stays.
fn remove_empty(folders: &[PathBuf]) {
    for folder in folders.iter().rev() {
        // Not empty, or gone already: either way there is nothing to do.
        let _ = fs::remove_dir(folder);
    }
}

pub(super) fn failed(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> ApplyError {
    let path = path.to_owned();
    move |source| ApplyError::Io { doing, path, source }
}

/// Writes a file of ours that only this user may read.
pub(super) fn write_private(path: &Path, bytes: &[u8]) -> Result<(), ApplyError> {
    let folder = path.parent().unwrap_or(Path::new("."));
    create_private_folder(folder).map_err(failed("make the folder", folder))?;
    let mut file = NamedTempFile::new_in(folder).map_err(failed("make a temporary file in", folder))?;
    file.write_all(bytes).map_err(failed("write", path))?;
    file.as_file().sync_all().map_err(failed("write", path))?;
    file.persist(path)
        .map_err(|error| failed("replace", path)(error.error))?;
    Ok(())
}

fn create_private_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt;
        builder.mode(0o700);
    }
    builder.create(folder)
}
