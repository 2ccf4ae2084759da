//! The command line: every verb, its arguments, and examples of valid calls.

mod agent;
pub(crate) mod candidates;
mod chats;
mod cloud;
mod hap;
mod human;
mod notify;
mod operation;

use std::ffi::OsString;

use clap::error::ErrorKind;
use clap::{Args, Command, CommandFactory, FromArgMatches, Parser, Subcommand};
use clap_complete::CompleteEnv;
use protocol_spec::exit::Exit;

pub(crate) use agent::{
    AgentArgs, AgentDoctorArgs, AgentModelsArgs, AgentNewChatArgs, AgentReplayArgs, AgentRunArgs, AgentVerb,
    Permission, Recorded, Sandbox, Via,
};
pub(crate) use chats::{ChatsArgs, ChatsLsArgs, ChatsShowArgs, ChatsVerb, ChatsWatchArgs};
pub(crate) use cloud::{
    CloudApiVersion, CloudArgs, CloudConversationArgs, CloudDoctorArgs, CloudDriving, CloudFields,
    CloudFollowUpArgs, CloudLaunchArgs, CloudStatusArgs, CloudStopArgs, CloudVerb, CloudWatchArgs,
};
pub(crate) use hap::{CueArgs, HapVerb, JoinArgs, PauseArgs, RecallArgs};
pub(crate) use human::{
    AgentsArgs, AgentsVerb, AnswerArgs, CancelArgs, DeclineArgs, HistoryArgs, InboxArgs, LastArgs, SayArgs,
    Scope, ShowArgs, TokenArgs, TokenVerb, TuiArgs, UiArgs, UndoArgs,
};
pub(crate) use notify::{ChannelWord, NotifyAddArgs, NotifyArgs, NotifyVerb};
pub(crate) use operation::{
    BackupArgs, BrokerArgs, BrokerVerb, CompletionsArgs, DemoArgs, DoctorArgs, PurgeArgs, RestoreArgs,
    StoreArgs, StoreVerb,
};

use human::ANSWER_EXAMPLES;

use crate::command::{
    AcpArgs, DocsArgs, HookArgs, ImportArgs, InitArgs, LinkArgs, ManArgs, McpArgs, ProtocolArgs,
};
use crate::error::CliError;
use crate::{output, version};

/// Asks a human from any coding agent, and waits for the answer.
#[derive(Debug, Parser)]
#[command(
    name = "cueme",
    version,
    about = "Ask a human from any coding agent, and wait for the answer",
    long_about = None,
    override_help = HELP,
    arg_required_else_help = true,
    disable_help_subcommand = false
)]
pub(crate) struct Cli {
    /// The verb.
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

/// The verbs: those of agents, those of humans, and those that operate the broker.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// The verbs of agents.
    #[command(flatten)]
    Hap(HapVerb),

    /// Open the inbox full-screen in this terminal
    #[command(after_help = "Examples:\n  cueme tui\n  cueme tui --mouse")]
    Tui(TuiArgs),
    /// Open the inbox in a browser
    #[command(after_help = "Examples:\n  cueme ui\n  cueme ui --print-url")]
    Ui(UiArgs),
    /// Create, list and revoke tokens for programs and machines
    #[command(
        after_help = "Examples:\n  cueme token --name ci\n  cueme token --agent bako-nefi\n  cueme token --scope human\n  cueme token list\n  cueme token revoke ci"
    )]
    Token(TokenArgs),
    /// Use a broker on another machine, with a code from its page
    #[command(
        after_help = "Examples:\n  cueme link https://inbox.example.org\n  cueme link https://inbox.example.org --human\n  cueme link you@devbox\n  cueme link --status\n  cueme link --remove\n\nCUEME_URL and CUEME_TOKEN do the same for one process, such as a container or a CI job."
    )]
    Link(LinkArgs),
    /// List the open questions
    #[command(after_help = "Examples:\n  cueme inbox\n  cueme inbox --watch\n  cueme inbox --json")]
    Inbox(InboxArgs),
    /// Show one question in full
    #[command(after_help = "Examples:\n  cueme show 7k3\n  cueme show 7k3 --json")]
    Show(ShowArgs),
    /// Answer a question; without an answer, cueme asks you for it
    #[command(after_help = ANSWER_EXAMPLES)]
    Answer(AnswerArgs),
    /// Take back an answer given in the last five seconds
    #[command(after_help = "Examples:\n  cueme undo\n  cueme undo 7k3")]
    Undo(UndoArgs),
    /// Refuse a question, and tell the agent
    #[command(after_help = "Examples:\n  cueme decline 7k3\n  cueme decline 7k3 \"not before the release\"")]
    Decline(DeclineArgs),
    /// Close a question unanswered, and tell the agent
    #[command(after_help = "Examples:\n  cueme cancel 7k3\n  cueme cancel 7k3 \"answered in the chat\"")]
    Cancel(CancelArgs),
    /// Leave an agent a note; shown above your next answer
    #[command(
        after_help = "Examples:\n  cueme say bako-nefi \"use the staging database\"\n  git diff | cueme say bako-nefi -\n  cueme say bako-nefi --next \"go on with step two\""
    )]
    Say(SayArgs),
    /// Print the last answer that an agent received
    #[command(after_help = "Examples:\n  cueme last bako-nefi")]
    Last(LastArgs),
    /// List the agents
    #[command(
        after_help = "Examples:\n  cueme agents\n  cueme agents --json\n  cueme agents rename bako-nefi payments\n  cueme agents forget bako-nefi"
    )]
    Agents(AgentsArgs),
    /// List past questions, newest first
    #[command(
        after_help = "Examples:\n  cueme history\n  cueme history --search 数据库 --limit 5\n  cueme history --agent bako-nefi --markdown > log.md"
    )]
    History(HistoryArgs),

    /// Run Cursor's agent, and make sure that it asks you
    #[command(after_help = agent::EXAMPLES)]
    Agent(AgentArgs),
    /// Run agents in Cursor's cloud, and make sure that they ask you
    #[command(after_help = cloud::EXAMPLES)]
    Cloud(CloudArgs),
    /// Read the chats that Cursor keeps on disk
    #[command(after_help = chats::EXAMPLES)]
    Chats(ChatsArgs),
    /// Connect a runtime: its rules, permissions, timeouts, hooks and MCP
    #[command(
        after_help = "Examples:\n  cueme init\n  cueme init claude_code\n  cueme init cursor --project --dry-run\n  cueme init codex --remove\n  cueme init claude_code --plugin ~/cueme-plugin\n  cueme init --status\n\n`--status` exits with 0 when every connection is complete and current. It exits with 1 when one is outdated or broken, or when the runtime that you name is not connected."
    )]
    Init(InitArgs),
    /// Send questions to a chat or a phone, and take your answers there
    #[command(after_help = notify::EXAMPLES)]
    Notify(NotifyArgs),
    /// Print the text that teaches an agent the protocol
    #[command(after_help = "Examples:\n  cueme protocol\n  cueme protocol cursor --language zh")]
    Protocol(ProtocolArgs),
    /// Handle a runtime's hook event; `cueme init` sets this up
    #[command(after_help = "Examples:\n  cueme hook claude_code stop < event.json\n\n\
        CUEME_HOOKS=off makes every hook do nothing, for an unattended script:\n  \
        CUEME_HOOKS=off claude -p \"summarise the log\"")]
    Hook(HookArgs),
    /// Runtime: serve join, recall, cue and pause as MCP tools over stdio
    #[command(after_help = "Examples:\n  cueme mcp")]
    Mcp(McpArgs),
    /// Editor: start an ACP agent, and bring its questions to your inbox as well
    #[command(
        after_help = "Examples:\n  cueme acp -- agent acp\n  cueme acp -- npx @agentclientprotocol/claude-agent-acp"
    )]
    Acp(AcpArgs),

    /// Run, inspect or stop the broker
    #[command(
        after_help = "Examples:\n  cueme broker status\n  cueme broker restart\n  cueme broker logs --follow"
    )]
    Broker(BrokerArgs),
    /// Write a verified copy of the database while the broker runs
    #[command(after_help = "Examples:\n  cueme backup ~/cueme-backup.db")]
    Backup(BackupArgs),
    /// Replace the database with a backup; the current one is kept beside it
    #[command(after_help = "Examples:\n  cueme restore ~/cueme-backup.db")]
    Restore(RestoreArgs),
    /// Show where the inbox is stored, or move it into a shared database
    #[command(
        after_help = "Examples:\n  cueme store\n  cueme store move 'postgres://cueme@db.example/inbox?sslmode=verify-full'\n  cueme store move - < address   # one with a password, which `ps` would show\n  cueme store move sqlite"
    )]
    Store(StoreArgs),
    /// Delete old questions that are settled
    #[command(
        after_help = "Examples:\n  cueme purge --older-than 90d --dry-run\n  cueme purge --older-than 90d"
    )]
    Purge(PurgeArgs),
    /// Copy agents, questions and answers from the original cueme; its database is only read
    #[command(
        after_help = "Examples:\n  cueme import\n  cueme import /mnt/old/.cue/cue.db\n\nQuestions that are still open there are closed here, because their agents wait there. A second run copies what is new."
    )]
    Import(ImportArgs),
    /// Check the installation, and time a real question
    #[command(after_help = "Examples:\n  cueme doctor")]
    Doctor(DoctorArgs),
    /// Take a one-minute tour, without touching your data
    #[command(after_help = "Examples:\n  cueme demo\n  cueme demo --interactive")]
    Demo(DemoArgs),
    /// Print the documentation, offline
    #[command(
        after_help = "Examples:\n  cueme docs\n  cueme docs getting-started\n  cueme docs configuration"
    )]
    Docs(DocsArgs),
    /// Print completions for a shell
    #[command(
        after_help = "Examples:\n  cueme completions zsh > ~/.zfunc/_cueme\n  cueme completions fish > ~/.config/fish/completions/cueme.fish"
    )]
    Completions(CompletionsArgs),
    /// Print or write the manual pages
    #[command(
        after_help = "Examples:\n  cueme man --directory ~/.local/share/man/man1\n  cueme man answer > cueme-answer.1"
    )]
    Man(ManArgs),
    /// Show how to update this installation; changes nothing
    #[command(after_help = "Examples:\n  cueme update")]
    Update,
}

/// A call of `cue` by an agent, ready to paste.
pub(crate) const CUE_CALL: &str = "\
cueme cue <agent_id> - <<'CUEME'
<cueme_prompt>
Your question
</cueme_prompt>
CUEME";

/// The help of the whole command: verbs by who uses them, on a screen of 80 columns and 40 lines.
const HELP: &str = "\
Ask a human from any coding agent, and wait for the answer
Usage: cueme <COMMAND>     -V [--verbose]: version; CUEME_HOME: data directory

Commands:
  inbox        You      List the open questions
  show                  Show one question in full
  answer                Answer a question; without an answer, cueme asks for it
  undo                  Take back an answer given in the last five seconds
  decline               Refuse a question, and tell the agent
  cancel                Close a question unanswered, and tell the agent
  say                   Leave an agent a note; shown above your next answer
  last                  Print the last answer that an agent received
  agents                List the agents
  history               List past questions, newest first
  tui                   Open the inbox full-screen in this terminal
  ui                    Open the inbox in a browser
  join         Agents   Register and get an agent_id
  recall                Find your agent_id from words you remember
  cue                   Ask the human and wait for the answer
  pause                 Stop until the human lets you continue
  init         Connect  Connect a runtime: rules, permissions, hooks and MCP
  notify                Send questions to a chat or a phone, and take answers
  protocol              Print the text that teaches an agent the protocol
  mcp                   Serve an agent's four verbs as MCP tools over stdio
  token                 Create, list and revoke tokens for programs and machines
  link                  Use a broker on another machine
  demo         Operate  Take a one-minute tour
  docs                  Print the documentation, offline
  doctor                Check the installation, and time a real question
  broker                Run, inspect or stop the broker
  agent        Cursor   Run Cursor's agent, and make sure that it asks you
  cloud                 Run agents in Cursor's cloud
  chats                 Read the chats that Cursor keeps on disk
More: backup, restore, store, purge, import, completions, man, update, hook, acp

Examples: cueme demo, cueme answer 7k3 \"use SQLite\"; more: cueme help <COMMAND>
Exit codes: 0 done, 1 not found, 2 usage error, 3 unknown agent, 4 cancelled,
69 no broker, 74 output failed, 75 run it again, 76 end the turn, 130/143 signal
";

/// Words that people try first, and the call that each means.
const COMMON_WORDS: [(&str, &[&str]); 7] = [
    ("reply", &["answer"]),
    ("ls", &["inbox"]),
    ("watch", &["inbox", "--watch"]),
    ("web", &["ui"]),
    ("setup", &["init"]),
    ("status", &["broker", "status"]),
    ("logs", &["broker", "logs"]),
];

/// The variable by which a shell asks for completions.
pub(crate) const COMPLETE_ENV: &str = "CUEME_COMPLETE";

/// Parses the command line. Help and mistakes are printed here.
pub(crate) fn parse() -> Result<Cli, CliError> {
    CompleteEnv::with_factory(Cli::command)
        .var(COMPLETE_ENV)
        .complete();
    if let Some(verb) = parse_alone(std::env::args_os().skip(1)) {
        return Ok(Cli { verb });
    }
    let words = with_common_word(std::env::args_os().collect());
    if version::is_asked_for(&words[1.min(words.len())..]) {
        output::print(&version::verbose())?;
        return Err(CliError::silent(Exit::Done));
    }
    let verb = words.get(1).and_then(|word| word.to_str()).map(str::to_owned);
    // No alias: permissions and gates of hosts know the question by the word `cue` alone.
    if verb.as_deref() == Some("ask") {
        return Err(
            CliError::usage("there is no command `ask`; an agent asks with `cueme cue`")
                .with_example(CUE_CALL),
        );
    }
    Cli::command()
        .override_help(folded(HELP, output::columns()))
        .try_get_matches_from(with_dashed_text(words))
        .and_then(|matches| Cli::from_arg_matches(&matches))
        .map_err(|error| explain(&error, verb.as_deref()))
}

/// Folds lines that are too long for the terminal; what a verb does stays in its column.
fn folded(help: &str, columns: usize) -> String {
    const VERB_COLUMNS: usize = 24;
    let mut folded = String::new();
    for line in help.lines() {
        let indent = if line.starts_with("  ") { VERB_COLUMNS } else { 2 };
        let mut length = 0;
        for (place, word) in line.split(' ').enumerate() {
            let width = word.chars().count();
            if place > 0 && length + 1 + width > columns && length > indent {
                folded.push('\n');
                folded.push_str(&" ".repeat(indent));
                length = indent;
            } else if place > 0 {
                folded.push(' ');
                length += 1;
            }
            folded.push_str(word);
            length += width;
        }
        folded.push('\n');
    }
    folded
}

/// Replaces a common word by the call that it means: `cueme status` by `cueme broker status`.
fn with_common_word(mut words: Vec<OsString>) -> Vec<OsString> {
    let is_help = words.get(1).is_some_and(|word| word == "help");
    let at = if is_help { 2 } else { 1 };
    let meant = COMMON_WORDS
        .iter()
        .find(|(common, _)| words.get(at).is_some_and(|word| word == common));
    if let Some((_, call)) = meant {
        // Help is about a verb, whatever its options.
        let call = call.iter().filter(|word| !is_help || !word.starts_with('-'));
        words.splice(at..=at, call.map(OsString::from));
    }
    words
}

/// Parses a valid call of an agent's verb or of `broker` without the definition of the others.
///
/// The program starts sooner without building the other thirty. An invalid call is left to the whole definition, which
/// explains the error.
fn parse_alone(words: impl Iterator<Item = OsString>) -> Option<Verb> {
    let mut words = words.peekable();
    Some(match words.peek()?.to_str()? {
        "join" => Verb::Hap(HapVerb::Join(arguments(words)?)),
        "recall" => Verb::Hap(HapVerb::Recall(arguments(words)?)),
        "cue" => Verb::Hap(HapVerb::Cue(arguments(words)?)),
        "pause" => Verb::Hap(HapVerb::Pause(arguments(words)?)),
        "broker" => Verb::Broker(arguments(words)?),
        _ => return None,
    })
}

/// Moves a text that begins with a dash behind a `--`, where it is not taken for options: `answer 7k3 "-v levels"`.
///
/// A word with blanks is no option. It stays where it is if other words of the text follow, whose order would change.
fn with_dashed_text(mut words: Vec<OsString>) -> Vec<OsString> {
    /// Each verb with the place of its first word of text.
    const VERBS: [(&str, usize); 6] = [
        ("answer", 3),
        ("decline", 3),
        ("cancel", 3),
        ("say", 3),
        ("pause", 3),
        ("recall", 2),
    ];
    const TAKES_VALUE: [&str; 4] = ["--select", "--other", "--field", "--attach"];
    let text = |word: &OsString| word.to_str().unwrap_or_default().to_owned();
    let verb = words.get(1).map(text).unwrap_or_default();
    let Some((_, first)) = VERBS.into_iter().find(|(name, _)| *name == verb) else {
        return words;
    };
    if words.iter().any(|word| word == "--") {
        return words;
    }
    let is_value = |at: usize| TAKES_VALUE.contains(&text(&words[at - 1]).as_str());
    let is_dashed = |at: &usize| {
        let word = text(&words[*at]);
        // Only a long option has its value behind `=`: `--field=Env=my laptop`.
        let name = match word.strip_prefix("--") {
            Some(option) => option.split('=').next().unwrap_or_default(),
            None => &word,
        };
        word.starts_with('-') && name.contains(char::is_whitespace) && !is_value(*at)
    };
    let Some(dashed) = (first..words.len()).find(is_dashed) else {
        return words;
    };
    let is_text = |at: usize| !is_value(at) && !text(&words[at]).starts_with("--");
    if (dashed + 1..words.len()).any(is_text) {
        return words;
    }
    let moved = words.remove(dashed);
    words.extend(["--".into(), moved]);
    words
}

/// Reads the arguments of one verb; the first word is its name.
fn arguments<A: Args>(words: impl Iterator<Item = OsString>) -> Option<A> {
    let command = A::augment_args(Command::new("cueme"));
    let matches = command.try_get_matches_from(words).ok()?;
    A::from_arg_matches(&matches).ok()
}

fn explain(error: &clap::Error, verb: Option<&str>) -> CliError {
    // A closed terminal changes nothing about the call being wrong.
    let _ = error.print();
    if !error.use_stderr() {
        return CliError::silent(Exit::Done);
    }
    if error.kind() != ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
        && let Some(example) = verb.and_then(example_of)
    {
        output::tell(&format!("\nexample:\n{example}"));
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
    fn the_help_names_every_verb_and_no_other() {
        let listed = HELP
            .lines()
            .filter_map(|line| line.strip_prefix("  ").or_else(|| line.strip_prefix("More: ")));
        let listed: Vec<&str> = listed
            .flat_map(|line| line.split("  ").next().unwrap_or_default().split(", "))
            .collect();
        let command = Cli::command();
        for verb in command.get_subcommands() {
            assert!(listed.contains(&verb.get_name()), "{}", verb.get_name());
        }
        for verb in listed {
            assert!(command.find_subcommand(verb).is_some(), "{verb}");
        }
    }

    #[test]
    fn no_common_word_hides_a_verb() {
        let command = Cli::command();
        for (common, call) in COMMON_WORDS {
            assert!(command.find_subcommand(common).is_none(), "{common}");
            assert!(command.find_subcommand(call[0]).is_some(), "{common}");
        }
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
                let words = shlex::split(line).unwrap_or_else(|| panic!("no shell reads {line:?}"));
                let parsed = Cli::try_parse_from(std::iter::once("cueme".to_owned()).chain(words));
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

    #[test]
    fn a_text_may_begin_with_a_dash_and_a_mistyped_option_is_no_text() {
        let parsed = |words: &[&str]| {
            let words = ["cueme", "answer", "7k3"].iter().chain(words).map(OsString::from);
            match Cli::try_parse_from(with_dashed_text(words.collect())).ok()?.verb {
                Verb::Answer(args) => Some((args.text, args.rest, args.attach.len(), args.other)),
                _ => None,
            }
        };
        let text = |words: &[&str]| words.iter().map(ToString::to_string).collect::<Vec<_>>();
        let dashed = Some((vec![], text(&["-v levels"]), 0, None));
        assert_eq!(parsed(&["-v levels"]), dashed);
        assert_eq!(parsed(&["--", "-v levels"]), dashed);
        let with_file = parsed(&["-v levels", "--attach", "a b.png"]);
        assert_eq!(with_file, Some((vec![], text(&["-v levels"]), 1, None)));
        let other = parsed(&["--other", "-v levels"]);
        assert_eq!(other, Some((vec![], vec![], 0, Some("-v levels".to_owned()))));
        let after = parsed(&["use", "-v levels"]);
        assert_eq!(after, Some((text(&["use"]), text(&["-v levels"]), 0, None)));
        for wrong in [&["--confrim"][..], &["-v levels", "please"], &["-v"]] {
            assert_eq!(parsed(wrong), None, "{wrong:?}");
        }
    }

    fn parsed_alone(call: &str) -> Option<Verb> {
        parse_alone(call.split(' ').map(OsString::from))
    }

    #[test]
    fn what_is_parsed_alone_means_the_same_as_in_the_whole_definition() {
        for call in [
            "join cursor",
            "recall payment refactoring --json",
            "cue bako-nefi - --json",
            "cue bako-nefi - --check",
            "pause bako-nefi",
            "pause bako-nefi continue --check --json",
            "broker status --json",
            "broker run --background",
            "broker logs --follow --lines 5",
        ] {
            let whole = Cli::try_parse_from(std::iter::once("cueme").chain(call.split(' '))).unwrap();
            let alone = parsed_alone(call).unwrap_or_else(|| panic!("{call} is not parsed alone"));
            assert_eq!(format!("{alone:?}"), format!("{:?}", whole.verb), "{call}");
        }
    }

    #[test]
    fn what_is_not_a_right_call_is_left_to_the_whole_definition() {
        for call in [
            "join",
            "join cursor too",
            "cue --help",
            "broker",
            "broker fly",
            "inbox",
            "--help",
        ] {
            assert!(parsed_alone(call).is_none(), "{call}");
        }
    }
}
