//! Arguments of the four verbs of the Human Agent Protocol.

use clap::{Args, Subcommand};

use super::candidates::{completing_agents, completing_runtimes};

/// The four verbs of the Human Agent Protocol.
#[derive(Debug, Subcommand)]
pub(crate) enum HapVerb {
    /// Agent: register and get an agent_id
    #[command(after_help = "Examples:\n  cueme join cursor\n  cueme join claude_code")]
    Join(JoinArgs),
    /// Agent: find your agent_id from words you remember
    #[command(after_help = "Examples:\n  cueme recall payment refactoring\n  cueme recall 数据库 迁移")]
    Recall(RecallArgs),
    /// Agent: ask the human and wait for the answer
    #[command(after_help = CUE_EXAMPLES)]
    Cue(CueArgs),
    /// Agent: stop until the human lets you continue
    #[command(
        after_help = "Examples:\n  cueme pause bako-nefi\n  cueme pause bako-nefi \"The build is green. Continue?\""
    )]
    Pause(PauseArgs),
}

/// Arguments of `join`.
#[derive(Debug, Args)]
pub(crate) struct JoinArgs {
    /// Where the agent runs: cursor, claude_code, codex, windsurf, vscode, kiro, opencode, terminal …
    #[arg(value_name = "AGENT_RUNTIME", add = completing_runtimes())]
    pub(crate) agent_runtime: String,
}

/// Arguments of `recall`.
#[derive(Debug, Args)]
pub(crate) struct RecallArgs {
    /// Words from your questions, their answers or your project
    #[arg(value_name = "HINTS", required_unless_present = "rest")]
    pub(crate) hints: Vec<String>,
    /// The same, for a text that looks like an option
    #[arg(value_name = "HINTS", last = true, hide = true)]
    pub(crate) rest: Vec<String>,
    /// Print the matches as a JSON array
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `cue`.
#[derive(Debug, Args)]
pub(crate) struct CueArgs {
    /// The agent_id that `cueme join` printed
    #[arg(value_name = "AGENT_ID", add = completing_agents())]
    pub(crate) agent_id: String,
    /// `-` reads the question from stdin, as an envelope
    #[arg(value_name = "-")]
    pub(crate) source: Vec<String>,
    /// The question itself, instead of `-`: for sandboxed shells without here-documents
    #[arg(
        long,
        value_name = "TEXT",
        allow_hyphen_values = true,
        conflicts_with = "source"
    )]
    pub(crate) prompt: Option<String>,
    /// The payload of --prompt: a JSON object or null
    #[arg(long, value_name = "JSON", requires = "prompt")]
    pub(crate) payload: Option<String>,
    /// Only validate, and print the normalised request; the human is not asked
    #[arg(long)]
    pub(crate) check: bool,
    /// Print the outcome as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `pause`.
#[derive(Debug, Args)]
pub(crate) struct PauseArgs {
    /// The agent_id that `cueme join` printed
    #[arg(value_name = "AGENT_ID", add = completing_agents())]
    pub(crate) agent_id: String,
    /// Message to the human, or `-` to read an envelope from stdin
    #[arg(value_name = "PROMPT")]
    pub(crate) prompt: Vec<String>,
    /// The same, for a text that looks like an option
    #[arg(value_name = "PROMPT", last = true, hide = true)]
    pub(crate) rest: Vec<String>,
    /// Only validate, and print the normalised request; the human is not asked
    #[arg(long)]
    pub(crate) check: bool,
    /// Print the outcome as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

const CUE_EXAMPLES: &str = "\
Examples:
  cueme cue bako-nefi - <<'CUEME'
  <cueme_prompt>
  Which database shall we use?
  </cueme_prompt>
  <cueme_payload>
  {\"type\":\"choice\",\"options\":[\"SQLite\",\"PostgreSQL\"]}
  </cueme_payload>
  CUEME

  cueme cue bako-nefi --prompt 'Ship it?' --payload '{\"type\":\"confirm\"}'
  cueme cue bako-nefi - --check < question.txt

The payload block is optional: choice, confirm or form. Each tag is alone on its line. --prompt and --payload ask the same question as \
the envelope, so a call in one form continues the wait of the other.
The call blocks until the human answers. If it exits with 75, the question is still open: run the same command again to continue the wait.
CUEME_WAIT (90s, 5m, 0 = no limit) sets how long one call may wait.";
