//! Makes the plan of an installation or a removal, and tells what is installed.

use std::{path::PathBuf, time::Duration};

use super::{
    Problem, Record, RecordedFile, Request, Snapshot, Wish, json, managed_block, own_file,
    recipe::{Content, FileRecipe, Role, notes, recipe, recipe_of},
    record::digest,
    toml,
};

/// The planned changes, with notes for a person.
#[derive(Debug)]
pub struct Plan {
    /// The changes, in the order they are shown and made.
    pub edits: Vec<FileEdit>,
    /// Files that cannot be changed safely and are left alone.
    pub refused: Vec<Refusal>,
    /// Manual steps and limitations, for the person.
    pub notes: Vec<String>,
    /// The ceiling of the runtime's shell tool once the plan is applied, where it raises one.
    pub shell_ceiling: Option<Duration>,
    /// The record to save once the plan is applied; `None` after a removal.
    pub record: Option<Record>,
}

/// One file that would change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileEdit {
    /// The file.
    pub path: PathBuf,
    /// The content now; `None` if it does not exist.
    pub before: Option<Vec<u8>>,
    /// The planned content; `None` if the file would be deleted.
    pub after: Option<Vec<u8>>,
    /// The reason.
    pub why: String,
    /// The parts of the installation in it.
    pub roles: Vec<Role>,
}

/// One file that is left alone.
#[derive(Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The file.
    pub path: PathBuf,
    /// Why.
    pub why: Problem,
}

/// The status of an installation.
#[derive(Debug, PartialEq, Eq)]
pub enum Status {
    /// Nothing of ours is there.
    NotInstalled,
    /// Everything is there and current.
    Installed,
    /// Something is there, but not as this version would write it.
    Outdated,
    /// A file cannot be understood.
    Broken {
        /// The files, with what is wrong.
        why: Vec<Refusal>,
    },
}

/// The status of one part of an installation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartStatus {
    /// The runtime has no place for it.
    Impossible,
    /// Nothing has to be written for it.
    NotNeeded,
    /// It is not there.
    Missing,
    /// It is there and current.
    Current,
    /// It is there, but not as this version would write it.
    Outdated,
    /// Its file cannot be understood.
    Broken,
}

/// Lists the files that a request is about, so that they can be read.
pub fn files(request: &Request<'_>) -> Vec<PathBuf> {
    recipe(request).into_iter().map(|file| file.path).collect()
}

/// Returns what a person should know of a runtime: what is left to do, and what it makes impossible.
pub fn remarks(request: &Request<'_>) -> Vec<String> {
    notes(request)
}

/// Plans an installation or a removal.
pub fn plan(request: &Request<'_>, snapshot: &Snapshot) -> Plan {
    let mut plan = Plan {
        edits: Vec::new(),
        refused: Vec::new(),
        notes: Vec::new(),
        shell_ceiling: None,
        record: None,
    };
    match request.wish {
        Wish::Install => plan_install(request, snapshot, &mut plan),
        Wish::Remove => plan_remove(request, snapshot, &mut plan),
    }
    plan
}

/// Tells how an installation stands.
pub fn status(request: &Request<'_>, snapshot: &Snapshot) -> Status {
    let (mut present, mut current, mut why) = (false, true, Vec::new());
    for file in recipe(request) {
        let now = snapshot.files.get(&file.path).map(Vec::as_slice);
        let known = snapshot
            .record
            .as_ref()
            .and_then(|record| record.files.get(&file.path));
        match check(&file, now, known) {
            Ok((is_present, is_current)) => {
                present |= is_present && !is_of_another(&file, snapshot);
                current &= is_current;
            }
            Err(problem) => why.push(Refusal {
                path: file.path,
                why: problem,
            }),
        }
    }
    match (present, current) {
        _ if !why.is_empty() => Status::Broken { why },
        (false, _) => Status::NotInstalled,
        (true, true) => Status::Installed,
        (true, false) => Status::Outdated,
    }
}

/// A removal would change the file: also where we only added to what a person has in it.
fn has_something_of_ours(file: &FileRecipe, snapshot: &Snapshot) -> bool {
    let Some(now) = snapshot.files.get(&file.path) else {
        return false;
    };
    withdrawn(file, now, known(file, snapshot)).is_ok_and(|left| left.as_ref() != Some(now))
}

fn known<'a>(file: &FileRecipe, snapshot: &'a Snapshot) -> Option<&'a RecordedFile> {
    snapshot.record.as_ref()?.files.get(&file.path)
}

/// A rule may stand in a file for another runtime that reads it too.
fn is_of_another(file: &FileRecipe, snapshot: &Snapshot) -> bool {
    matches!(file.content, Content::Rule { .. })
        && snapshot.record.is_none()
        && snapshot.claimed.contains(&file.path)
}

/// Tells how one part of an installation stands.
pub fn part_status(role: Role, request: &Request<'_>, snapshot: &Snapshot) -> PartStatus {
    let files = recipe_of(role, request);
    let checked: Result<Vec<(bool, bool)>, Problem> = files
        .iter()
        .map(|file| {
            let now = snapshot.files.get(&file.path).map(Vec::as_slice);
            check(file, now, known(file, snapshot))
        })
        .collect();
    let Ok(checked) = checked else {
        return PartStatus::Broken;
    };
    let is_current = checked.iter().all(|(_, current)| *current);
    let is_present = checked.iter().any(|(present, _)| *present)
        || files.iter().any(|file| has_something_of_ours(file, snapshot));
    match (is_present, is_current) {
        _ if files.is_empty() => PartStatus::Impossible,
        (true, true) => PartStatus::Current,
        (true, false) => PartStatus::Outdated,
        (false, true) => PartStatus::NotNeeded,
        (false, false) => PartStatus::Missing,
    }
}

fn plan_install(request: &Request<'_>, snapshot: &Snapshot, plan: &mut Plan) {
    let mut record = snapshot.record.clone().unwrap_or_default();
    let mut raised = request.runtime.facts().shell_ceiling_raised.value;
    for file in recipe(request) {
        let now = snapshot.files.get(&file.path).map(Vec::as_slice);
        match installed(&file, now, record.files.get(&file.path)) {
            Ok(Outcome { after, kept }) => {
                if !kept.is_empty() {
                    raised = None;
                }
                plan.notes
                    .extend(kept.iter().map(|kept| format!("your setting stays: {kept}")));
                if let Some(known) = remembered(&file, now, record.files.get(&file.path), &after) {
                    record.files.insert(file.path.clone(), known);
                }
                push_edit(plan, file, now, after);
            }
            Err(why) => plan.refused.push(Refusal { path: file.path, why }),
        }
    }
    restore_retired(request, snapshot, &mut record, plan);
    plan.notes.extend(notes(request));
    plan.shell_ceiling = raised;
    plan.record = Some(record);
}

fn plan_remove(request: &Request<'_>, snapshot: &Snapshot, plan: &mut Plan) {
    let mut record = snapshot.record.clone().unwrap_or_default();
    restore_retired(request, snapshot, &mut record, plan);
    let mut left = Record {
        folders: record.folders.clone(),
        ..Record::default()
    };
    for file in recipe(request) {
        let Some(now) = snapshot.files.get(&file.path) else {
            continue;
        };
        if snapshot.claimed.contains(&file.path) {
            plan.notes
                .push(format!("{} stays: another runtime reads it", file.path.display()));
            continue;
        }
        let known = record.files.get(&file.path);
        match restored(&file, now, known) {
            Ok(after) => push_edit(plan, file, Some(now), after),
            Err(why) => {
                left.files
                    .extend(known.map(|known| (file.path.clone(), known.clone())));
                plan.refused.push(Refusal { path: file.path, why });
            }
        }
    }
    // The record keeps the parts that could not be removed, so that a later removal can.
    plan.record = (!left.files.is_empty()).then_some(left);
}

/// Puts back files that an older version changed and this one no longer does.
///
/// Only the record knows them, so a file that was edited since stays as it is.
fn restore_retired(request: &Request<'_>, snapshot: &Snapshot, record: &mut Record, plan: &mut Plan) {
    let wanted = files(request);
    let retired: Vec<PathBuf> = record
        .files
        .keys()
        .filter(|path| !wanted.contains(path))
        .cloned()
        .collect();
    for path in retired {
        let (Some(known), Some(now)) = (record.files.remove(&path), snapshot.files.get(&path)) else {
            continue;
        };
        if digest(now) == known.after {
            let why = "no longer needed".to_owned();
            plan.edits.push(FileEdit {
                path,
                before: Some(now.clone()),
                after: known.before,
                why,
                roles: Vec::new(),
            });
        } else {
            plan.notes.push(format!(
                "{} was written by an older cueme and edited since; it stays",
                path.display()
            ));
        }
    }
}

fn push_edit(plan: &mut Plan, file: FileRecipe, now: Option<&[u8]>, after: Option<Vec<u8>>) {
    if now != after.as_deref() {
        plan.edits.push(FileEdit {
            path: file.path,
            before: now.map(<[u8]>::to_vec),
            after,
            why: file.why,
            roles: file.roles,
        });
    }
}

/// Returns what to remember of a file: how it was before us, and the digest of what it is now.
fn remembered(
    file: &FileRecipe,
    now: Option<&[u8]>,
    known: Option<&RecordedFile>,
    after: &Option<Vec<u8>>,
) -> Option<RecordedFile> {
    let after = digest(after.as_deref()?);
    let before = match (now, known) {
        (Some(now), Some(known)) if digest(now) == known.after => known.before.clone(),
        // Installed by hand or edited since: what it would be without us counts as before.
        (Some(now), known) => withdrawn(file, now, known).ok().flatten(),
        (None, _) => None,
    };
    Some(RecordedFile { before, after })
}

struct Outcome {
    after: Option<Vec<u8>>,
    kept: Vec<String>,
}

fn installed(
    file: &FileRecipe,
    now: Option<&[u8]>,
    known: Option<&RecordedFile>,
) -> Result<Outcome, Problem> {
    let now = now.map(utf8).transpose()?;
    let plain = |text: String| Outcome {
        after: Some(text.into_bytes()),
        kept: Vec::new(),
    };
    match &file.content {
        Content::Rule {
            front_matter,
            retired,
            body,
        } => match now {
            None => Ok(plain(managed_block::fresh(front_matter, body))),
            Some(now) => {
                let now = managed_block::renew_front_matter(now, front_matter, retired);
                managed_block::upsert(&now, body).map(plain)
            }
        },
        Content::Json(parts) => {
            // A part that only goes into what exists must not make an empty file.
            let out = json::install(now, parts, text_before(known))?;
            let empty = now.is_none() && out.text.trim() == "{}";
            Ok(Outcome {
                after: (!empty).then(|| out.text.into_bytes()),
                kept: out.kept,
            })
        }
        Content::Toml(table) => toml::upsert(now.unwrap_or_default(), table).map(plain),
        Content::Own(text) => own_file::upsert(now, text).map(plain),
    }
}

/// Returns the file as it was before us, exactly if it is as we left it.
fn restored(file: &FileRecipe, now: &[u8], known: Option<&RecordedFile>) -> Result<Option<Vec<u8>>, Problem> {
    match known {
        Some(known) if digest(now) == known.after => Ok(known.before.clone()),
        known => withdrawn(file, now, known),
    }
}

/// Returns the file without our parts; `None` when nothing is left that was not ours.
fn withdrawn(
    file: &FileRecipe,
    now: &[u8],
    known: Option<&RecordedFile>,
) -> Result<Option<Vec<u8>>, Problem> {
    let now = utf8(now)?;
    let was_there = known.is_some_and(|known| known.before.is_some());
    let left = match &file.content {
        Content::Rule {
            front_matter,
            retired,
            ..
        } => {
            let is_left_over = |left: &str| {
                let mut known = std::iter::once(front_matter).chain(*retired);
                known.any(|front_matter| managed_block::is_left_over(left, front_matter))
            };
            managed_block::remove(now)?.map_or(Some(now.to_owned()), |left| {
                let ours = !was_there && is_left_over(&left);
                (!ours).then_some(left)
            })
        }
        Content::Json(parts) => json::withdraw(now, parts, text_before(known))?,
        Content::Toml(table) => toml::remove(now, table.name)?.map_or(Some(now.to_owned()), |left| {
            (was_there || !left.trim().is_empty()).then_some(left)
        }),
        Content::Own(_) => (!own_file::is_ours(now)).then(|| now.to_owned()),
    };
    Ok(left.map(String::into_bytes))
}

/// Tells whether something of ours is in a file, and whether it is all there as we would write it.
fn check(
    file: &FileRecipe,
    now: Option<&[u8]>,
    known: Option<&RecordedFile>,
) -> Result<(bool, bool), Problem> {
    let after = installed(file, now, known)?.after;
    let current = after.as_deref() == now;
    let Some(now) = now else {
        return Ok((false, current));
    };
    let text = utf8(now)?;
    let present = match &file.content {
        Content::Rule { .. } => managed_block::remove(text)?.is_some(),
        Content::Json(parts) => json::is_present(text, parts)?,
        Content::Toml(table) => toml::is_declared(text, table.name)?,
        Content::Own(_) => own_file::is_ours(text),
    };
    Ok((present, current))
}

fn text_before(known: Option<&RecordedFile>) -> Option<&str> {
    known.and_then(|known| std::str::from_utf8(known.before.as_deref()?).ok())
}

fn utf8(bytes: &[u8]) -> Result<&str, Problem> {
    std::str::from_utf8(bytes).map_err(|error| Problem::NotUtf8 {
        offset: error.valid_up_to(),
    })
}
