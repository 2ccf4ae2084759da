//! The settings of a connected runtime in our own configuration: the wait once its ceiling was raised, and the language
//! of its agents.
//!
//! Our lines are marked. Neither an installation nor a removal changes a value that a person set.

use std::path::{Path, PathBuf};
use std::time::Duration;

use runtimes::install::FileEdit;
use runtimes::{Language, Runtime};
use toml_edit::{DocumentMut, Item, Table, value};

use crate::error::CliError;

/// Stands behind the lines that are ours.
const MARK: &str = " # set by cueme init";

/// Why the configuration is left alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unreadable {
    /// The reason.
    pub(super) why: String,
}

/// The settings that an installation writes; none after a removal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Settings {
    /// The limit of one wait.
    pub(super) wait: Option<Duration>,
    /// The language of the rule; English is what nothing says.
    pub(super) language: Language,
}

impl Settings {
    /// Returns the members of `[runtime.<tag>]`, each with its value or nothing.
    fn members(self) -> [(&'static str, Option<String>); 2] {
        let language = match self.language {
            Language::English => None,
            Language::Chinese => Some("zh".to_owned()),
        };
        [
            ("wait", self.wait.map(|wait| format!("{}s", wait.as_secs()))),
            ("language", language),
        ]
    }
}

/// Plans what becomes of `[runtime.<tag>]`. `None` when nothing changes.
pub(super) fn plan(
    config: &Path,
    runtime: Runtime,
    settings: Settings,
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
    let after = edited(before.as_deref().unwrap_or_default(), runtime, settings)?;
    let after = (!after.trim().is_empty() || before.as_deref().is_some_and(|text| text.trim().is_empty()))
        .then_some(after);
    if before == after {
        return Ok(None);
    }
    Ok(Some(FileEdit {
        path: config.to_owned(),
        before: before.map(String::into_bytes),
        after: after.map(String::into_bytes),
        why: format!(
            "how long a call may wait in {}, and in which language",
            runtime.display_name()
        ),
        roles: Vec::new(),
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

fn edited(text: &str, runtime: Runtime, settings: Settings) -> Result<String, Unreadable> {
    let mut document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| Unreadable {
        why: error.to_string().trim_end().replace('\n', " "),
    })?;
    let mut is_changed = false;
    for (member, wanted) in settings.members() {
        let known = document
            .get("runtime")
            .and_then(|runtimes| runtimes.get(runtime.tag()))
            .and_then(|settings| settings.get(member));
        match (known, wanted) {
            (Some(known), _) if !is_ours(known) => continue,
            (_, Some(wanted)) => set(&mut document, runtime, member, &wanted)?,
            (Some(_), None) => unset(&mut document, runtime, member),
            (None, None) => continue,
        }
        is_changed = true;
    }
    // A document that is written anew may look different where nothing was set.
    Ok(if is_changed {
        document.to_string()
    } else {
        text.to_owned()
    })
}

fn is_ours(item: &Item) -> bool {
    item.as_value()
        .and_then(|value| value.decor().suffix()?.as_str())
        .is_some_and(|suffix| suffix.trim() == MARK.trim())
}

fn set(document: &mut DocumentMut, runtime: Runtime, member: &str, wanted: &str) -> Result<(), Unreadable> {
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
    let mut wanted = value(wanted);
    if let Some(value) = wanted.as_value_mut() {
        value.decor_mut().set_suffix(MARK);
    }
    settings.insert(member, wanted);
    Ok(())
}

fn unset(document: &mut DocumentMut, runtime: Runtime, member: &str) {
    let Some(runtimes) = document.get_mut("runtime").and_then(Item::as_table_like_mut) else {
        return;
    };
    if let Some(settings) = runtimes.get_mut(runtime.tag()).and_then(Item::as_table_like_mut) {
        settings.remove(member);
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
        edited(text, Runtime::ClaudeCode, settings(wait)).unwrap()
    }

    fn settings(wait: Option<Duration>) -> Settings {
        Settings {
            wait,
            ..Settings::default()
        }
    }

    #[test]
    fn the_language_is_noted_where_it_is_not_english_and_removed_without_a_trace() {
        let chinese = |wait| Settings {
            wait,
            language: Language::Chinese,
        };
        for before in ["", "[runtime.codex]\nwait = \"5m\" # I know better\n"] {
            let after = edited(before, Runtime::Codex, chinese(None)).unwrap();
            assert!(
                after.contains("language = \"zh\" # set by cueme init\n"),
                "{after}"
            );
            assert_eq!(edited(&after, Runtime::Codex, chinese(None)).unwrap(), after);
            assert_eq!(
                edited(&after, Runtime::Codex, Settings::default()).unwrap(),
                before
            );
        }
        let mine = "[runtime.codex]\nlanguage = \"en\"\n";
        assert_eq!(edited(mine, Runtime::Codex, chinese(None)).unwrap(), mine);
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
            assert!(
                edited(text, Runtime::ClaudeCode, settings(Some(WAIT))).is_err(),
                "{text}"
            );
        }
    }
}
