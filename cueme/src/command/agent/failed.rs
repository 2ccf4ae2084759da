//! Converts an error of the contract into one of this program, and logs it.

use std::ffi::OsString;

use adapter_core::contract::{Ending, ErrorCode, ErrorData, Exit as Exited, TurnReport};
use adapter_core::cursor::cli::version;
use protocol_spec::exit::Exit;
use protocol_spec::truncate::tail;

use super::transport::Driver;
use super::view::View;
use crate::error::CliError;
use adapter_core::process::locate;

/// The exit code of a call whose turn failed.
pub(super) const TURN_FAILED: Exit = Exit::NotFound;
/// The size of the tail of a stderr that is logged.
const STDERR_LOGGED_BYTES_MAX: usize = 4096;

/// Describes why the CLI did not do what was asked.
pub(super) fn failed(error: &ErrorData) -> CliError {
    let described = CliError::new(TURN_FAILED, format!("{}: {}", error.code, error.message));
    match &error.remedy {
        Some(remedy) => described.with_hint(remedy),
        None => described,
    }
}

/// Logs all that is known of a turn that failed: what was said, how the process ended, which version it was.
pub(super) async fn log_failure(view: &View, driver: &mut Driver, report: &TurnReport) {
    let Ending::Error(error) = &report.ending else {
        return;
    };
    if error.code == ErrorCode::Cancelled {
        return;
    }
    let exit = report
        .exit
        .map_or_else(|| "it did not start".to_owned(), Exited::words);
    let stderr = match report.stderr.trim() {
        "" => "(nothing)",
        words => words,
    };
    view.log(&format!(
        "turn failed: {}: {}; {exit}; version {}; the end of its stderr: {}",
        error.code,
        error.message,
        version_of(driver).await,
        tail(stderr, STDERR_LOGGED_BYTES_MAX)
    ));
}

/// Returns the version in the words of the CLI.
async fn version_of(driver: &mut Driver) -> String {
    let Some(agent) = driver.stream() else {
        return "unknown".to_owned();
    };
    // The effect of `--version` on a custom CLI is unknown, so only a CLI that takes its prompt as an argument gets it.
    let spec = agent.config.spec(&agent.model).filter(|spec| spec.prompt_as_arg);
    let command = spec.map(|spec| spec.command);
    let path = agent
        .env
        .get("PATH")
        .map(OsString::from)
        .or_else(|| std::env::var_os("PATH"));
    let program = command.and_then(|command| locate(&command, path.as_deref()));
    match program {
        Some(program) => version(&program).await.unwrap_or_else(|_| "unknown".to_owned()),
        None => "unknown".to_owned(),
    }
}
