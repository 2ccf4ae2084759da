//! Examines whether a turn could run, and explains what is in the way.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::locate::{CLI_NAMES, locate};
use super::probe::{login_status, version};
use crate::contract::{ErrorCode, ErrorData};

/// The rule that lets the CLI run `cueme` without asking.
const CUEME_RULE: &str = "Shell(cueme)";

/// One thing that was examined.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What was examined.
    pub what: &'static str,
    /// How it stands.
    pub state: State,
    /// What was found.
    pub found: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
}

/// How a thing stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// As it should be.
    Good,
    /// It works, but not in every case.
    Warning,
    /// A turn cannot run.
    Bad,
}

/// The allow and deny lists of the CLI's configuration.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Permissions {
    /// What may run without asking.
    pub allow: Vec<String>,
    /// What may not run; it wins.
    pub deny: Vec<String>,
}

impl Permissions {
    /// Reads them from the CLI's configuration; `None` when there is none or it cannot be read.
    pub fn load(file: &Path) -> Option<Self> {
        #[derive(Deserialize)]
        struct File {
            #[serde(default)]
            permissions: Permissions,
        }
        serde_json::from_slice::<File>(&std::fs::read(file).ok()?)
            .ok()
            .map(|file| file.permissions)
    }

    /// Reports whether `cueme` may run without asking.
    pub fn allow_cueme(&self) -> bool {
        let names = |rules: &[String]| rules.iter().any(|rule| rule == CUEME_RULE || rule == "Shell(*)");
        names(&self.allow) && !names(&self.deny)
    }
}

/// Examines the command, its version, its login and its permissions.
///
/// `home` is the folder of the CLI's configuration, usually `~/.cursor`.
pub async fn examine(command: &str, home: &Path) -> Vec<Finding> {
    let path = std::env::var_os("PATH");
    let Some(program) = locate(command, path.as_deref()).filter(|program| program.is_file()) else {
        let found = format!(
            "no {} on the PATH",
            if CLI_NAMES.contains(&command) {
                CLI_NAMES.join(" or ")
            } else {
                command.into()
            }
        );
        return vec![
            finding("command", State::Bad, found, ErrorCode::CommandNotFound.remedy()),
            permissions(home),
        ];
    };
    vec![
        finding("command", State::Good, program.display().to_string(), None),
        answer("version", version(&program).await),
        answer("login", login_status(&program).await),
        permissions(home),
    ]
}

fn answer(what: &'static str, answer: Result<String, ErrorData>) -> Finding {
    match answer {
        Ok(found) => finding(what, State::Good, found, None),
        Err(error) => finding(what, State::Bad, error.message, error.remedy.as_deref()),
    }
}

fn permissions(home: &Path) -> Finding {
    let file: PathBuf = home.join("cli-config.json");
    let what = "permissions";
    let remedy = Some("run `cueme init cursor`, or use --permission force");
    match Permissions::load(&file) {
        Some(permissions) => {
            let state = if permissions.allow_cueme() {
                State::Good
            } else {
                State::Warning
            };
            let found = format!(
                "{}: allow {:?}, deny {:?}",
                file.display(),
                permissions.allow,
                permissions.deny
            );
            finding(what, state, found, remedy.filter(|_| state != State::Good))
        }
        None => finding(
            what,
            State::Warning,
            format!("{} does not exist or is no JSON", file.display()),
            remedy,
        ),
    }
}

fn finding(what: &'static str, state: State, found: String, remedy: Option<&str>) -> Finding {
    Finding {
        what,
        state,
        found,
        remedy: remedy.map(str::to_owned),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn permissions(text: &str) -> Permissions {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("cli-config.json");
        std::fs::write(&file, text).unwrap();
        Permissions::load(&file).unwrap()
    }

    #[test]
    fn a_denied_cueme_is_not_allowed_whatever_else_is() {
        assert!(permissions(r#"{"permissions":{"allow":["Shell(cueme)"],"deny":[]}}"#).allow_cueme());
        assert!(
            !permissions(r#"{"permissions":{"allow":["Shell(*)"],"deny":["Shell(cueme)"]}}"#).allow_cueme()
        );
        assert!(!permissions(r#"{"version":1}"#).allow_cueme());
    }
}
