//! Arguments of the verbs for humans: look, answer, and write first.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::candidates::{completing_agents, completing_cues, completing_options, completing_runtimes};

/// Arguments of `inbox`.
#[derive(Debug, Args)]
pub(crate) struct InboxArgs {
    /// Print a JSON array
    #[arg(long)]
    pub(crate) json: bool,
    /// Stay, and print anew whenever something changes
    #[arg(long)]
    pub(crate) watch: bool,
}

/// Arguments of `show`.
#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// The question's id, or the beginning of it
    #[arg(value_name = "CUE_ID", add = completing_cues())]
    pub(crate) cue_id: String,
    /// Print a JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `answer`.
#[derive(Debug, Default, Args)]
pub(crate) struct AnswerArgs {
    /// The question's id, or the beginning of it; without it you are asked which
    #[arg(value_name = "CUE_ID", add = completing_cues())]
    pub(crate) cue_id: Option<String>,
    /// What to say, or `-` to read it from stdin
    #[arg(value_name = "TEXT")]
    pub(crate) text: Vec<String>,
    /// The same, for a text that looks like an option
    #[arg(value_name = "TEXT", last = true, hide = true)]
    pub(crate) rest: Vec<String>,
    /// Pick this option; repeat it where several may be picked
    #[arg(long, value_name = "OPTION", allow_hyphen_values = true, add = completing_options())]
    pub(crate) select: Vec<String>,
    /// Want this instead of the options offered
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) other: Option<String>,
    /// Fill in a field of a form; repeat it for each field and value. `LABEL=-` reads the value from stdin
    #[arg(long, value_name = "LABEL=VALUE", allow_hyphen_values = true)]
    pub(crate) field: Vec<String>,
    /// Press the confirming button, or continue a pause
    #[arg(long, conflicts_with = "cancel")]
    pub(crate) confirm: bool,
    /// Press the other button
    #[arg(long)]
    pub(crate) cancel: bool,
    /// Hand over a file; the agent reads its path
    #[arg(long, value_name = "FILE")]
    pub(crate) attach: Vec<PathBuf>,
    /// End the run of the agent, with this answer as your last word or without one
    #[arg(long)]
    pub(crate) done: bool,
}

/// Arguments of `undo`.
#[derive(Debug, Args)]
pub(crate) struct UndoArgs {
    /// The question's id, or the beginning of it; without it, the answer given last
    #[arg(value_name = "CUE_ID", add = completing_cues())]
    pub(crate) cue_id: Option<String>,
}

/// Arguments of `decline`.
#[derive(Debug, Args)]
pub(crate) struct DeclineArgs {
    /// The question's id, or the beginning of it
    #[arg(value_name = "CUE_ID", add = completing_cues())]
    pub(crate) cue_id: String,
    /// Why, for the agent
    #[arg(value_name = "REASON")]
    pub(crate) reason: Vec<String>,
    /// The same, for a text that looks like an option
    #[arg(value_name = "REASON", last = true, hide = true)]
    pub(crate) rest: Vec<String>,
}

/// Arguments of `tui`.
#[derive(Debug, Args)]
pub(crate) struct TuiArgs {
    /// Let the mouse select and scroll; the terminal then selects no text. The key m changes it
    #[arg(long)]
    pub(crate) mouse: bool,
}

/// Arguments of `ui`.
#[derive(Debug, Args)]
pub(crate) struct UiArgs {
    /// Print the link alone on a line and open nothing
    #[arg(long)]
    pub(crate) print_url: bool,
    /// What the browser that uses the link is called in the list of devices
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
}

/// Arguments of `token`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct TokenArgs {
    /// What to do; without it, a token is made.
    #[command(subcommand)]
    pub(crate) verb: Option<TokenVerb>,
    /// What it opens: joining and asking, asking for one agent, or all that a human does
    #[arg(long, value_enum)]
    pub(crate) scope: Option<Scope>,
    /// The agent it is for, or the beginning of its id
    #[arg(long, value_name = "AGENT_ID", add = completing_agents())]
    pub(crate) agent: Option<String>,
    /// What it is called in lists
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
}

/// What else can be done about tokens.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum TokenVerb {
    /// List the tokens, oldest first
    List {
        /// Print a JSON array
        #[arg(long)]
        json: bool,
    },
    /// Revoke a token; a call that waits with it ends
    Revoke {
        /// Its id, the beginning of it, or its name
        token: String,
    },
}

/// The scope of a token.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub(crate) enum Scope {
    /// Join, and ask for the agents that joined with it
    Join,
    /// Ask for one agent
    Agent,
    /// Everything a human does on the page
    Human,
}

/// Arguments of `cancel`.
#[derive(Debug, Args)]
pub(crate) struct CancelArgs {
    /// The question's id, or the beginning of it
    #[arg(value_name = "CUE_ID", add = completing_cues())]
    pub(crate) cue_id: String,
    /// Why, for the agent
    #[arg(value_name = "REASON")]
    pub(crate) reason: Vec<String>,
    /// The same, for a text that looks like an option
    #[arg(value_name = "REASON", last = true, hide = true)]
    pub(crate) rest: Vec<String>,
}

/// Arguments of `say`.
#[derive(Debug, Args)]
pub(crate) struct SayArgs {
    /// The agent's id, or the beginning of it
    #[arg(value_name = "AGENT_ID", add = completing_agents())]
    pub(crate) agent_id: String,
    /// The message, or `-` to read it from stdin
    #[arg(value_name = "TEXT", required_unless_present = "rest")]
    pub(crate) text: Vec<String>,
    /// The same, for a text that looks like an option
    #[arg(value_name = "TEXT", last = true, hide = true)]
    pub(crate) rest: Vec<String>,
    /// Answer the agent's next question with this, before you have seen it (never a choice, a form or an approval)
    #[arg(long)]
    pub(crate) next: bool,
}

/// Arguments of `last`.
#[derive(Debug, Args)]
pub(crate) struct LastArgs {
    /// The agent's id, or the beginning of it
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
    /// What to change.
    #[command(subcommand)]
    pub(crate) verb: Option<AgentsVerb>,
    /// Only agents whose project directory contains this, in either case
    #[arg(long, value_name = "TEXT")]
    pub(crate) project: Option<String>,
    /// Only agents of this runtime
    #[arg(long, value_name = "AGENT_RUNTIME", add = completing_runtimes())]
    pub(crate) runtime: Option<String>,
    /// Only agents whose name or id contains this, in either case
    #[arg(long, value_name = "TEXT")]
    pub(crate) name: Option<String>,
    /// Print a JSON array
    #[arg(long)]
    pub(crate) json: bool,
}

/// What a human makes of an agent.
#[derive(Debug, Subcommand)]
pub(crate) enum AgentsVerb {
    /// Give an agent a name; without one, take it away
    #[command(after_help = "Examples:\n  cueme agents rename bako-nefi payments")]
    Rename {
        /// The agent's id, or the beginning of it
        #[arg(value_name = "AGENT_ID", add = completing_agents())]
        agent_id: String,
        /// The name
        #[arg(value_name = "NAME")]
        name: Vec<String>,
    },
    /// Take an agent off the list until it asks again; its history stays
    #[command(after_help = "Examples:\n  cueme agents forget bako-nefi")]
    Forget {
        /// The agent's id, or the beginning of it
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
    /// Only questions and answers with these words
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) search: Option<String>,
    /// How many at most
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
  cueme answer                                   asks you everything
  cueme answer 7k3 \"use SQLite\"
  cueme answer 7k3 --select SQLite
  cueme answer 7k3 --confirm                     also continues a pause
  cueme answer 7k3 --field Env=prod --field Replicas=3
  pass show prod | cueme answer 7k3 --field Token=-
  cueme answer 7k3 \"see the picture\" --attach shot.png
  git log -3 | cueme answer 7k3 -";
