//! `cueme man`: manual pages, made from the same definition as the help.

use std::path::{Path, PathBuf};

use clap::{Args, CommandFactory};
use protocol_spec::exit::Exit;

use crate::cli::Cli;
use crate::error::CliError;
use crate::output;

/// Arguments of `man`.
#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// Print the page of this command instead of the whole program's
    #[arg(value_name = "COMMAND", conflicts_with = "directory")]
    command: Option<String>,
    /// Write all pages into this directory
    #[arg(long, value_name = "DIRECTORY")]
    directory: Option<PathBuf>,
}

pub(super) fn run(args: &ManArgs) -> Result<Exit, CliError> {
    match &args.directory {
        Some(directory) => write_all(directory)?,
        None => output::print(&page(args.command.as_deref())?)?,
    }
    Ok(Exit::Done)
}

fn definition() -> clap::Command {
    Cli::command().version(env!("CARGO_PKG_VERSION"))
}

fn write_all(directory: &Path) -> Result<(), CliError> {
    let failed = |error| CliError::io("write manual pages into", directory, &error);
    std::fs::create_dir_all(directory).map_err(failed)?;
    clap_mangen::generate_to(definition(), directory).map_err(failed)
}

/// Returns the page of one verb, or of the whole program, as roff.
fn page(verb: Option<&str>) -> Result<String, CliError> {
    let mut program = definition();
    program.build();
    let command = match verb {
        None => program,
        Some(verb) => program.find_subcommand(verb).cloned().ok_or_else(|| {
            CliError::usage(format!("there is no command `{verb}`"))
                .with_hint("run `cueme --help` to see all commands")
        })?,
    };
    let mut roff = Vec::new();
    clap_mangen::Man::new(command)
        .render(&mut roff)
        .map_err(|error| CliError::new(Exit::Io, format!("could not write the manual page: {error}")))?;
    Ok(String::from_utf8_lossy(&roff).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_verb_has_a_page_with_its_example() {
        let directory = tempfile::tempdir().expect("a directory");
        write_all(directory.path()).expect("the pages are written");
        for verb in Cli::command().get_subcommands() {
            let path = directory.path().join(format!("cueme-{}.1", verb.get_name()));
            let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path:?}: {error}"));
            assert!(text.contains("Examples:"), "{path:?}");
        }
        assert!(page(Some("fly")).is_err());
    }
}
