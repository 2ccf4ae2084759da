//! The result of a tool call, from the host's own record.

/// The result of a call.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum CallResult {
    /// The host recorded nothing.
    #[default]
    Unknown,
    /// It succeeded: exit code 0, or no error of a tool that has none.
    Succeeded,
    /// It was refused, cancelled, or failed.
    Failed {
        /// The exit code of a command that ran.
        exit: Option<i64>,
    },
    /// It still runs in the background.
    Running {
        /// The name under which the host lets the agent read its output.
        handle: Option<String>,
    },
}

impl CallResult {
    /// Returns the result of a command that exited with this code.
    pub fn of_exit(code: i64) -> Self {
        if code == 0 {
            Self::Succeeded
        } else {
            Self::Failed { exit: Some(code) }
        }
    }

    /// Returns the result of a call of which only success or failure is known.
    pub fn of_success(is_success: bool) -> Self {
        if is_success {
            Self::Succeeded
        } else {
            Self::Failed { exit: None }
        }
    }
}
