//! Builds the command line, the environment and the stdin of one turn.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::normalise::NormaliserOptions;
use crate::contract::{OutputFormat, Turn};
use crate::process::{CLI_NAMES, HumanTime};

/// Prompts above this many characters go to stdin, because command lines are limited.
pub const PROMPT_ARG_CHARS_MAX: usize = 4_000;
/// The default timeout of a turn.
pub const DEADLINE_DEFAULT: Duration = Duration::from_secs(600);
const PARTIAL_FLAG: &str = "--stream-partial-output";

/// The request for one turn.
#[derive(Debug, Clone)]
pub struct TurnRequest {
    /// The new message, with everything before it for CLIs that read the turn as JSON.
    pub turn: Turn,
    /// The chat to continue.
    pub resume: Option<String>,
    /// The directory in which the CLI runs.
    pub cwd: Option<PathBuf>,
    /// Added to the environment of this process, which is passed on in full.
    pub env: BTreeMap<String, String>,
    /// Knows how long the human takes; without it, all time is the agent's.
    pub human_time: Option<Arc<dyn HumanTime>>,
}

impl TurnRequest {
    /// Returns the newest message.
    pub fn prompt(&self) -> &str {
        self.turn.messages.last().map_or("", |message| &message.content)
    }
}

/// The settings of a CLI that are the same for every turn.
#[derive(Debug, Clone)]
pub struct CliSpec {
    /// The program's name or path.
    pub command: String,
    /// The arguments that are always passed.
    pub args: Vec<String>,
    /// Whether the prompt is an argument (Cursor's CLI) or part of a turn on stdin (custom CLIs).
    pub prompt_as_arg: bool,
    /// The length from which a prompt goes to stdin.
    pub prompt_arg_chars_max: usize,
    /// Whether the CLI may run every tool without asking.
    pub force: bool,
    /// Whether MCP servers are approved without asking.
    pub approve_mcps: bool,
    /// The model to name on the command line.
    pub model: Option<String>,
    /// The timeout of a turn.
    pub deadline: Duration,
}

impl Default for CliSpec {
    /// Returns Cursor's CLI with streamed partial output.
    fn default() -> Self {
        Self {
            command: CLI_NAMES[0].to_owned(),
            args: ["-p", "--output-format", "stream-json", PARTIAL_FLAG]
                .map(str::to_owned)
                .to_vec(),
            prompt_as_arg: true,
            prompt_arg_chars_max: PROMPT_ARG_CHARS_MAX,
            force: true,
            approve_mcps: true,
            model: None,
            deadline: DEADLINE_DEFAULT,
        }
    }
}

/// One prepared call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Invocation {
    pub(crate) args: Vec<String>,
    pub(crate) stdin: Stdin,
}

/// The content of the CLI's stdin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Stdin {
    /// Nothing; it is closed at once, because an open one makes the CLI wait.
    Closed,
    /// The prompt, then the end.
    Prompt(String),
    /// One line of JSON; it stays open so that the turn can be cancelled by a message.
    Turn(String),
}

impl CliSpec {
    /// Reads from the arguments how the output must be read.
    pub fn normaliser(&self) -> NormaliserOptions {
        NormaliserOptions {
            partial: self.args.iter().any(|arg| arg == PARTIAL_FLAG),
            format: OutputFormat::from_args(&self.args),
            ..NormaliserOptions::default()
        }
    }

    pub(crate) fn invocation(&self, request: &TurnRequest) -> Result<Invocation, serde_json::Error> {
        let mut args = self.args.clone();
        if !self.prompt_as_arg {
            let line = serde_json::to_string(&request.turn)? + "\n";
            return Ok(Invocation {
                args,
                stdin: Stdin::Turn(line),
            });
        }
        let mut push = |words: &[&str]| args.extend(words.iter().map(|word| (*word).to_owned()));
        if let Some(model) = &self.model {
            push(&["--model", model]);
        }
        if let Some(chat) = &request.resume {
            push(&["--resume", chat]);
        }
        if self.approve_mcps {
            push(&["--approve-mcps"]);
        }
        if self.force {
            push(&["--force"]);
        }
        let prompt = request.prompt();
        // A prompt that begins like an option would be read as one.
        let fits = prompt.chars().count() <= self.prompt_arg_chars_max && !prompt.starts_with('-');
        if fits && !prompt.is_empty() {
            push(&[prompt]);
            return Ok(Invocation {
                args,
                stdin: Stdin::Closed,
            });
        }
        Ok(Invocation {
            args,
            stdin: Stdin::Prompt(prompt.to_owned()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::Message;

    fn request(prompt: &str) -> TurnRequest {
        let turn = Turn {
            turn_id: "t".into(),
            messages: vec![Message::user(prompt)],
            tools: vec![],
        };
        TurnRequest {
            turn,
            resume: None,
            cwd: None,
            env: BTreeMap::new(),
            human_time: None,
        }
    }

    #[test]
    fn the_prompt_is_the_last_argument_after_the_headless_flags() {
        let spec = CliSpec {
            model: Some("m".into()),
            ..CliSpec::default()
        };
        let call = spec
            .invocation(&TurnRequest {
                resume: Some("c".into()),
                ..request("hello")
            })
            .unwrap();
        assert_eq!(
            call.args[4..],
            [
                "--model",
                "m",
                "--resume",
                "c",
                "--approve-mcps",
                "--force",
                "hello"
            ]
        );
        assert_eq!(call.stdin, Stdin::Closed);
    }

    #[test]
    fn a_long_prompt_or_one_like_an_option_goes_to_stdin() {
        let spec = CliSpec::default();
        for prompt in ["é".repeat(PROMPT_ARG_CHARS_MAX + 1), "--help".to_owned()] {
            let call = spec.invocation(&request(&prompt)).unwrap();
            assert_eq!(call.args.last().unwrap(), "--force");
            assert_eq!(call.stdin, Stdin::Prompt(prompt));
        }
        let call = spec
            .invocation(&request(&"é".repeat(PROMPT_ARG_CHARS_MAX)))
            .unwrap();
        assert_eq!(call.stdin, Stdin::Closed);
    }

    #[test]
    fn a_custom_cli_gets_the_turn_on_stdin_and_no_flags() {
        let spec = CliSpec {
            args: vec!["auto".into()],
            prompt_as_arg: false,
            ..CliSpec::default()
        };
        let call = spec.invocation(&request("hi")).unwrap();
        assert_eq!(call.args, ["auto"]);
        let Stdin::Turn(line) = call.stdin else {
            panic!("a turn")
        };
        assert!(line.starts_with(r#"{"type":"turn","turnId":"t""#) && line.ends_with("\n"));
    }
}
