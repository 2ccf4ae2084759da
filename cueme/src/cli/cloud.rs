//! The arguments of `cloud`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

pub(super) const EXAMPLES: &str = "\
Examples:
  cueme cloud doctor
  cueme cloud launch \"fix the failing test\" --repository https://github.com/acme/site
  cueme cloud launch - --auto-create-pr < task.md
  cueme cloud follow-up bc-1f2e \"now update the docs\"
  cueme cloud status
  cueme cloud watch bc-1f2e
  cueme cloud stop bc-1f2e

Options that are not given are read from [cloud] in cueme's configuration (cueme docs configuration). CURSOR_API_KEY, CURSOR_WEBHOOK_SECRET \
and CUEME_PUBLIC_URL are read from the environment unless the configuration names them.
Exit codes: 0 the run succeeded, 1 it failed or took too long, 2 the call or the configuration is wrong, 130 it was cancelled.";

/// Arguments of `cloud`.
#[derive(Debug, Args)]
#[command(arg_required_else_help = true)]
pub(crate) struct CloudArgs {
    /// The verb.
    #[command(subcommand)]
    pub(crate) verb: CloudVerb,
}

/// The verbs of `cueme cloud`.
#[derive(Debug, Subcommand)]
pub(crate) enum CloudVerb {
    /// Start an agent, and stay until you end the run
    Launch(CloudLaunchArgs),
    /// Send an agent another message, and stay until you end the run
    FollowUp(CloudFollowUpArgs),
    /// Show the status of an agent, or list the runs that this broker knows
    Status(CloudStatusArgs),
    /// Print the conversation
    Conversation(CloudConversationArgs),
    /// Stop an agent
    Stop(CloudStopArgs),
    /// Take over a run, and stay until you end it
    Watch(CloudWatchArgs),
    /// Check that a run can work, and show what prevents it
    Doctor(CloudDoctorArgs),
}

/// The settings of a run that override the configuration.
#[derive(Debug, Default, Args)]
pub(crate) struct CloudFields {
    /// URL of the repository
    #[arg(long, value_name = "URL")]
    pub(crate) repository: Option<String>,
    /// Branch, tag or commit to start from
    #[arg(long = "ref", value_name = "REF")]
    pub(crate) reference: Option<String>,
    /// Model; by default, Cursor chooses one
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// Open a pull request at the end
    #[arg(long)]
    pub(crate) auto_create_pr: bool,
    /// Branch to push to
    #[arg(long, value_name = "NAME")]
    pub(crate) branch_name: Option<String>,
    /// Template of the text to send; {{prompt}} is the task
    #[arg(long, value_name = "TEXT")]
    pub(crate) prompt_template: Option<String>,
    /// Seconds between two status requests
    #[arg(long = "poll-interval", value_name = "SECONDS")]
    pub(crate) poll_interval_sec: Option<u64>,
    /// Time limit of the run in seconds; 0 for none
    #[arg(long = "timeout", value_name = "SECONDS")]
    pub(crate) timeout_sec: Option<u64>,
    /// Seconds to wait for a stop
    #[arg(long = "grace", value_name = "SECONDS")]
    pub(crate) grace_sec: Option<u64>,
    /// The URL at which Cursor's machines reach this broker
    #[arg(long, value_name = "URL")]
    pub(crate) public_url: Option<String>,
    /// Do not ask Cursor for webhooks
    #[arg(long)]
    pub(crate) no_webhooks: bool,
    /// Generation of Cursor's API
    #[arg(long, value_name = "VERSION", value_enum)]
    pub(crate) api: Option<CloudApiVersion>,
}

/// A generation of Cursor's API.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum CloudApiVersion {
    /// Webhooks and polling
    V0,
    /// Runs with a stream of events
    V1,
}

/// How a run is driven.
#[derive(Debug, Default, Args)]
pub(crate) struct CloudDriving {
    /// Run without the check that the agent asks you
    #[arg(long)]
    pub(crate) no_hap: bool,
    /// End the run at the end of the first turn after your answer
    #[arg(long, conflicts_with = "no_hap")]
    pub(crate) once: bool,
    /// Write the result to this file, as one JSON object
    #[arg(long, value_name = "FILE")]
    pub(crate) result: Option<PathBuf>,
    /// Print events, one JSON object per line; the default without a terminal
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `cloud launch`.
#[derive(Debug, Args)]
pub(crate) struct CloudLaunchArgs {
    /// The task, or `-` to read it from stdin
    #[arg(value_name = "PROMPT", required_unless_present = "form")]
    pub(crate) prompt: Vec<String>,
    /// Read task and configuration from stdin as JSON, as the page fills them in
    #[arg(long, hide = true, conflicts_with = "prompt")]
    pub(crate) form: bool,
    #[command(flatten)]
    pub(crate) fields: CloudFields,
    #[command(flatten)]
    pub(crate) driving: CloudDriving,
}

/// Arguments of `cloud follow-up`.
#[derive(Debug, Args)]
pub(crate) struct CloudFollowUpArgs {
    /// Id of the agent or of one of its runs, or its first characters
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// The message, or `-` to read it from stdin
    #[arg(value_name = "PROMPT", required = true)]
    pub(crate) prompt: Vec<String>,
    /// Start another agent if this one works on another repository
    #[arg(long)]
    pub(crate) new_agent: bool,
    #[command(flatten)]
    pub(crate) fields: CloudFields,
    #[command(flatten)]
    pub(crate) driving: CloudDriving,
}

/// Arguments of `cloud status`.
#[derive(Debug, Args)]
pub(crate) struct CloudStatusArgs {
    /// Id of the agent or of one of its runs, or its first characters
    #[arg(value_name = "ID")]
    pub(crate) id: Option<String>,
    /// Print JSON objects, one per line
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `cloud conversation`.
#[derive(Debug, Args)]
pub(crate) struct CloudConversationArgs {
    /// Id of the agent or of one of its runs, or its first characters
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// Print JSON objects, one per line
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `cloud stop`.
#[derive(Debug, Args)]
pub(crate) struct CloudStopArgs {
    /// Id of the agent or of one of its runs, or its first characters
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// Print a JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `cloud watch`.
#[derive(Debug, Args)]
pub(crate) struct CloudWatchArgs {
    /// Id of the agent or of one of its runs, or its first characters
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    #[command(flatten)]
    pub(crate) fields: CloudFields,
    #[command(flatten)]
    pub(crate) driving: CloudDriving,
    /// Leave when stdin is closed
    #[arg(long, hide = true)]
    pub(crate) while_stdin_open: bool,
}

/// Arguments of `cloud doctor`.
#[derive(Debug, Args)]
pub(crate) struct CloudDoctorArgs {
    #[command(flatten)]
    pub(crate) fields: CloudFields,
    /// Check only what runs with --no-hap need
    #[arg(long)]
    pub(crate) no_hap: bool,
    /// Print JSON objects, one per line
    #[arg(long)]
    pub(crate) json: bool,
}
