//! Arguments of the verbs that look after the broker and its data.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// Arguments of `broker`.
#[derive(Debug, Args)]
#[command(arg_required_else_help = true)]
pub(crate) struct BrokerArgs {
    /// What to do with it.
    #[command(subcommand)]
    pub(crate) verb: BrokerVerb,
}

/// The verbs of `cueme broker`.
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

/// Arguments of `store`.
#[derive(Debug, Args)]
pub(crate) struct StoreArgs {
    #[command(subcommand)]
    pub(crate) verb: Option<StoreVerb>,
}

/// What is done with the store.
#[derive(Debug, Subcommand)]
pub(crate) enum StoreVerb {
    /// Copy everything, verify the copy, and go on there
    Move {
        /// Where to: `postgres://user@host/database`, or `sqlite` for the file of this machine
        #[arg(value_name = "STORE")]
        to: String,
    },
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
    /// Use your own broker and database; the questions wait for you in your inbox
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
