//! The wait that our own configuration gives a runtime once its ceiling was raised.
//!
//! The line is marked as ours. A wait that a person set stays, whatever an installation or a removal wants.

use std::path::{Path, PathBuf};
use std::time::Duration;

use adapter_core::runtime::Runtime;
use adapter_core::runtime::install::FileEdit;
use toml_edit::{DocumentMut, Item, Table, value};

use crate::error::CliError;

/// Stands behind the lines that are ours.
const MARK: &str = " # set by cueme init";

/// Why the configuration is left alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unreadable {
    /// What is wrong with it.
    pub(super) why: String,
}

/// Plans what becomes of `[runtime.<tag>] wait`: this wait, or none of ours. `None` when nothing changes.
pub(super) fn plan(
    config: &Path,
    runtime: Runtime,
    wait: Option<Duration>,
) -> Result<Option<FileEdit>, Unreadable> {
    let before = match std::fs::read_to_string(config) {
        Ok(text) => Some(text),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        Err(error) => {
            return Err(Unreadable {
                why: error.to_string(),
            });
        }
    };
    let after = edited(before.as_deref().unwrap_or_default(), runtime, wait)?;
    let after = (!after.trim().is_empty() || before.as_deref().is_some_and(|text| text.trim().is_empty()))
        .then_some(after);
    if before == after {
        return Ok(None);
    }
    Ok(Some(FileEdit {
        path: config.to_owned(),
        before: before.map(String::into_bytes),
        after: after.map(String::into_bytes),
        why: format!("how long one call may wait in {}", runtime.display_name()),
    }))
}

/// Writes what was planned, in one step.
pub(super) fn apply(edit: &FileEdit) -> Result<(), CliError> {
    let target = resolved(&edit.path);
    let failed = |error: std::io::Error| CliError::io("write", &target, &error);
    let Some(after) = &edit.after else {
        return std::fs::remove_file(&target).map_err(failed);
    };
    let folder = target.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder).map_err(failed)?;
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
    std::io::Write::write_all(&mut file, after).map_err(failed)?;
    if let Ok(found) = std::fs::metadata(&target) {
        file.as_file()
            .set_permissions(found.permissions())
            .map_err(failed)?;
    }
    file.as_file().sync_all().map_err(failed)?;
    file.persist(&target).map_err(|error| failed(error.error))?;
    Ok(())
}

/// People keep their settings behind links; the link stays and its file changes.
fn resolved(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

fn edited(text: &str, runtime: Runtime, wait: Option<Duration>) -> Result<String, Unreadable> {
    let mut document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| Unreadable {
        why: error.to_string().trim_end().replace('\n', " "),
    })?;
    let known = document
        .get("runtime")
        .and_then(|runtimes| runtimes.get(runtime.tag()))
        .and_then(|settings| settings.get("wait"));
    match (known, wait) {
        (Some(known), _) if !is_ours(known) => return Ok(text.to_owned()),
        (_, Some(wait)) => set(&mut document, runtime, wait)?,
        (Some(_), None) => unset(&mut document, runtime),
        (None, None) => return Ok(text.to_owned()),
    }
    Ok(document.to_string())
}

fn is_ours(item: &Item) -> bool {
    item.as_value()
        .and_then(|value| value.decor().suffix()?.as_str())
        .is_some_and(|suffix| suffix.trim() == MARK.trim())
}

fn set(document: &mut DocumentMut, runtime: Runtime, wait: Duration) -> Result<(), Unreadable> {
    let not_a_table = |name: &str| Unreadable {
        why: format!("{name} is not a table"),
    };
    let mut implicit = Table::new();
    implicit.set_implicit(true);
    let runtimes = document
        .entry("runtime")
        .or_insert(Item::Table(implicit))
        .as_table_like_mut()
        .ok_or_else(|| not_a_table("runtime"))?;
    let settings = runtimes
        .entry(runtime.tag())
        .or_insert(Item::Table(Table::new()))
        .as_table_like_mut()
        .ok_or_else(|| not_a_table(runtime.tag()))?;
    let mut wanted = value(format!("{}s", wait.as_secs()));
    if let Some(value) = wanted.as_value_mut() {
        value.decor_mut().set_suffix(MARK);
    }
    settings.insert("wait", wanted);
    Ok(())
}

fn unset(document: &mut DocumentMut, runtime: Runtime) {
    let Some(runtimes) = document.get_mut("runtime").and_then(Item::as_table_like_mut) else {
        return;
    };
    if let Some(settings) = runtimes.get_mut(runtime.tag()).and_then(Item::as_table_like_mut) {
        settings.remove("wait");
        if settings.is_empty() {
            runtimes.remove(runtime.tag());
        }
    }
    if runtimes.is_empty() {
        document.remove("runtime");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WAIT: Duration = Duration::from_secs(590);

    fn with(text: &str, wait: Option<Duration>) -> String {
        edited(text, Runtime::ClaudeCode, wait).unwrap()
    }

    #[test]
    fn a_wait_is_added_beside_what_is_there_and_removed_without_a_trace() {
        for before in [
            "",
            "# mine\nreminder = false # quiet\n",
            "[runtime.cursor]\nwait = \"5m\" # I know better\n",
        ] {
            let after = with(before, Some(WAIT));
            assert!(
                after.contains("[runtime.claude_code]\nwait = \"590s\" # set by cueme init\n"),
                "{after}"
            );
            assert!(after.starts_with(before), "{after}");
            assert_eq!(with(&after, Some(WAIT)), after, "a second time changes nothing");
            assert_eq!(with(&after, None), before);
        }
    }

    #[test]
    fn a_wait_that_a_person_set_stays() {
        let mine = "[runtime.claude_code]\nwait = 25\n";
        assert_eq!(with(mine, Some(WAIT)), mine);
        assert_eq!(with(mine, None), mine);
    }

    #[test]
    fn an_older_wait_of_ours_is_brought_up_to_date() {
        let old = with("", Some(Duration::from_secs(110)));
        assert_eq!(with(&old, Some(WAIT)), with("", Some(WAIT)));
    }

    #[test]
    fn a_file_that_cannot_be_understood_is_left_alone() {
        for text in ["reminder = ", "runtime = 3\n"] {
            assert!(edited(text, Runtime::ClaudeCode, Some(WAIT)).is_err(), "{text}");
        }
    }
}
