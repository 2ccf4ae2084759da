//! Facts from the operating system about this call: the environment, the user, the executable.

use std::io;
use std::path::PathBuf;

use adapter_core::hap::TURN_ENV;
use protocol_spec::endpoint::{Environment, HOME_VARIABLE, Places, VARIABLES};
use protocol_spec::id::AgentId;

use crate::error::CliError;

/// The variable that tells an agent's commands its id.
pub(crate) const AGENT_VARIABLE: &str = "CUEME_AGENT_ID";

/// Returns the paths of this user's installation.
pub(crate) fn places() -> Result<Places, CliError> {
    let environment = Environment {
        variable: |name: &str| std::env::var_os(name),
        uid: uid(),
        is_macos: cfg!(target_os = "macos"),
    };
    Ok(Places::find(&environment)?)
}

/// Returns the variables that moved the places of this call, as they are set.
///
/// A program that is started without them looks for the broker elsewhere.
pub(crate) fn moved_places() -> Vec<(String, String)> {
    let set = |name: &str| Some((name.to_owned(), variable(name)?));
    // macOS has places of its own, which only CUEME_HOME moves.
    let others = VARIABLES.iter().filter(|_| cfg!(not(target_os = "macos")));
    match set(HOME_VARIABLE) {
        Some(home) => vec![home],
        None => others.filter_map(|name| set(name)).collect(),
    }
}

/// Returns the user this process runs as.
pub(crate) fn uid() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Returns the text of an environment variable that is set and not empty.
pub(crate) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Returns the agent that this call belongs to, when `cueme agent run` drives it.
///
/// Such an agent has joined already, under the id that its prompt names; joining again would make it another one.
pub(crate) fn driven_agent() -> Option<AgentId> {
    variable(TURN_ENV)?;
    variable(AGENT_VARIABLE)?.parse().ok()
}

/// Returns the name of this machine.
pub(crate) fn machine() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// Returns the name under which this person's decisions are recorded.
pub(crate) fn user() -> Option<String> {
    variable("USER").or_else(|| variable("LOGNAME"))
}

/// Returns the absolute paths by which this program is known: where it runs from, and how it was called.
pub(crate) fn own_paths() -> Vec<String> {
    let called = std::env::args_os().next().map(PathBuf::from);
    executable()
        .ok()
        .into_iter()
        .chain(called)
        .filter(|path| path.is_absolute())
        .filter_map(|path| path.into_os_string().into_string().ok())
        .collect()
}

/// Returns the file this program runs from.
///
/// Linux marks a file that was replaced while it ran; what stands there now is the newer program, and that is the one
/// to start.
pub(crate) fn executable() -> io::Result<PathBuf> {
    const REPLACED: &str = " (deleted)";
    let path = std::env::current_exe()?;
    let replaced = path
        .to_str()
        .and_then(|text| text.strip_suffix(REPLACED))
        .map(PathBuf::from)
        .filter(|original| !path.exists() && original.exists());
    Ok(replaced.unwrap_or(path))
}
