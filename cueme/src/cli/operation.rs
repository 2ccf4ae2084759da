//! Arguments of the verbs that operate the broker and its data.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// Arguments of `broker`.
#[derive(Debug, Args)]
#[command(arg_required_else_help = true)]
pub(crate) struct BrokerArgs {
    /// The verb.
    #[command(subcommand)]
    pub(crate) verb: BrokerVerb,
}

/// The verbs of `cueme broker`.
#[derive(Debug, Subcommand)]
pub(crate) enum BrokerVerb {
    /// Run the broker in the foreground; other commands start it when they need it
    Run {
        /// Detach from the terminal and log to the log file only
        #[arg(long)]
        background: bool,
    },
    /// Show the state of the broker; never starts one
    Status {
        /// Print a JSON object
        #[arg(long)]
        json: bool,
    },
    /// Stop the broker; waiting agents wait for the next one
    Stop,
    /// Stop the broker and start it again
    Restart,
    /// Print the log of the broker
    Logs {
        /// Number of lines
        #[arg(long, short = 'n', value_name = "NUMBER", default_value_t = 50)]
        lines: u32,
        /// Stay, and print new lines
        #[arg(long, short = 'f')]
        follow: bool,
    },
    /// Write a user service that starts the broker when you log in
    Install {
        /// Only print the service
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
    /// The file to write; it must not exist yet
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

/// The verbs of `cueme store`.
#[derive(Debug, Subcommand)]
pub(crate) enum StoreVerb {
    /// Copy everything, verify the copy, and switch to it
    Move {
        /// The new store: `postgres://user@host/database`, `-` to read that from stdin, or `sqlite` for a file on this machine
        #[arg(value_name = "STORE")]
        to: String,
    },
}

/// Arguments of `purge`.
#[derive(Debug, Args)]
pub(crate) struct PurgeArgs {
    /// Minimum age of a question: 90d, 12h …; without it, the configured retention
    #[arg(long, value_name = "AGE")]
    pub(crate) older_than: Option<String>,
    /// Only count the questions
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// Arguments of `doctor`.
#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// Skip the timing of a question
    #[arg(long)]
    pub(crate) quick: bool,
}

/// Arguments of `demo`.
#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// Answer the questions yourself
    #[arg(long)]
    pub(crate) interactive: bool,
    /// Use your own broker and database: the questions wait in your inbox
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
