//! The arguments of `agent`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

pub(super) const EXAMPLES: &str = "\
Examples:
  cueme agent run \"fix the failing test\"
  cueme agent run --via acp --mode plan \"design the cache\"
  cueme agent run --resume latest \"now update the docs\"
  cueme agent run --json --activity - < task.md
  cueme agent replay turn.ndjson --partial --activity
  cueme agent models
  cueme agent doctor
  cueme agent new-chat

Models, profiles and fallbacks are read from openclaw.json beside cueme's own configuration, if it exists (cueme docs configuration).";

/// Arguments of `agent`.
#[derive(Debug, Args)]
#[command(arg_required_else_help = true)]
pub(crate) struct AgentArgs {
    /// The verb.
    #[command(subcommand)]
    pub(crate) verb: AgentVerb,
}

/// The verbs of `cueme agent`.
#[derive(Debug, Subcommand)]
pub(crate) enum AgentVerb {
    /// Give the agent a task, and continue until you end the run: with `cueme answer CUE_ID --done`, "Finish and end the run" on the page, or a decline
    Run(AgentRunArgs),
    /// Convert a recorded stream to contract events
    Replay(AgentReplayArgs),
    /// List the models of the CLI
    Models(AgentModelsArgs),
    /// Check that a turn can run, and show what prevents it
    Doctor(AgentDoctorArgs),
    /// Create an empty chat and print its id
    NewChat(AgentNewChatArgs),
}

/// Arguments of `agent run`.
#[derive(Debug, Args)]
pub(crate) struct AgentRunArgs {
    /// The task, or `-` to read it from stdin
    #[arg(value_name = "PROMPT", required = true)]
    pub(crate) prompt: Vec<String>,
    /// A model of the configuration, or a name that the CLI knows
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// Working directory of the agent
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
    /// Continue a chat: its id, or `latest` for the newest of the directory
    #[arg(long, value_name = "CHAT")]
    pub(crate) resume: Option<String>,
    /// How cueme drives the CLI; by default, over ACP if the CLI supports it
    #[arg(long, value_name = "WAY", value_enum)]
    pub(crate) via: Option<Via>,
    /// When tools need your permission; by default, always over ACP and never in the stream
    #[arg(long, value_name = "MODE", value_enum)]
    pub(crate) permission: Option<Permission>,
    /// The CLI's mode, such as plan or ask
    #[arg(long, value_name = "MODE")]
    pub(crate) mode: Option<String>,
    /// Let the CLI work in a git worktree of this name
    #[arg(long, value_name = "NAME")]
    pub(crate) worktree: Option<String>,
    /// Continue the CLI's last chat
    #[arg(long = "continue", conflicts_with = "resume")]
    pub(crate) continue_last: bool,
    /// Trust the directory, so that the CLI does not ask
    #[arg(long)]
    pub(crate) trust: bool,
    /// Whether commands run in the CLI's sandbox
    #[arg(long, value_name = "MODE", value_enum)]
    pub(crate) sandbox: Option<Sandbox>,
    /// Run one turn, without the check that the agent asks you
    #[arg(long)]
    pub(crate) no_hap: bool,
    /// End the run at the end of the first turn after your answer
    #[arg(long, conflicts_with = "no_hap")]
    pub(crate) once: bool,
    /// Include the CLI's own tools in the events, with their inputs, outputs and diffs
    #[arg(long)]
    pub(crate) activity: bool,
    /// Print contract events, one JSON object per line; the default without a terminal
    #[arg(long)]
    pub(crate) json: bool,
}

/// The permissions of the CLI.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Permission {
    /// The CLI's configuration decides.
    Default,
    /// Every tool that is not denied runs.
    Force,
}

/// How an agent is driven.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Via {
    /// The Agent Client Protocol: questions reach you within the turn.
    Acp,
    /// The stream of the CLI: the agent asks with `cueme cue`.
    Stream,
}

/// The CLI's sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Sandbox {
    /// Commands run inside the sandbox.
    Enabled,
    /// Commands run outside the sandbox.
    Disabled,
}

/// How a recording was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Recorded {
    /// One event a line.
    StreamJson,
    /// One document.
    Json,
    /// The answer and nothing else.
    Text,
}

/// Arguments of `agent replay`.
#[derive(Debug, Args)]
pub(crate) struct AgentReplayArgs {
    /// The recording, or `-` for stdin
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// The stream was recorded with --stream-partial-output
    #[arg(long)]
    pub(crate) partial: bool,
    /// The --output-format of the recording
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = Recorded::StreamJson)]
    pub(crate) output_format: Recorded,
    /// Include the CLI's own tools in the events, with their inputs, outputs and diffs
    #[arg(long)]
    pub(crate) activity: bool,
    /// The stderr of the recorded process
    #[arg(long, value_name = "FILE")]
    pub(crate) stderr: Option<PathBuf>,
    /// The exit code of the recorded process; by default, 0
    #[arg(long, value_name = "CODE")]
    pub(crate) exit: Option<i32>,
}

/// Arguments of `agent models`.
#[derive(Debug, Args)]
pub(crate) struct AgentModelsArgs {
    /// Print a JSON array
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `agent doctor`.
#[derive(Debug, Args)]
pub(crate) struct AgentDoctorArgs {
    /// Also run one short turn, which uses a few tokens
    #[arg(long)]
    pub(crate) turn: bool,
    /// Print a JSON array
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `agent new-chat`.
#[derive(Debug, Args)]
pub(crate) struct AgentNewChatArgs {
    /// The directory of the chat
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
}
