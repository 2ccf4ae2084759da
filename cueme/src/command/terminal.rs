//! Detects the caller's family of shells, so that a human sees how to write commands there.

use std::path::Path;

use crate::environment::variable;
use crate::process_tree::ancestors;

/// The number of ancestors of this process that are checked: a shell may stand behind a wrapper or two.
const ANCESTORS_MAX: usize = 4;

/// Returns the shell family, or `unknown`.
pub(super) fn family() -> &'static str {
    by_ancestors().or_else(by_environment).unwrap_or("unknown")
}

fn by_environment() -> Option<&'static str> {
    if variable("NU_VERSION").is_some() {
        return Some("nushell");
    }
    let shell = variable("SHELL").and_then(|shell| family_of(&shell));
    shell.or_else(|| variable("PSModulePath").map(|_| "powershell"))
}

/// Looks for a shell among the processes that started this one.
fn by_ancestors() -> Option<&'static str> {
    ancestors()
        .iter()
        .take(ANCESTORS_MAX)
        .find_map(|process| family_of(&process.name))
}

fn family_of(shell: &str) -> Option<&'static str> {
    let name = Path::new(shell).file_name()?.to_str()?;
    let name = name.strip_prefix('-').unwrap_or(name).to_ascii_lowercase();
    match name.strip_suffix(".exe").unwrap_or(&name) {
        "zsh" => Some("zsh"),
        "bash" | "sh" | "dash" | "ash" | "ksh" => Some("bash"),
        "fish" => Some("fish"),
        "nu" | "nushell" => Some("nushell"),
        "pwsh" | "powershell" => Some("powershell"),
        "cmd" => Some("cmd"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shells_are_known_by_their_program_wherever_it_is() {
        for (shell, family) in [
            ("/bin/zsh", Some("zsh")),
            ("-bash", Some("bash")),
            ("/usr/local/bin/fish", Some("fish")),
            ("nu", Some("nushell")),
            ("pwsh", Some("powershell")),
            ("cmd.exe", Some("cmd")),
            ("node", None),
            ("", None),
        ] {
            assert_eq!(family_of(shell), family, "{shell}");
        }
    }
}
