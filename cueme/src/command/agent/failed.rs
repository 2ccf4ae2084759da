//! From an error of the contract to one of this program.

use adapter_core::contract::ErrorData;
use protocol_spec::exit::Exit;

use crate::error::CliError;

/// How a call ends whose turn failed.
pub(super) const TURN_FAILED: Exit = Exit::NotFound;

/// Describes why the CLI did not do what was asked.
pub(super) fn failed(error: &ErrorData) -> CliError {
    let described = CliError::new(TURN_FAILED, format!("{}: {}", error.code, error.message));
    match &error.remedy {
        Some(remedy) => described.with_hint(remedy),
        None => described,
    }
}
