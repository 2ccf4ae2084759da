//! The command lines that hosts run, and how to know one of ours again.

use crate::runtime::Runtime;

/// Writes the shell command by which a host calls our hook.
pub(super) fn hook_command(binary: &str, runtime: Runtime, event: &str) -> String {
    format!("{} hook {runtime} {event}", quoted(binary))
}

/// Tells whether a command line of a host's settings is one that we wrote.
///
/// Any binary called cueme counts, wherever it was: an update moves it, and a removal must find the old one.
pub(super) fn is_ours(command: &str) -> bool {
    let Some((program, _)) = command.split_once(" hook ") else {
        return false;
    };
    let program = program.trim().trim_matches(['"', '\'']);
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program);
    name == "cueme" || name == "cueme.exe"
}

fn quoted(binary: &str) -> String {
    if cfg!(windows) {
        return if binary.contains(' ') {
            format!("\"{binary}\"")
        } else {
            binary.to_owned()
        };
    }
    match shlex::try_quote(binary) {
        Ok(quoted) => quoted.into_owned(),
        // A path with a NUL byte cannot exist; the bare text at least shows what was meant.
        Err(_) => binary.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_commands_are_known_again_wherever_the_binary_was() {
        for binary in [
            "cueme",
            "/usr/bin/cueme",
            "/Users/a b/bin/cueme",
            r"C:\tools\cueme.exe",
        ] {
            let command = hook_command(binary, Runtime::Cursor, "stop");
            assert!(is_ours(&command), "{command}");
        }
        assert!(is_ours(
            "\"C:\\Program Files\\cueme\\cueme.exe\" hook cursor stop"
        ));
    }

    #[test]
    fn commands_of_others_are_not_ours() {
        for command in [
            "",
            "cueme",
            "notcueme hook x",
            "/bin/sh cueme-wrapper hook",
            "echo hook cueme",
            "my hook ",
        ] {
            assert!(!is_ours(command), "{command}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_path_with_a_blank_is_quoted() {
        assert_eq!(
            hook_command("/Users/a b/cueme", Runtime::Codex, "stop"),
            "'/Users/a b/cueme' hook codex stop"
        );
    }
}
