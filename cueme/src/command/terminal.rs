//! Which family of shells the caller types into, so that a human sees how to write commands there.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::surroundings::variable;

/// How many ancestors of this process are looked at: a shell may stand behind a wrapper or two.
const ANCESTORS_MAX: usize = 4;
/// How much of `/proc/<pid>/stat` is read: the pid, a name of at most 64 bytes, the state and the parent.
const STAT_BYTES: usize = 256;

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

/// Looks for a shell among the processes that started this one. Systems without `/proc` have none to offer.
fn by_ancestors() -> Option<&'static str> {
    let mut parent = rustix::process::getppid()?.as_raw_nonzero().get();
    for _ in 0..ANCESTORS_MAX {
        // What is wanted stands at the beginning: one read is enough.
        let mut beginning = [0; STAT_BYTES];
        let mut stat = File::open(format!("/proc/{parent}/stat")).ok()?;
        let count = stat.read(&mut beginning).ok()?;
        let stat = String::from_utf8_lossy(&beginning[..count]);
        let (name, grandparent) = parse_stat(&stat)?;
        if let Some(family) = family_of(name) {
            return Some(family);
        }
        parent = grandparent;
    }
    None
}

/// Reads the name and the parent out of `/proc/<pid>/stat`. The name may hold anything, even parentheses.
fn parse_stat(stat: &str) -> Option<(&str, i32)> {
    let (head, rest) = stat.rsplit_once(')')?;
    let (_, name) = head.split_once('(')?;
    let parent = rest.split_whitespace().nth(1)?.parse().ok()?;
    Some((name, parent))
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

    #[test]
    fn a_process_name_with_parentheses_does_not_confuse_its_parent() {
        assert_eq!(parse_stat("12 (a) b) S 7 1 1 0"), Some(("a) b", 7)));
        assert_eq!(parse_stat("nonsense"), None);
    }
}
