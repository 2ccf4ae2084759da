//! The kinds of failure a turn can have, what each means for a retry, and what the human can do.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The recovery that may be tried after a failure, before the human is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recovery {
    /// Nothing: the next attempt would fail in the same way.
    None,
    /// Another auth profile may be accepted.
    Profile,
    /// Another auth profile, then a model that has a profile of its own, may be accepted.
    ProfileThenAccount,
    /// A retry of the same model after a pause, then another model, may work.
    RetryThenModel,
    /// Another auth profile, then another model, may work.
    ProfileThenModel,
    /// Another model may work.
    Model,
}

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $text:literal, $recovery:ident, $remedy:expr;)*) => {
        /// The kind of a failure; written as the upper-case words of the contract.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub enum ErrorCode {
            $($(#[$doc])* $name,)*
            /// A code this adapter did not choose, passed through from a custom CLI.
            Other(String),
        }

        impl ErrorCode {
            /// Returns the code as the contract writes it.
            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$name => $text,)*
                    Self::Other(code) => code,
                }
            }

            /// Returns what may be tried before giving up.
            pub fn recovery(&self) -> Recovery {
                match self {
                    $(Self::$name => Recovery::$recovery,)*
                    Self::Other(_) => Recovery::None,
                }
            }

            /// Returns what the human can do about it.
            pub fn remedy(&self) -> Option<&'static str> {
                match self {
                    $(Self::$name => $remedy,)*
                    Self::Other(_) => None,
                }
            }

            /// Reads a code; an unknown one is kept as it is.
            pub fn parse(text: &str) -> Self {
                match text {
                    $($text => Self::$name,)*
                    other => Self::Other(other.to_owned()),
                }
            }

            /// Returns every code this adapter gives by itself.
            pub fn all() -> Vec<Self> {
                vec![$(Self::$name,)*]
            }
        }
    };
}

codes! {
    /// No account is logged in, or the key was refused.
    ModelAuth = "MODEL_AUTH_ERROR", ProfileThenAccount,
        Some("run `agent login`, check it with `agent status`, or set CURSOR_API_KEY");
    /// The chat to resume does not exist here.
    SessionNotFound = "SESSION_NOT_FOUND", None,
        Some("chats belong to a directory: check --cwd, list them with `agent ls`, or start one with `cueme agent new-chat`");
    /// The CLI is not installed or not on the PATH.
    CommandNotFound = "COMMAND_NOT_FOUND", None,
        Some("install the Cursor CLI, or add its directory to PATH: export PATH=\"$HOME/.local/bin:$PATH\"; check with `cueme agent doctor`");
    /// The CLI, or the system, refused an operation.
    PermissionDenied = "PERMISSION_DENIED", None,
        Some("run with --permission force, or allow the command in ~/.cursor/cli-config.json (`cueme init cursor` does it for cueme)");
    /// Another process holds the chat's database.
    DatabaseLocked = "DATABASE_LOCKED", None,
        Some("wait for the other turn of this chat to finish, or start a new one with `cueme agent new-chat`");
    /// Too many requests for now.
    RateLimited = "RATE_LIMITED", ProfileThenModel,
        Some("wait a little and run it again, or add a fallback model or auth profile");
    /// The plan's allowance is used up.
    ///
    /// Another account may help; another model is the human's choice, because it may cost more.
    QuotaExceeded = "QUOTA_EXCEEDED", Profile,
        Some("the plan's allowance is used up: raise the limit in Cursor's dashboard, or choose another model yourself with --model");
    /// The plan does not include the model.
    ///
    /// Another account may include it; another model is the human's choice.
    PlanLimit = "PLAN_LIMIT", Profile,
        Some("this plan does not include the model: use --model auto, or upgrade the plan");
    /// The CLI asks whether this directory may be trusted.
    TrustRequired = "WORKSPACE_TRUST_REQUIRED", None,
        Some("run `agent` once in that directory and accept it, or pass --trust in the model's args");
    /// The model's name was refused.
    BadModel = "MODEL_NOT_FOUND", Model,
        Some("list the models that you can use with `cueme agent models`, and choose one with --model");
    /// The CLI does not know one of our options.
    UnknownOption = "CLI_UNKNOWN_OPTION", None,
        Some("update the CLI with `agent update`, or remove the option from the model's args");
    /// The CLI could not reach its server.
    Network = "NETWORK_ERROR", RetryThenModel,
        Some("check the connection, a VPN and the proxy, then go on in the same chat with `cueme agent run --resume latest`");
    /// The CLI reported a failure in its result.
    Model = "MODEL_ERROR", Model, None;
    /// A frame that is not JSON, or an unsupported protocol version.
    Protocol = "PROTOCOL_ERROR", Model,
        Some("the CLI must write one JSON object per line: use -p --output-format stream-json and keep stderr apart from stdout");
    /// A line above the cap.
    LineTooLong = "LINE_TOO_LONG", None,
        Some("one event was larger than the adapter accepts; ask for smaller tool results");
    /// The stream broke off in the middle of a line.
    Truncated = "STREAM_TRUNCATED", None,
        Some("the CLI ended in the middle of an event; the text so far was delivered, run the turn again");
    /// The CLI ended without a word.
    NoOutput = "NO_OUTPUT", Model,
        Some(DEBUG_STEPS);
    /// The CLI failed with an exit code.
    CliExit = "CLI_EXIT", Model,
        Some(DEBUG_STEPS);
    /// The CLI could not be started.
    Spawn = "SPAWN_FAILED", None,
        Some("check the command in openclaw.json and that the file is executable; `cueme agent doctor` shows what was found");
    /// The deadline of the turn passed.
    Timeout = "TIMEOUT", None,
        Some("raise timeoutMs of the model, or ask for less in one turn");
    /// The caller cancelled the turn.
    Cancelled = "CANCELLED", None, None;
    /// The human was not asked, and could not be.
    HapIncomplete = "HAP_INCOMPLETE", None,
        Some("start the broker with `cueme broker run` and ask the agent again");
    /// The conversation went on for too long.
    TurnLimit = "TURN_LIMIT", None,
        Some("nothing is lost: go on in the same chat with `cueme agent run --resume latest`");
    /// The agent kept calling tools.
    ToolLimit = "TOOL_LIMIT", None,
        Some("ask for less in one turn, or check what the tools answer");
    /// The configuration is wrong.
    Config = "CONFIG_ERROR", None, None;
}

/// The steps to try when the CLI fails without a reason.
const DEBUG_STEPS: &str = "run `agent -p --output-format stream-json --stream-partial-output \"hello\"` in a terminal: \
if it answers there and not here, it does not support pipes; if it prints nothing, a login, a configuration file or \
an environment variable is missing; `cueme agent doctor` checks all of these";

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for ErrorCode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for ErrorCode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'_, str>::deserialize(deserializer)?;
        Ok(Self::parse(&text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_reads_back_as_itself() {
        for code in ErrorCode::all() {
            assert_eq!(ErrorCode::parse(code.as_str()), code);
        }
        assert_eq!(ErrorCode::parse("WEIRD"), ErrorCode::Other("WEIRD".into()));
    }

    #[test]
    fn an_exhausted_quota_never_changes_the_model_by_itself() {
        assert_eq!(ErrorCode::QuotaExceeded.recovery(), Recovery::Profile);
    }

    #[test]
    fn the_errors_a_human_can_fix_say_how() {
        for code in [
            ErrorCode::ModelAuth,
            ErrorCode::SessionNotFound,
            ErrorCode::CommandNotFound,
        ] {
            assert!(code.remedy().is_some(), "{code}");
        }
    }
}
