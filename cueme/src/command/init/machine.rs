//! Facts about this machine that an installation depends on.

use std::path::PathBuf;

use protocol_spec::endpoint::Places;
use protocol_spec::exit::Exit;
use runtimes::Runtime;
use runtimes::install::{Paths, apply};

use crate::environment;
use crate::error::CliError;

/// The name of our program in the settings of runtimes.
const PROGRAM: &str = "cueme";

/// The paths on this machine.
#[derive(Debug)]
pub(in crate::command) struct Machine {
    /// Our own files.
    pub(super) places: Places,
    /// The runtimes' files.
    pub(super) paths: Paths,
    /// The program that the runtimes are to call.
    pub(super) executable: PathBuf,
    /// The variables it must be called with to find our own files.
    pub(super) environment: Vec<(String, String)>,
}

impl Machine {
    /// Looks around.
    pub(in crate::command) fn find() -> Result<Self, CliError> {
        let project = std::env::current_dir().map_err(|error| {
            CliError::usage(format!("could not read the working directory: {error}"))
                .with_hint("change into a directory that exists and run it again")
        })?;
        let mut paths =
            Paths::from_environment(|name| std::env::var_os(name), &project).ok_or_else(|| {
                CliError::usage("HOME is not set, so the runtimes' settings cannot be found")
                    .with_hint("set HOME to your home folder")
            })?;
        apply::notice_spellings(&mut paths);
        let executable = environment::executable().map_err(|error| {
            CliError::new(
                Exit::Io,
                format!("could not find this program's own file: {error}"),
            )
        })?;
        Ok(Self {
            places: environment::places()?,
            paths,
            executable,
            environment: environment::moved_places(),
        })
    }

    /// Refuses to be written into settings under another name: what is called otherwise is not known again as ours.
    pub(super) fn check_name(&self) -> Result<(), CliError> {
        if self.executable.file_stem().is_some_and(|name| name == PROGRAM) {
            return Ok(());
        }
        let message = format!(
            "this program is called {}, but cueme recognises its hooks by the name {PROGRAM}",
            self.executable.display()
        );
        Err(CliError::usage(message).with_hint(format!("rename it to {PROGRAM} and run it again")))
    }

    /// Lists the runtimes that are installed here.
    pub(in crate::command) fn runtimes(&self) -> Vec<Runtime> {
        let search_path: Vec<PathBuf> = std::env::var_os("PATH")
            .map(|path| std::env::split_paths(&path).collect())
            .unwrap_or_default();
        apply::detect(&self.paths, &search_path)
    }
}
