//! `cueme completions`: what a shell needs to complete our command line.

use clap::CommandFactory;
use protocol_spec::exit::Exit;

use crate::cli::{Cli, CompletionsArgs};
use crate::error::CliError;
use crate::output;

pub(super) fn run(args: &CompletionsArgs) -> Result<Exit, CliError> {
    output::print(&script(args.shell))?;
    Ok(Exit::Done)
}

fn script(shell: clap_complete::Shell) -> String {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "cueme", &mut script);
    String::from_utf8_lossy(&script).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::ValueEnum;

    #[test]
    fn every_shell_learns_every_verb() {
        for shell in clap_complete::Shell::value_variants() {
            let script = script(*shell);
            for verb in Cli::command().get_subcommands() {
                assert!(
                    script.contains(verb.get_name()),
                    "{shell} does not know {}",
                    verb.get_name()
                );
            }
        }
    }
}
