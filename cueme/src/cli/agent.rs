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

Models, profiles and fallbacks are read from openclaw.json beside cueme's own configuration, if it exists.";

/// Arguments of `agent`.
#[derive(Debug, Args)]
#[command(arg_required_else_help = true)]
pub(crate) struct AgentArgs {
    /// What to do with it.
    #[command(subcommand)]
    pub(crate) verb: AgentVerb,
}

/// The verbs of `cueme agent`.
#[derive(Debug, Subcommand)]
pub(crate) enum AgentVerb {
    /// Give it a task, and go on until you end the run: `cueme answer CUE_ID --done`, "Done" on the page, or a decline
    Run(AgentRunArgs),
    /// Turn a recorded stream into contract events
    Replay(AgentReplayArgs),
    /// List the models it can use
    Models(AgentModelsArgs),
    /// Check that a turn could run, and say what is in the way
    Doctor(AgentDoctorArgs),
    /// Make an empty chat and print its id
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
    /// Where the agent works
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
    /// Continue a chat: its id, or `latest` for the newest of the directory
    #[arg(long, value_name = "CHAT")]
    pub(crate) resume: Option<String>,
    /// How it is driven; without it, over ACP where the CLI offers that
    #[arg(long, value_name = "WAY", value_enum)]
    pub(crate) via: Option<Via>,
    /// Whether its tools run without asking: you are asked over ACP, and the stream forces them, unless you say otherwise
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
    /// Trust the directory without the CLI's question
    #[arg(long)]
    pub(crate) trust: bool,
    /// Whether its commands run in the CLI's sandbox
    #[arg(long, value_name = "MODE", value_enum)]
    pub(crate) sandbox: Option<Sandbox>,
    /// Run one turn, and do not see to it that you are asked
    #[arg(long)]
    pub(crate) no_hap: bool,
    /// End the run with the first turn that ends after you answered
    #[arg(long, conflicts_with = "no_hap")]
    pub(crate) once: bool,
    /// Report the CLI's own tools among the events
    #[arg(long)]
    pub(crate) activity: bool,
    /// Print contract events, one JSON object a line, as is done without a terminal too
    #[arg(long)]
    pub(crate) json: bool,
}

/// The permissions of the CLI.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Permission {
    /// What its configuration allows.
    Default,
    /// Everything that is not denied.
    Force,
}

/// How an agent is driven.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Via {
    /// The Agent Client Protocol: its questions reach you inside of its turn.
    Acp,
    /// The stream of its CLI: it asks with `cueme cue`.
    Stream,
}

/// The CLI's sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Sandbox {
    /// Commands run inside it.
    Enabled,
    /// Commands run outside it.
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
    /// It was recorded with --stream-partial-output
    #[arg(long)]
    pub(crate) partial: bool,
    /// What --output-format it was recorded with
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = Recorded::StreamJson)]
    pub(crate) output_format: Recorded,
    /// Report the CLI's own tools among the events
    #[arg(long)]
    pub(crate) activity: bool,
    /// What the recorded process wrote to stderr
    #[arg(long, value_name = "FILE")]
    pub(crate) stderr: Option<PathBuf>,
    /// How the recorded process ended; without it, well
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
    /// The directory the chat belongs to
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
}
