//! The result of a cloud run.

use serde::Serialize;
use serde_json::Value;

use super::session::Session;

/// The exit code of a run that succeeded.
pub const EXIT_SUCCESS: i32 = 0;
/// The exit code of a run that failed, whatever the reason.
pub const EXIT_FAILURE: i32 = 1;
/// The exit code of a run that was cancelled, as after an interrupt.
pub const EXIT_CANCELLED: i32 = 130;

/// The outcome of a run, for programs.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ExecutionResult {
    /// One of the constants of this module.
    pub exit_code: i32,
    /// Whether the run took longer than allowed and was stopped.
    pub timed_out: bool,
    /// Whether the run was ended from outside.
    pub cancelled: bool,
    /// Whether the agent works on although it is not followed any more.
    pub unattended: bool,
    /// Why the run did not succeed.
    pub error_message: Option<String>,
    /// The data that continues the conversation.
    #[serde(rename = "sessionParams")]
    pub session: Option<Session>,
    /// Always `cursor`.
    pub provider: &'static str,
    /// Always none: the API does not tell.
    pub usage: Option<Value>,
    /// Always none: the API does not tell.
    pub cost_usd: Option<f64>,
    /// The last status, what the run made, and the conversation as the API had it.
    pub result_json: Value,
}
