//! `cueme agent replay`: prints a recorded stream as contract events.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use adapter_core::contract::{Ending, OutputFormat};
use adapter_core::cursor::cli::{NormaliserOptions, ReplayOptions, replay};
use protocol_spec::exit::Exit;

use super::failed::TURN_FAILED;
use super::tools::NAMES;
use crate::cli::{AgentReplayArgs, Recorded};
use crate::error::CliError;
use crate::output::JsonLines;

/// The most bytes of a recorded stderr that are read.
const STDERR_BYTES_MAX: u64 = 1024 * 1024;

pub(super) fn run(args: &AgentReplayArgs) -> Result<Exit, CliError> {
    let options = ReplayOptions {
        normaliser: NormaliserOptions {
            partial: args.partial,
            activity: args.activity,
            details: args.activity,
            format: match args.output_format {
                Recorded::StreamJson => OutputFormat::StreamJson,
                Recorded::Json => OutputFormat::Json,
                Recorded::Text => OutputFormat::Text,
            },
            registered: NAMES.map(str::to_owned).into(),
        },
        exit: args.exit,
        stderr: args
            .stderr
            .as_deref()
            .map(read_stderr)
            .transpose()?
            .unwrap_or_default(),
    };
    let output = JsonLines::new();
    let ending = if args.file == Path::new("-") {
        replay(io::stdin().lock(), output, options)
    } else {
        replay(open(&args.file)?, output, options)
    };
    match ending {
        Ok(Ending::Done(_)) => Ok(Exit::Done),
        Ok(Ending::Error(_)) => Ok(TURN_FAILED),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Err(CliError::silent(Exit::Done)),
        Err(error) => Err(CliError::io("replay", &args.file, &error)),
    }
}

fn open(path: &Path) -> Result<File, CliError> {
    File::open(path).map_err(|error| CliError::io("open", path, &error).with_exit(Exit::Usage))
}

fn read_stderr(path: &Path) -> Result<String, CliError> {
    let mut bytes = Vec::new();
    open(path)?
        .take(STDERR_BYTES_MAX)
        .read_to_end(&mut bytes)
        .map_err(|error| CliError::io("read", path, &error))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
