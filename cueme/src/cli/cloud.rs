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

What is not given is read from [cloud] in cueme's configuration. Its fields are repository, ref, model, autoCreatePr,
branchName, promptTemplate, pollIntervalSec, timeoutSec, graceSec, publicUrl, enableWebhooks, verifyRepositoryAccess,
api, baseUrl and env. CURSOR_API_KEY, CURSOR_WEBHOOK_SECRET and CUEME_PUBLIC_URL are read from the environment where the
configuration does not name them. Exit codes: 0 the run succeeded, 1 it failed or took too long, 2 the call or the
configuration is wrong, 130 it was cancelled.";

/// Arguments of `cloud`.
#[derive(Debug, Args)]
#[command(arg_required_else_help = true)]
pub(crate) struct CloudArgs {
    /// What to do there.
    #[command(subcommand)]
    pub(crate) verb: CloudVerb,
}

/// The verbs of `cueme cloud`.
#[derive(Debug, Subcommand)]
pub(crate) enum CloudVerb {
    /// Start an agent, and stay until you say that it is done
    Launch(CloudLaunchArgs),
    /// Say something further to an agent, and stay until you say that it is done
    FollowUp(CloudFollowUpArgs),
    /// Show how an agent stands, or list the runs this broker knows
    Status(CloudStatusArgs),
    /// Print what was said
    Conversation(CloudConversationArgs),
    /// Stop an agent
    Stop(CloudStopArgs),
    /// Find a run again, and stay until you say that it is done
    Watch(CloudWatchArgs),
    /// Check that a run could work, and say what is in the way
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
    /// Model; Cursor chooses without it
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// Open a pull request at the end
    #[arg(long)]
    pub(crate) auto_create_pr: bool,
    /// Branch to push to
    #[arg(long, value_name = "NAME")]
    pub(crate) branch_name: Option<String>,
    /// The words sent, with {{prompt}} in them
    #[arg(long, value_name = "TEXT")]
    pub(crate) prompt_template: Option<String>,
    /// Seconds between two looks at the status
    #[arg(long = "poll-interval", value_name = "SECONDS")]
    pub(crate) poll_interval_sec: Option<u64>,
    /// Longest run in seconds; 0 for no limit
    #[arg(long = "timeout", value_name = "SECONDS")]
    pub(crate) timeout_sec: Option<u64>,
    /// Seconds a stop may take, and late words are waited for
    #[arg(long = "grace", value_name = "SECONDS")]
    pub(crate) grace_sec: Option<u64>,
    /// Where Cursor's machines reach this broker
    #[arg(long, value_name = "URL")]
    pub(crate) public_url: Option<String>,
    /// Do not have status changes sent to the broker
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
    /// Do not see to it that you are asked before the run ends
    #[arg(long)]
    pub(crate) no_hap: bool,
    /// End the run when its agent ends after you answered its last question
    #[arg(long, conflicts_with = "no_hap")]
    pub(crate) once: bool,
    /// Write the result to this file, as one JSON object
    #[arg(long, value_name = "FILE")]
    pub(crate) result: Option<PathBuf>,
    /// Print events as one JSON object a line, as is done when stdout is no terminal
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
    /// The agent in the cloud or one of its runs, or the beginning of its id
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// What to say, or `-` to read it from stdin
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
    /// The agent in the cloud or one of its runs, or the beginning of its id
    #[arg(value_name = "ID")]
    pub(crate) id: Option<String>,
    /// Print JSON objects, one a line
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `cloud conversation`.
#[derive(Debug, Args)]
pub(crate) struct CloudConversationArgs {
    /// The agent in the cloud or one of its runs, or the beginning of its id
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// Print JSON objects, one a line
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `cloud stop`.
#[derive(Debug, Args)]
pub(crate) struct CloudStopArgs {
    /// The agent in the cloud or one of its runs, or the beginning of its id
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// Print a JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `cloud watch`.
#[derive(Debug, Args)]
pub(crate) struct CloudWatchArgs {
    /// The agent in the cloud or one of its runs, or the beginning of its id
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
    /// Check for runs that are launched with --no-hap
    #[arg(long)]
    pub(crate) no_hap: bool,
    /// Print JSON objects, one a line
    #[arg(long)]
    pub(crate) json: bool,
}
