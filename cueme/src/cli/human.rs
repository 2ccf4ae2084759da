//! Arguments of the verbs for humans.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::candidates::{completing_agents, completing_cues, completing_options, completing_runtimes};

/// Arguments of `inbox`.
#[derive(Debug, Args)]
pub(crate) struct InboxArgs {
    /// Print a JSON array
    #[arg(long)]
    pub(crate) json: bool,
    /// Stay, and print the list again when it changes
    #[arg(long)]
    pub(crate) watch: bool,
}

/// Arguments of `show`.
#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// The question's id or its first characters
    #[arg(value_name = "CUE_ID", add = completing_cues())]
    pub(crate) cue_id: String,
    /// Print a JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `answer`.
#[derive(Debug, Default, Args)]
pub(crate) struct AnswerArgs {
    /// The question's id or its first characters; without it, cueme asks you which
    #[arg(value_name = "CUE_ID", add = completing_cues())]
    pub(crate) cue_id: Option<String>,
    /// The answer, or `-` to read it from stdin
    #[arg(value_name = "TEXT")]
    pub(crate) text: Vec<String>,
    /// The same, for a text that looks like an option
    #[arg(value_name = "TEXT", last = true, hide = true)]
    pub(crate) rest: Vec<String>,
    /// Pick this option; repeat it where several may be picked
    #[arg(long, value_name = "OPTION", allow_hyphen_values = true, add = completing_options())]
    pub(crate) select: Vec<String>,
    /// Answer a choice with your own words instead of an option
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) other: Option<String>,
    /// Fill in a field of a form; repeat it for each field and value. `LABEL=-` reads the value from stdin
    #[arg(long, value_name = "LABEL=VALUE", allow_hyphen_values = true)]
    pub(crate) field: Vec<String>,
    /// Press the confirming button, or continue a pause
    #[arg(long, conflicts_with = "cancel")]
    pub(crate) confirm: bool,
    /// Press the cancelling button of a confirm
    #[arg(long)]
    pub(crate) cancel: bool,
    /// Attach a file; the agent reads its path
    #[arg(long, value_name = "FILE")]
    pub(crate) attach: Vec<PathBuf>,
    /// End the agent's run, with or without a last answer
    #[arg(long)]
    pub(crate) done: bool,
}

/// Arguments of `undo`.
#[derive(Debug, Args)]
pub(crate) struct UndoArgs {
    /// The question's id or its first characters; without it, the last answer
    #[arg(value_name = "CUE_ID", add = completing_cues())]
    pub(crate) cue_id: Option<String>,
}

/// Arguments of `decline`.
#[derive(Debug, Args)]
pub(crate) struct DeclineArgs {
    /// The question's id or its first characters
    #[arg(value_name = "CUE_ID", add = completing_cues())]
    pub(crate) cue_id: String,
    /// The reason, which the agent reads
    #[arg(value_name = "REASON")]
    pub(crate) reason: Vec<String>,
    /// The same, for a text that looks like an option
    #[arg(value_name = "REASON", last = true, hide = true)]
    pub(crate) rest: Vec<String>,
}

/// Arguments of `tui`.
#[derive(Debug, Args)]
pub(crate) struct TuiArgs {
    /// Select and scroll with the mouse, so that the terminal does not select text; the key m toggles it
    #[arg(long)]
    pub(crate) mouse: bool,
}

/// Arguments of `ui`.
#[derive(Debug, Args)]
pub(crate) struct UiArgs {
    /// Print only the link, and do not open a browser
    #[arg(long)]
    pub(crate) print_url: bool,
    /// Name of the browser in the list of devices
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
}

/// Arguments of `token`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct TokenArgs {
    /// The verb; without it, a token is created.
    #[command(subcommand)]
    pub(crate) verb: Option<TokenVerb>,
    /// Permissions of the token
    #[arg(long, value_enum)]
    pub(crate) scope: Option<Scope>,
    /// The id of the token's agent, or its first characters
    #[arg(long, value_name = "AGENT_ID", add = completing_agents())]
    pub(crate) agent: Option<String>,
    /// Name of the token in lists
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Time after which the token expires, such as 12h or 30d; without it, the token does not expire
    #[arg(long, value_name = "DURATION")]
    pub(crate) expires: Option<String>,
}

/// The other verbs of `cueme token`.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum TokenVerb {
    /// List the tokens, oldest first
    List {
        /// Print a JSON array
        #[arg(long)]
        json: bool,
    },
    /// Revoke a token; calls that wait with it end
    Revoke {
        /// The token's id, its first characters, or its name
        token: String,
    },
}

/// The scope of a token.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub(crate) enum Scope {
    /// Join, and ask as the agents that joined with it
    Join,
    /// Ask as one agent
    Agent,
    /// Everything that a human does on the page
    Human,
}

/// Arguments of `cancel`.
#[derive(Debug, Args)]
pub(crate) struct CancelArgs {
    /// The question's id or its first characters
    #[arg(value_name = "CUE_ID", add = completing_cues())]
    pub(crate) cue_id: String,
    /// The reason, which the agent reads
    #[arg(value_name = "REASON")]
    pub(crate) reason: Vec<String>,
    /// The same, for a text that looks like an option
    #[arg(value_name = "REASON", last = true, hide = true)]
    pub(crate) rest: Vec<String>,
}

/// Arguments of `say`.
#[derive(Debug, Args)]
pub(crate) struct SayArgs {
    /// The agent's id or its first characters
    #[arg(value_name = "AGENT_ID", add = completing_agents())]
    pub(crate) agent_id: String,
    /// The message, or `-` to read it from stdin
    #[arg(value_name = "TEXT", required_unless_present = "rest")]
    pub(crate) text: Vec<String>,
    /// The same, for a text that looks like an option
    #[arg(value_name = "TEXT", last = true, hide = true)]
    pub(crate) rest: Vec<String>,
    /// Answer the agent's next plain question with this before you see it (never a choice, form, pause or approval)
    #[arg(long)]
    pub(crate) next: bool,
}

/// Arguments of `last`.
#[derive(Debug, Args)]
pub(crate) struct LastArgs {
    /// The agent's id or its first characters
    #[arg(value_name = "AGENT_ID", add = completing_agents())]
    pub(crate) agent_id: String,
    /// Print the question with its answer as a JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `agents`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct AgentsArgs {
    /// The verb; without it, the agents are listed.
    #[command(subcommand)]
    pub(crate) verb: Option<AgentsVerb>,
    /// Only agents whose project directory contains this, ignoring case
    #[arg(long, value_name = "TEXT")]
    pub(crate) project: Option<String>,
    /// Only agents of this runtime
    #[arg(long, value_name = "AGENT_RUNTIME", add = completing_runtimes())]
    pub(crate) runtime: Option<String>,
    /// Only agents whose name or id contains this, ignoring case
    #[arg(long, value_name = "TEXT")]
    pub(crate) name: Option<String>,
    /// Print a JSON array
    #[arg(long)]
    pub(crate) json: bool,
}

/// The verbs of `cueme agents`.
#[derive(Debug, Subcommand)]
pub(crate) enum AgentsVerb {
    /// Name an agent; without a name, remove its name
    #[command(after_help = "Examples:\n  cueme agents rename bako-nefi payments")]
    Rename {
        /// The agent's id or its first characters
        #[arg(value_name = "AGENT_ID", add = completing_agents())]
        agent_id: String,
        /// The name
        #[arg(value_name = "NAME")]
        name: Vec<String>,
    },
    /// Take an agent off the list until it asks again; its history stays
    #[command(after_help = "Examples:\n  cueme agents forget bako-nefi")]
    Forget {
        /// The agent's id or its first characters
        #[arg(value_name = "AGENT_ID", add = completing_agents())]
        agent_id: String,
    },
}

/// Arguments of `history`.
#[derive(Debug, Args)]
pub(crate) struct HistoryArgs {
    /// Only questions of this agent
    #[arg(long, value_name = "AGENT_ID", add = completing_agents())]
    pub(crate) agent: Option<String>,
    /// Only questions and answers that contain these words
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) search: Option<String>,
    /// Maximum number of questions
    #[arg(long, value_name = "NUMBER", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) limit: u32,
    /// Print one line for each question
    #[arg(long, conflicts_with_all = ["json", "markdown"])]
    pub(crate) oneline: bool,
    /// Print a JSON array
    #[arg(long, conflicts_with = "markdown")]
    pub(crate) json: bool,
    /// Print Markdown
    #[arg(long)]
    pub(crate) markdown: bool,
}

pub(super) const ANSWER_EXAMPLES: &str = "\
Examples:
  cueme answer                                   asks you which question, and for the answer
  cueme answer 7k3 \"use SQLite\"
  cueme answer 7k3 --select SQLite
  cueme answer 7k3 --confirm                     also continues a pause
  cueme answer 7k3 --field Env=prod --field Replicas=3
  pass show prod | cueme answer 7k3 --field Token=-
  cueme answer 7k3 \"see the picture\" --attach shot.png
  git log -3 | cueme answer 7k3 -";
