//! Examines whether a turn could run, and explains what is in the way.

use std::path::{Path, PathBuf};

use protocol_spec::visible::visible;
use serde::{Deserialize, Serialize};

use super::invocation::CliSpec;
use super::probe::{login_status, version};
use crate::contract::{ErrorCode, ErrorData, OutputFormat};
use crate::cursor::chats::ChatsRoot;
use crate::process::{CLI_NAMES, locate};

/// Rules that let the CLI ask the human through cueme without asking first: ours, and wider ones of the user's own.
const CUEME_RULES: [&str; 3] = ["Shell(cueme:cue*)", "Shell(cueme)", "Shell(*)"];

/// One thing that was examined.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The subject of the check.
    pub what: &'static str,
    /// The result.
    pub state: State,
    /// The finding.
    pub found: String,
    /// The remedy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
}

/// The result of a check.
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
    /// The commands that may run without asking.
    pub allow: Vec<String>,
    /// The commands that may not run; a denial overrides a permission.
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
        let names = |rules: &[String]| rules.iter().any(|rule| CUEME_RULES.contains(&rule.as_str()));
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

/// Examines a custom CLI, which is only known to read a turn from its stdin.
pub fn examine_custom(command: &str) -> Finding {
    let path = std::env::var_os("PATH");
    match locate(command, path.as_deref()).filter(|program| program.is_file()) {
        Some(program) => finding("command", State::Good, program.display().to_string(), None),
        None => finding(
            "command",
            State::Bad,
            format!("no {command} on the PATH"),
            ErrorCode::CommandNotFound.remedy(),
        ),
    }
}

/// Checks that the arguments select an output format that can be parsed.
pub fn examine_args(spec: &CliSpec) -> Finding {
    let what = "arguments";
    let has = |flags: [&str; 2]| spec.args.iter().any(|arg| flags.contains(&arg.as_str()));
    if !spec.prompt_as_arg {
        let found = "a custom CLI: the turn is written to its stdin as one line of JSON";
        return finding(what, State::Good, found.to_owned(), None);
    }
    if !has(["-p", "--print"]) {
        let found = "neither -p nor --print: the CLI wants a terminal and writes for a person".to_owned();
        return finding(
            what,
            State::Bad,
            found,
            Some("add \"-p\" to the model's args in openclaw.json"),
        );
    }
    match OutputFormat::from_args(&spec.args) {
        OutputFormat::StreamJson => finding(what, State::Good, spec.args.join(" "), None),
        OutputFormat::Json | OutputFormat::Text => finding(
            what,
            State::Warning,
            format!(
                "{}: only the answer is seen, no tool and no cue",
                spec.args.join(" ")
            ),
            Some("use --output-format stream-json"),
        ),
    }
}

/// Examines the key in the environment, without showing it.
pub fn examine_key(key: Option<&str>) -> Finding {
    let what = "key";
    match key {
        None => finding(
            what,
            State::Good,
            "CURSOR_API_KEY is not set; the login counts".to_owned(),
            None,
        ),
        Some("") => finding(
            what,
            State::Bad,
            "CURSOR_API_KEY is set and empty, which the CLI refuses".to_owned(),
            Some("unset CURSOR_API_KEY, or give it a key"),
        ),
        Some(_) => finding(what, State::Good, "CURSOR_API_KEY is set".to_owned(), None),
    }
}

/// Examines whether the chats of a directory can be found and read.
pub fn examine_chats(root: &ChatsRoot, cwd: &Path) -> Finding {
    let what = "chats";
    let listing = match root.list_for(cwd) {
        Ok(listing) => listing,
        Err(error) => {
            let remedy = ErrorCode::SessionNotFound.remedy();
            return finding(what, State::Warning, error.to_string(), remedy);
        }
    };
    let count: usize = listing.projects.iter().map(|project| project.chats.len()).sum();
    let found = format!("{count} of {} under {}", cwd.display(), root.dir().display());
    match listing.warnings.first() {
        None => finding(what, State::Good, found, None),
        Some(warning) => finding(
            what,
            State::Warning,
            format!("{found}; {warning}"),
            ErrorCode::DatabaseLocked.remedy(),
        ),
    }
}

fn answer(what: &'static str, answer: Result<String, ErrorData>) -> Finding {
    match answer {
        Ok(found) => finding(what, State::Good, found, None),
        Err(error) => finding(what, State::Bad, error.message, error.remedy.as_deref()),
    }
}

/// Names what a list of the CLI's permissions holds.
fn listed(entries: &[String]) -> String {
    if entries.is_empty() {
        return "nothing".to_owned();
    }
    visible(&entries.join(", ")).into_owned()
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
                "{}: allow {}, deny {}",
                file.display(),
                listed(&permissions.allow),
                listed(&permissions.deny)
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
    fn arguments_that_hide_the_stream_are_found() {
        let state = |args: &[&str]| {
            let args = args.iter().map(|arg| (*arg).to_owned()).collect();
            examine_args(&CliSpec {
                args,
                ..CliSpec::default()
            })
            .state
        };
        assert_eq!(examine_args(&CliSpec::default()).state, State::Good);
        assert_eq!(state(&["--output-format", "stream-json"]), State::Bad);
        assert_eq!(state(&["--print", "--output-format=json"]), State::Warning);
        assert_eq!(state(&["-p"]), State::Warning);
    }

    #[test]
    fn an_empty_key_is_worse_than_none_and_no_key_is_ever_shown() {
        assert_eq!(examine_key(None).state, State::Good);
        assert_eq!(examine_key(Some("")).state, State::Bad);
        assert!(!format!("{:?}", examine_key(Some("k3y"))).contains("k3y"));
    }

    #[test]
    fn a_denied_cueme_is_not_allowed_whatever_else_is() {
        assert!(permissions(r#"{"permissions":{"allow":["Shell(cueme)"],"deny":[]}}"#).allow_cueme());
        assert!(permissions(r#"{"permissions":{"allow":["Shell(cueme:cue*)"],"deny":[]}}"#).allow_cueme());
        assert!(
            !permissions(r#"{"permissions":{"allow":["Shell(*)"],"deny":["Shell(cueme)"]}}"#).allow_cueme()
        );
        assert!(!permissions(r#"{"version":1}"#).allow_cueme());
    }
}
