//! The command line: every verb, its arguments, and examples of right calls.

mod agent;
mod chats;
mod cloud;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::error::ErrorKind;
use clap::{Args, CommandFactory, Parser, Subcommand};
use protocol_spec::exit::Exit;

pub(crate) use agent::{
    AgentArgs, AgentDoctorArgs, AgentModelsArgs, AgentNewChatArgs, AgentReplayArgs, AgentRunArgs, AgentVerb,
    Permission, Recorded, Sandbox,
};
pub(crate) use chats::{ChatsArgs, ChatsLsArgs, ChatsShowArgs, ChatsVerb, ChatsWatchArgs};
pub(crate) use cloud::{
    CloudApiVersion, CloudArgs, CloudConversationArgs, CloudDoctorArgs, CloudDriving, CloudFields,
    CloudFollowUpArgs, CloudLaunchArgs, CloudStatusArgs, CloudStopArgs, CloudVerb, CloudWatchArgs,
};

use crate::command::{HookArgs, ImportArgs, InitArgs, McpArgs, ProtocolArgs};
use crate::error::CliError;
use crate::output;

/// Asks a human from any coding agent, and waits for the answer.
#[derive(Debug, Parser)]
#[command(
    name = "cueme",
    version,
    about = "Ask a human from any coding agent, and wait for the answer",
    long_about = None,
    after_help = EXAMPLES,
    arg_required_else_help = true,
    disable_help_subcommand = false
)]
pub(crate) struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

/// What agents do; the same as in [`Cli`], without all the rest.
#[derive(Debug, Parser)]
#[command(name = "cueme")]
struct HapCli {
    #[command(subcommand)]
    verb: HapVerb,
}

/// The four verbs of the Human Agent Protocol.
#[derive(Debug, Subcommand)]
pub(crate) enum HapVerb {
    /// Agent: register and get an agent_id
    #[command(after_help = "Examples:\n  cueme join cursor\n  cueme join claude_code")]
    Join(JoinArgs),
    /// Agent: find your agent_id again by what you remember
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

/// What can be done. Agents use the first four, humans the next ones, and the rest looks after the broker.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// What agents do.
    #[command(flatten)]
    Hap(HapVerb),

    /// Open the inbox in a browser
    #[command(after_help = "Examples:\n  cueme ui\n  cueme ui --print-url")]
    Ui(UiArgs),
    /// Make a key for a program that speaks over HTTP
    #[command(
        after_help = "Examples:\n  cueme token --name ci\n  cueme token --agent bako-nefi\n  cueme token --scope human"
    )]
    Token(TokenArgs),
    /// List the open questions
    #[command(after_help = "Examples:\n  cueme inbox\n  cueme inbox --watch\n  cueme inbox --json")]
    Inbox(InboxArgs),
    /// Show one question whole
    #[command(after_help = "Examples:\n  cueme show 7k3\n  cueme show 7k3 --json")]
    Show(ShowArgs),
    /// Answer a question; without an answer, asks you for it
    #[command(after_help = ANSWER_EXAMPLES)]
    Answer(AnswerArgs),
    /// Refuse to answer a question; the agent is told
    #[command(after_help = "Examples:\n  cueme decline 7k3\n  cueme decline 7k3 \"not before the release\"")]
    Decline(DeclineArgs),
    /// Close a question without an answer; the agent is told
    #[command(after_help = "Examples:\n  cueme cancel 7k3\n  cueme cancel 7k3 \"answered in the chat\"")]
    Cancel(CancelArgs),
    /// Leave an agent a message for its next question
    #[command(
        after_help = "Examples:\n  cueme say bako-nefi \"use the staging database\"\n  git diff | cueme say bako-nefi -"
    )]
    Say(SayArgs),
    /// Print the last answer an agent was given
    #[command(after_help = "Examples:\n  cueme last bako-nefi")]
    Last(LastArgs),
    /// List the agents
    #[command(after_help = "Examples:\n  cueme agents\n  cueme agents --json")]
    Agents(AgentsArgs),
    /// List past questions, newest first
    #[command(
        after_help = "Examples:\n  cueme history\n  cueme history --search 数据库 --limit 5\n  cueme history --agent bako-nefi --markdown > log.md"
    )]
    History(HistoryArgs),

    /// Run Cursor's agent, and see to it that you are asked
    #[command(after_help = agent::EXAMPLES)]
    Agent(AgentArgs),
    /// Run agents in Cursor's cloud, and see to it that you are asked
    #[command(after_help = cloud::EXAMPLES)]
    Cloud(CloudArgs),
    /// Read the chats Cursor keeps on disk
    #[command(after_help = chats::EXAMPLES)]
    Chats(ChatsArgs),
    /// Connect a runtime: its rules, permissions, timeouts, hooks and MCP
    #[command(
        after_help = "Examples:\n  cueme init\n  cueme init claude_code\n  cueme init cursor --project --dry-run\n  cueme init codex --remove\n  cueme init --status"
    )]
    Init(InitArgs),
    /// Print the protocol that agents follow
    #[command(after_help = "Examples:\n  cueme protocol\n  cueme protocol cursor --language zh")]
    Protocol(ProtocolArgs),
    /// Runtime: answer a hook; `cueme init` writes these calls
    #[command(after_help = "Examples:\n  cueme hook claude_code stop < event.json")]
    Hook(HookArgs),
    /// Runtime: serve join, recall, cue and pause as MCP tools over stdio
    #[command(after_help = "Examples:\n  cueme mcp")]
    Mcp(McpArgs),

    /// Run, look at or stop the broker
    #[command(
        after_help = "Examples:\n  cueme broker status\n  cueme broker restart\n  cueme broker logs --follow"
    )]
    Broker(BrokerArgs),
    /// Write a verified copy of the database while the broker runs
    #[command(after_help = "Examples:\n  cueme backup ~/cueme-backup.db")]
    Backup(BackupArgs),
    /// Replace the database by a backup; the present one is kept beside it
    #[command(after_help = "Examples:\n  cueme restore ~/cueme-backup.db")]
    Restore(RestoreArgs),
    /// Delete questions that were settled long ago
    #[command(
        after_help = "Examples:\n  cueme purge --older-than 90d --dry-run\n  cueme purge --older-than 90d"
    )]
    Purge(PurgeArgs),
    /// Bring over what the original cueme has recorded; its database is only read
    #[command(
        after_help = "Examples:\n  cueme import\n  cueme import /mnt/old/.cue/cue.db\n\nWhat was open there is closed here: whoever waits for it waits there. Running it again brings what is new."
    )]
    Import(ImportArgs),
    /// Check that everything works, and time a real question
    #[command(after_help = "Examples:\n  cueme doctor")]
    Doctor(DoctorArgs),
    /// See the whole loop in a minute, without touching your own data
    #[command(after_help = "Examples:\n  cueme demo\n  cueme demo --interactive")]
    Demo(DemoArgs),
    /// Print completions for a shell
    #[command(
        after_help = "Examples:\n  cueme completions zsh > ~/.zfunc/_cueme\n  cueme completions fish > ~/.config/fish/completions/cueme.fish"
    )]
    Completions(CompletionsArgs),
}

/// Arguments of `join`.
#[derive(Debug, Args)]
pub(crate) struct JoinArgs {
    /// Where the agent runs: cursor, claude_code, codex, windsurf, vscode, kiro, opencode, terminal …
    #[arg(value_name = "AGENT_RUNTIME")]
    pub(crate) agent_runtime: String,
}

/// Arguments of `recall`.
#[derive(Debug, Args)]
pub(crate) struct RecallArgs {
    /// Words you asked, were told, or remember of the project
    #[arg(value_name = "HINTS", required = true)]
    pub(crate) hints: Vec<String>,
    /// Print the matches as a JSON array
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `cue`.
#[derive(Debug, Args)]
pub(crate) struct CueArgs {
    /// The agent_id that `cueme join` printed
    #[arg(value_name = "AGENT_ID")]
    pub(crate) agent_id: String,
    /// Always `-`: the question is read from stdin
    #[arg(value_name = "-")]
    pub(crate) source: Vec<String>,
    /// Only validate, and print the normalised request; asks nobody
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
    #[arg(value_name = "AGENT_ID")]
    pub(crate) agent_id: String,
    /// What to tell the human, or `-` to read an envelope from stdin
    #[arg(value_name = "PROMPT")]
    pub(crate) prompt: Vec<String>,
    /// Only validate, and print the normalised request; asks nobody
    #[arg(long)]
    pub(crate) check: bool,
    /// Print the outcome as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

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
    #[arg(value_name = "CUE_ID")]
    pub(crate) cue_id: String,
    /// Print a JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `answer`.
#[derive(Debug, Default, Args)]
pub(crate) struct AnswerArgs {
    /// The question's id, or the beginning of it; without it you are asked which
    #[arg(value_name = "CUE_ID")]
    pub(crate) cue_id: Option<String>,
    /// What to say, or `-` to read it from stdin
    #[arg(value_name = "TEXT")]
    pub(crate) text: Vec<String>,
    /// Pick this option; repeat it where several may be picked
    #[arg(long, value_name = "OPTION")]
    pub(crate) select: Vec<String>,
    /// Want this instead of the options offered
    #[arg(long, value_name = "TEXT")]
    pub(crate) other: Option<String>,
    /// Fill in a field of a form; repeat it for each field and value
    #[arg(long, value_name = "LABEL=VALUE")]
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
}

/// Arguments of `decline`.
#[derive(Debug, Args)]
pub(crate) struct DeclineArgs {
    /// The question's id, or the beginning of it
    #[arg(value_name = "CUE_ID")]
    pub(crate) cue_id: String,
    /// Why, for the agent
    #[arg(value_name = "REASON")]
    pub(crate) reason: Vec<String>,
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
pub(crate) struct TokenArgs {
    /// What it opens: joining and asking, asking for one agent, or all that a human does
    #[arg(long, value_enum)]
    pub(crate) scope: Option<Scope>,
    /// The agent it is for, or the beginning of its id
    #[arg(long, value_name = "AGENT_ID")]
    pub(crate) agent: Option<String>,
    /// What it is called in lists
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
}

/// What a token opens.
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
    #[arg(value_name = "CUE_ID")]
    pub(crate) cue_id: String,
    /// Why, for the agent
    #[arg(value_name = "REASON")]
    pub(crate) reason: Vec<String>,
}

/// Arguments of `say`.
#[derive(Debug, Args)]
pub(crate) struct SayArgs {
    /// The agent's id, or the beginning of it
    #[arg(value_name = "AGENT_ID")]
    pub(crate) agent_id: String,
    /// The message, or `-` to read it from stdin
    #[arg(value_name = "TEXT", required = true)]
    pub(crate) text: Vec<String>,
}

/// Arguments of `last`.
#[derive(Debug, Args)]
pub(crate) struct LastArgs {
    /// The agent's id, or the beginning of it
    #[arg(value_name = "AGENT_ID")]
    pub(crate) agent_id: String,
    /// Print the question with its answer as a JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `agents`.
#[derive(Debug, Args)]
pub(crate) struct AgentsArgs {
    /// Print a JSON array
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `history`.
#[derive(Debug, Args)]
pub(crate) struct HistoryArgs {
    /// Only questions of this agent
    #[arg(long, value_name = "AGENT_ID")]
    pub(crate) agent: Option<String>,
    /// Only questions and answers with these words
    #[arg(long, value_name = "TEXT")]
    pub(crate) search: Option<String>,
    /// How many at most
    #[arg(long, value_name = "NUMBER", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) limit: u32,
    /// Print a JSON array
    #[arg(long, conflicts_with = "markdown")]
    pub(crate) json: bool,
    /// Print Markdown
    #[arg(long)]
    pub(crate) markdown: bool,
}

/// Arguments of `broker`.
#[derive(Debug, Args)]
#[command(arg_required_else_help = true)]
pub(crate) struct BrokerArgs {
    /// What to do with it.
    #[command(subcommand)]
    pub(crate) verb: BrokerVerb,
}

/// What can be done with the broker.
#[derive(Debug, Subcommand)]
pub(crate) enum BrokerVerb {
    /// Run it in the foreground; other commands start it by themselves
    Run {
        /// Detach from the terminal and log to the log file only
        #[arg(long)]
        background: bool,
    },
    /// Describe it; never starts one
    Status {
        /// Print a JSON object
        #[arg(long)]
        json: bool,
    },
    /// End it; agents that wait go on waiting for its successor
    Stop,
    /// End it and start it again
    Restart,
    /// Print its log
    Logs {
        /// How many lines
        #[arg(long, short = 'n', value_name = "NUMBER", default_value_t = 50)]
        lines: u32,
        /// Stay, and print what is added
        #[arg(long, short = 'f')]
        follow: bool,
    },
    /// Write a user service, so that it starts when you log in
    Install {
        /// Print what would be written
        #[arg(long)]
        dry_run: bool,
        /// Remove the service again
        #[arg(long)]
        remove: bool,
    },
}

/// Arguments of `backup`.
#[derive(Debug, Args)]
pub(crate) struct BackupArgs {
    /// Where to write it; must not exist yet
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
}

/// Arguments of `restore`.
#[derive(Debug, Args)]
pub(crate) struct RestoreArgs {
    /// A file that `cueme backup` wrote
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
}

/// Arguments of `purge`.
#[derive(Debug, Args)]
pub(crate) struct PurgeArgs {
    /// How old a question must be: 90d, 12h …; without it, the configured retention
    #[arg(long, value_name = "AGE")]
    pub(crate) older_than: Option<String>,
    /// Only count
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// Arguments of `doctor`.
#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// Do not time a question in a broker of its own
    #[arg(long)]
    pub(crate) quick: bool,
}

/// Arguments of `demo`.
#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// Answer the questions yourself
    #[arg(long)]
    pub(crate) interactive: bool,
    /// Use your own broker and database instead of temporary ones
    #[arg(long)]
    pub(crate) here: bool,
}

/// Arguments of `completions`.
#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_name = "SHELL")]
    pub(crate) shell: clap_complete::Shell,
}

/// How an agent calls `cue`, ready to be pasted.
pub(crate) const CUE_CALL: &str = "\
cueme cue <agent_id> - <<'CUEME'
<cueme_prompt>
Your question
</cueme_prompt>
CUEME";

const EXAMPLES: &str = "\
Examples:
  cueme demo                          see the whole loop in a minute
  cueme inbox                         what agents ask you
  cueme answer 7k3 \"use SQLite\"       answer one of them
  cueme join cursor                   what an agent runs first

`cueme help <command>` shows examples of each command. Data, socket, configuration and logs live in the
platform's own places, or all under CUEME_HOME.

Exit codes: 0 done, 1 nothing found, 2 wrong call, 3 unknown agent, 4 cancelled, 69 no broker,
74 output or storage failed, 75 still open: run it again, 130/143 interrupted.";

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

  cueme cue bako-nefi - --check < question.txt

The payload block is optional: choice, confirm or form. Tags stand alone on their lines. The call blocks until the
human answers; when it exits with 75 the question is still open, and the same command goes on waiting.
CUEME_WAIT (90s, 5m, 0 = no limit) sets how long one call may wait.";

const ANSWER_EXAMPLES: &str = "\
Examples:
  cueme answer                                   asks you everything
  cueme answer 7k3 \"use SQLite\"
  cueme answer 7k3 --select SQLite
  cueme answer 7k3 --confirm                     also continues a pause
  cueme answer 7k3 --field Env=prod --field Replicas=3
  cueme answer 7k3 \"see the picture\" --attach shot.png
  git log -3 | cueme answer 7k3 -";

/// Parses the command line. Help and mistakes are printed here.
pub(crate) fn parse() -> Result<Cli, CliError> {
    // An agent's verb starts sooner when the other thirty are not built around it. Whatever is not a right call of one is
    // left to the whole definition, which explains it.
    if is_hap(std::env::args_os().nth(1))
        && let Ok(HapCli { verb }) = HapCli::try_parse()
    {
        return Ok(Cli {
            verb: Verb::Hap(verb),
        });
    }
    Cli::try_parse().map_err(|error| explain(&error))
}

fn is_hap(verb: Option<OsString>) -> bool {
    verb.is_some_and(|verb| HapVerb::has_subcommand(&verb.to_string_lossy()))
}

fn explain(error: &clap::Error) -> CliError {
    // A closed terminal changes nothing about the call being wrong.
    let _ = error.print();
    if !error.use_stderr() {
        return CliError::silent(Exit::Done);
    }
    if error.kind() != ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
        && let Some(example) = std::env::args().nth(1).and_then(|verb| example_of(&verb))
    {
        output::tell(&format!("\nhint: a right call is\n{example}"));
    }
    CliError::silent(Exit::Usage)
}

/// Returns the first example of a verb's help.
fn example_of(verb: &str) -> Option<String> {
    let command = Cli::command();
    let help = command.find_subcommand(verb)?.get_after_help()?.to_string();
    let examples = help.strip_prefix("Examples:\n")?;
    let first = match examples.split_once("CUEME'\n") {
        Some(_) => examples.split("\n\n").next()?,
        None => examples.lines().next()?,
    };
    Some(first.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_of_the_command_line_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_verb_shows_an_example_that_begins_with_itself() {
        for verb in Cli::command().get_subcommands() {
            let name = verb.get_name();
            let example = example_of(name).unwrap_or_else(|| panic!("{name} has no example"));
            assert!(example.contains(&format!("cueme {name}")), "{name}: {example}");
        }
    }

    #[test]
    fn every_one_line_example_is_a_call_that_parses() {
        for verb in Cli::command().get_subcommands() {
            let help = verb.get_after_help().map(ToString::to_string).unwrap_or_default();
            for line in help.lines().filter_map(|line| line.strip_prefix("  cueme ")) {
                let line = line
                    .split(" > ")
                    .next()
                    .unwrap_or(line)
                    .split(" < ")
                    .next()
                    .unwrap_or(line);
                let line = line
                    .split("   ")
                    .next()
                    .unwrap_or(line)
                    .split(" <<")
                    .next()
                    .unwrap_or(line);
                let words = std::iter::once("cueme").chain(line.split_whitespace());
                let parsed = Cli::try_parse_from(words);
                assert!(parsed.is_ok(), "cueme {line}: {parsed:?}");
            }
        }
    }

    #[test]
    fn a_lone_dash_is_a_word_and_not_a_flag() {
        let cli = Cli::try_parse_from(["cueme", "cue", "bako-nefi", "-", "--json"]).unwrap();
        let Verb::Hap(HapVerb::Cue(args)) = cli.verb else {
            panic!("not a cue")
        };
        assert_eq!((args.source, args.json), (vec!["-".to_owned()], true));
    }
}
