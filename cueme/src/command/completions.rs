//! `cueme completions`: what a shell needs to complete our command line. The shell asks this program for each word.

use clap_complete::env::Shells;
use protocol_spec::exit::Exit;

use crate::cli::{COMPLETE_ENV, CompletionsArgs};
use crate::error::CliError;
use crate::output;

pub(super) fn run(args: &CompletionsArgs) -> Result<Exit, CliError> {
    output::print(&script(&args.shell.to_string())?)?;
    Ok(Exit::Done)
}

fn script(shell: &str) -> Result<String, CliError> {
    let mut script = Vec::new();
    let shells = Shells::builtins();
    let known = shells
        .completer(shell)
        .ok_or_else(|| CliError::usage(format!("there are no completions for {shell}")))?;
    known
        .write_registration(COMPLETE_ENV, "cueme", "cueme", "cueme", &mut script)
        .map_err(|error| CliError::new(Exit::Io, format!("could not write the script: {error}")))?;
    Ok(String::from_utf8_lossy(&script).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Cli;
    use clap::{CommandFactory, ValueEnum};

    #[test]
    fn every_shell_gets_a_script_that_asks_us() {
        for shell in clap_complete::Shell::value_variants() {
            let script = script(&shell.to_string()).unwrap();
            assert!(
                script.contains(COMPLETE_ENV) && script.contains("cueme"),
                "{script}"
            );
        }
    }

    #[test]
    fn every_verb_is_completed() {
        let words = ["cueme", ""].map(Into::into).to_vec();
        let found = clap_complete::engine::complete(&mut Cli::command(), words, 1, None).unwrap();
        let found: Vec<_> = found.iter().map(|found| found.get_value().to_owned()).collect();
        for verb in Cli::command().get_subcommands() {
            assert!(found.contains(&verb.get_name().into()), "{}", verb.get_name());
        }
    }
}
