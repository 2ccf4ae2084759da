//! The error of a call: an exit code, the reason, and the next command to type.

use std::fmt;
use std::io;
use std::path::Path;

use protocol_spec::answer::AnswerError;
use protocol_spec::endpoint::EndpointError;
use protocol_spec::envelope::EnvelopeError;
use protocol_spec::exit::Exit;
use protocol_spec::frame::FrameError;
use protocol_spec::id::IdError;
use protocol_spec::message::Failure;
use runtimes::install::ApplyError;

use crate::display::visible;
use crate::output;

/// Why a call failed.
#[derive(Debug)]
pub(crate) struct CliError {
    exit: Exit,
    /// A lowercase fragment; empty when there is nothing left to say.
    message: String,
    hint: Option<String>,
    /// A valid call.
    example: Option<String>,
    /// Whether a proxy may have said it while the broker behind it was replaced.
    is_of_proxy: bool,
}

impl CliError {
    /// Describes a failure.
    pub(crate) fn new(exit: Exit, message: impl Into<String>) -> Self {
        Self {
            exit,
            message: message.into(),
            hint: None,
            example: None,
            is_of_proxy: false,
        }
    }

    /// Describes a wrong call.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(Exit::Usage, message)
    }

    /// Describes that there is no broker to talk to.
    pub(crate) fn no_broker(message: impl Into<String>) -> Self {
        Self::new(Exit::NoBroker, message)
    }

    /// Describes what the file system refused: what was attempted, on which path.
    pub(crate) fn io(doing: &str, path: &Path, source: &io::Error) -> Self {
        Self::new(
            Exit::Io,
            format!("could not {doing} {}: {source}", path.display()),
        )
    }

    /// Ends the call without a word, because everything was said already.
    pub(crate) fn silent(exit: Exit) -> Self {
        Self::new(exit, "")
    }

    /// Adds the next thing to do.
    #[must_use]
    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds a valid call.
    #[must_use]
    pub(crate) fn with_example(mut self, example: impl Into<String>) -> Self {
        self.example = Some(example.into());
        self
    }

    /// Replaces the exit code.
    #[must_use]
    pub(crate) fn with_exit(mut self, exit: Exit) -> Self {
        self.exit = exit;
        self
    }

    /// Notes that a proxy may have said it while the broker behind it was replaced.
    #[must_use]
    pub(crate) fn said_by_proxy(mut self) -> Self {
        self.is_of_proxy = true;
        self
    }

    /// Says whether a proxy may have said it while the broker behind it was replaced.
    pub(crate) fn is_of_proxy(&self) -> bool {
        self.is_of_proxy
    }

    /// Says whether the call itself is wrong, so that the same call fails again.
    pub(crate) fn is_usage(&self) -> bool {
        self.exit == Exit::Usage
    }

    /// Says on stderr what went wrong, and returns how to end.
    pub(crate) fn report(&self) -> Exit {
        if !self.message.is_empty() {
            // It may quote an agent's words.
            output::tell(&visible(&self.to_string()));
        }
        self.exit
    }
}

impl fmt::Display for CliError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "error: {}", self.message)?;
        if let Some(hint) = &self.hint {
            write!(formatter, "\nhint: {hint}")?;
        }
        match &self.example {
            Some(example) => write!(formatter, "\nexample:\n{example}"),
            None => Ok(()),
        }
    }
}

impl From<Failure> for CliError {
    fn from(failure: Failure) -> Self {
        Self {
            exit: failure.code.exit(),
            message: failure.message,
            hint: failure.hint,
            example: None,
            is_of_proxy: false,
        }
    }
}

impl From<EnvelopeError> for CliError {
    fn from(error: EnvelopeError) -> Self {
        Self::usage(error.to_string()).with_hint(error.hint())
    }
}

impl From<AnswerError> for CliError {
    fn from(error: AnswerError) -> Self {
        Self::usage(error.to_string()).with_hint(error.hint())
    }
}

impl From<EndpointError> for CliError {
    fn from(error: EndpointError) -> Self {
        Self::no_broker(error.to_string())
            .with_hint("set CUEME_HOME to an absolute path in your own directories")
    }
}

impl From<ApplyError> for CliError {
    fn from(error: ApplyError) -> Self {
        let hint = match &error {
            ApplyError::Io { .. } => "correct the permissions or free some space, and run it again",
            ApplyError::Changed { .. } => "run the same command again",
            ApplyError::TooLarge { .. } | ApplyError::LinkOutside { .. } | ApplyError::Record { .. } => {
                "look at that file; nothing was changed"
            }
        };
        Self::new(Exit::Io, error.to_string()).with_hint(hint)
    }
}

impl From<FrameError> for CliError {
    fn from(error: FrameError) -> Self {
        Self::usage(error.to_string())
            .with_hint("put long material into a file and name its path in the prompt")
    }
}

impl From<IdError> for CliError {
    fn from(error: IdError) -> Self {
        let hint = match &error {
            IdError::Agent(_) => {
                "use the agent_id that `cueme join <agent_runtime>` printed, or find it with `cueme recall <words>`"
                    .to_owned()
            }
            IdError::Cue(_) => "`cueme inbox` lists the open questions".to_owned(),
            IdError::Runtime { corrected: Some(tag), .. } => format!("run `cueme join {tag}`"),
            IdError::Runtime { corrected: None, .. } => {
                "name where you run, such as `cueme join cursor` or `cueme join claude_code`".to_owned()
            }
        };
        Self::usage(error.to_string()).with_hint(hint)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol_spec::id::RuntimeTag;
    use protocol_spec::message::ErrorCode;

    #[test]
    fn an_error_reads_as_a_fragment_and_the_next_command() {
        let error = CliError::usage("no text was given").with_hint("run `cueme say bako-nefi \"hello\"`");
        assert_eq!(
            error.to_string(),
            "error: no text was given\nhint: run `cueme say bako-nefi \"hello\"`"
        );
    }

    #[test]
    fn a_failure_of_the_broker_keeps_its_exit_code_and_hint() {
        let failure = Failure::new(ErrorCode::UnknownAgent, "no agent x").with_hint("join first");
        let error = CliError::from(failure);
        assert_eq!(
            (error.exit, error.hint.as_deref()),
            (Exit::UnknownAgent, Some("join first"))
        );
    }

    #[test]
    fn a_wrong_runtime_tag_is_answered_with_the_right_call() {
        let error = CliError::from("Claude Code".parse::<RuntimeTag>().unwrap_err());
        assert_eq!(error.hint.as_deref(), Some("run `cueme join claude_code`"));
        assert_eq!(error.exit, Exit::Usage);
    }
}
