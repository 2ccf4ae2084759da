//! Builds the command lines that hosts run, and recognises ours.

use super::Request;

/// Writes the shell command by which a host calls our hook, with the variables that it needs.
///
/// They are given through `env`, which works with and without a shell.
pub(super) fn hook_command(request: &Request<'_>, event: &str) -> String {
    let mut words = Vec::new();
    let environment = request.environment();
    if !environment.is_empty() && !cfg!(windows) {
        words.push("env".to_owned());
        words.extend(
            environment
                .iter()
                .map(|(name, value)| quoted(&format!("{name}={value}"))),
        );
    }
    words.push(quoted(request.binary));
    words.extend(["hook", request.runtime.tag(), event].map(str::to_owned));
    words.join(" ")
}

/// Tells whether a command line of a host's settings is one that we wrote.
///
/// Any binary called cueme counts, wherever it was: an update moves it, and a removal must find the old one.
pub(super) fn is_ours(command: &str) -> bool {
    let Some((call, _)) = command.split_once(" hook ") else {
        return false;
    };
    // Windows paths have backslashes that a shell would take away, so they are read as they stand.
    let words = shlex::split(call).filter(|_| !call.contains('\\'));
    let program = match words.as_deref() {
        Some([program]) => program.as_str(),
        Some([env, assigned @ .., program])
            if env == "env" && assigned.iter().all(|word| word.contains('=')) =>
        {
            program.as_str()
        }
        Some(_) => return false,
        None => call.trim().trim_matches(['"', '\'']),
    };
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
    use std::path::Path;

    use super::*;
    use crate::{
        Language, Runtime,
        install::{Extras, Paths, Scope, Wish},
    };

    fn command(binary: &str, runtime: Runtime, scope: Scope, environment: &[(&str, &str)]) -> String {
        let environment: Vec<(String, String)> = environment
            .iter()
            .map(|(name, value)| (String::from(*name), String::from(*value)))
            .collect();
        let request = Request {
            runtime,
            scope,
            paths: &Paths::new(Path::new("/home/ana"), Path::new("/p")),
            binary,
            environment: &environment,
            language: Language::English,
            extras: Extras::default(),
            wish: Wish::Install,
        };
        hook_command(&request, "stop")
    }

    #[test]
    fn our_commands_are_known_again_wherever_the_binary_was() {
        for binary in [
            "cueme",
            "/usr/bin/cueme",
            "/Users/a b/bin/cueme",
            r"C:\tools\cueme.exe",
        ] {
            for environment in [&[][..], &[("CUEME_HOME", "/srv/my cueme")]] {
                let command = command(binary, Runtime::Cursor, Scope::User, environment);
                assert!(is_ours(&command), "{command}");
            }
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
            "env A=1 other hook x",
            "mine && cueme hook x",
        ] {
            assert!(!is_ours(command), "{command}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_path_with_a_blank_is_quoted() {
        assert_eq!(
            command("/Users/a b/cueme", Runtime::Codex, Scope::User, &[]),
            "'/Users/a b/cueme' hook codex stop"
        );
    }

    #[cfg(unix)]
    #[test]
    fn what_moves_our_broker_is_named_in_files_of_the_user_and_not_in_shared_ones() {
        let moved = [("CUEME_HOME", "/srv/my cueme")];
        assert_eq!(
            command("/usr/bin/cueme", Runtime::Codex, Scope::User, &moved),
            "env 'CUEME_HOME=/srv/my cueme' /usr/bin/cueme hook codex stop"
        );
        assert_eq!(
            command("cueme", Runtime::Codex, Scope::Project, &moved),
            "cueme hook codex stop"
        );
    }
}
