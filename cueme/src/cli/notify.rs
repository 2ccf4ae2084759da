//! Arguments of `notify`: channels that show questions besides the page and the terminal.

use clap::{Args, Subcommand, ValueEnum};
use cueme_broker::notify::Reason;

use super::candidates::completing_channels;

/// Valid calls.
pub(super) const EXAMPLES: &str = "Examples:
  cueme notify add telegram --chat 4200 --people 42=Ada < token.txt
  cueme notify add slack --channel C0DESK --people U0ADA=Ada < both-tokens.txt
  cueme notify add ntfy --url https://ntfy.sh/my-topic --replies my-topic-replies --person Ada
  cueme notify test telegram
  cueme notify list
  cueme notify remove telegram

`cueme notify add` reads tokens from stdin, one per line: for `telegram` the bot's token, for `slack` the bot's (xoxb-…) and then the app's \
(xapp-…). It keeps them in files that only you can read, and never prints them.
Guide: cueme docs rules-and-notifications";

/// Arguments of `notify`.
#[derive(Debug, Args)]
#[command(arg_required_else_help = true)]
pub(crate) struct NotifyArgs {
    /// The verb.
    #[command(subcommand)]
    pub(crate) verb: NotifyVerb,
}

/// The verbs of `cueme notify`.
#[derive(Debug, Subcommand)]
pub(crate) enum NotifyVerb {
    /// Add a channel to the configuration
    Add(Box<NotifyAddArgs>),
    /// Send a test message
    Test {
        /// The channel
        #[arg(add = completing_channels())]
        name: String,
    },
    /// List the channels
    List {
        /// Print a JSON array
        #[arg(long)]
        json: bool,
    },
    /// Remove a channel, and its tokens if cueme keeps them
    Remove {
        /// The channel
        #[arg(add = completing_channels())]
        name: String,
    },
}

/// The kind of a channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ChannelWord {
    /// A Telegram bot
    Telegram,
    /// A Slack app in Socket Mode
    Slack,
    /// An ntfy topic
    Ntfy,
    /// JSON to a URL of your choice
    Webhook,
}

/// A reason for a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReasonWord {
    /// An agent asks
    Question,
    /// An agent wants to use a tool
    Approval,
    /// An agent pauses until somebody continues
    Pause,
}

impl ReasonWord {
    /// Returns the reason.
    pub(crate) fn reason(self) -> Reason {
        match self {
            Self::Question => Reason::Question,
            Self::Approval => Reason::Approval,
            Self::Pause => Reason::Pause,
        }
    }
}

/// Arguments of `notify add`.
#[derive(Debug, Args)]
pub(crate) struct NotifyAddArgs {
    /// The kind of the channel
    pub(crate) kind: ChannelWord,
    /// Name of the channel; by default, its kind
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// ntfy: the address of the topic; webhook: the address
    #[arg(long)]
    pub(crate) url: Option<String>,
    /// telegram: the id of the chat
    #[arg(long, allow_hyphen_values = true)]
    pub(crate) chat: Option<String>,
    /// slack: the id of the channel
    #[arg(long)]
    pub(crate) channel: Option<String>,
    /// telegram, slack: a person who may answer, by their id there; can be repeated
    #[arg(long, value_name = "ID=NAME")]
    pub(crate) people: Vec<String>,
    /// ntfy: the topic that buttons publish to
    #[arg(long, value_name = "TOPIC", requires = "person")]
    pub(crate) replies: Option<String>,
    /// ntfy: name of the person who reads the topic
    #[arg(long, value_name = "NAME", requires = "replies")]
    pub(crate) person: Option<String>,
    /// ntfy, webhook: read a token from stdin
    #[arg(long)]
    pub(crate) with_token: bool,
    /// How long a question waits before the message is sent, such as 30s
    #[arg(long, value_name = "DURATION")]
    pub(crate) after: Option<String>,
    /// Hours in which nothing is sent, such as 22:00-07:00
    #[arg(long, value_name = "HOURS")]
    pub(crate) quiet: Option<String>,
    /// Send only for this reason; by default, for all; can be repeated
    #[arg(long = "reason", value_name = "REASON")]
    pub(crate) reasons: Vec<ReasonWord>,
    /// Do not send the text of questions
    #[arg(long)]
    pub(crate) no_preview: bool,
}
