//! Runs: turns of agents that an adapter drives, on this machine or in a cloud.
//!
//! The driver of a run reports it to the broker, which shows it on the page.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::id::{AgentId, CueId, DriverId, RunId};
use crate::time::Timestamp;

/// The most events one report may carry.
pub const RUN_EVENTS_PER_REPORT_MAX: usize = 256;
/// The longest text of a run or of one of its events, in bytes.
pub const RUN_TEXT_BYTES_MAX: usize = 4096;

/// The place of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunKind {
    /// On this machine, by the runtime's command line.
    Local,
    /// On machines of the runtime's maker.
    Cloud,
}

/// The result of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunEnd {
    /// The agent finished.
    Succeeded,
    /// It failed.
    Failed,
    /// A human or a program cancelled it.
    Cancelled,
}

/// The known facts of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    /// Its id, created by its driver.
    pub run_id: RunId,
    /// Its place.
    pub kind: RunKind,
    /// The agent that asks in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<AgentId>,
    /// The repository, or the directory on this machine.
    pub project: String,
    /// The beginning of the task.
    pub title: String,
    /// Its status, in the runtime's own words.
    pub status: String,
    /// Its result, once it has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<RunEnd>,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The runtime's name for the conversation: a chat, or an agent in the cloud.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Everything that is needed to continue the conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_params: Option<Value>,
    /// The model that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The branch it pushed to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The pull request it opened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pr_url: Option<String>,
    /// The runtime's own page about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
}

/// Something that happened in a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunEvent {
    /// When.
    pub at: Timestamp,
    /// The kind of event: `status`, `tool`, `webhook`, `exchange` ….
    pub what: String,
    /// More about it.
    pub text: String,
}

/// Reports the state of a run, and the events since the last report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunReport {
    /// The run as it is now.
    pub run: Run,
    /// The events, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<RunEvent>,
}

/// Follows a run on behalf of its driver, which is told when to poll it again or to stop.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunFollow {
    /// The run.
    pub run_id: RunId,
    /// The secret that signs the run's webhooks. The broker keeps it in memory until the run ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub webhook_secret: Option<String>,
    /// The address that its agent and its webhooks are sent to. The broker accepts requests for this host until the run
    /// ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub public_url: Option<String>,
    /// Whether this driver asks the human and passes on the answer. The first such driver of a run leads it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub asks: bool,
    /// The id of the driver's process, so that it keeps the lead after a restart of the broker.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub driver: Option<DriverId>,
}

impl RunFollow {
    /// Follows a run without a part in its questions and webhooks.
    pub const fn of(run_id: RunId) -> Self {
        Self {
            run_id,
            webhook_secret: None,
            public_url: None,
            asks: false,
            driver: None,
        }
    }
}

impl std::fmt::Debug for RunFollow {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "RunFollow({})", self.run_id)
    }
}

/// Asks for the right to send the human's word to the agent of a run. Only the driver that leads the run gets it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunClaim {
    /// The run.
    pub run_id: RunId,
    /// The driver that asks, as in [`RunFollow::driver`].
    pub driver: DriverId,
    /// The message that it is about to send. Without it, the broker only returns the last message of another driver.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sending: Option<Sending>,
}

/// A human's word that a driver is about to send. It is kept until the next one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sending {
    /// The questions that the word answers.
    pub cue_ids: Vec<CueId>,
    /// The position of the conversation, in the driver's own terms: the next driver can tell from it whether the word arrived.
    pub position: String,
}

/// Whether the driver may send, and the last message of another driver.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunClaimed {
    /// Whether the driver leads the run; if so, its claim is on disk.
    pub leads: bool,
    /// The last message that another driver was about to send. Whether it was sent is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left: Option<Sending>,
}

/// Lists runs, newest first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunQuery {
    /// Only those in this place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<RunKind>,
    /// Only those with this id or session, or with a beginning of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The maximum number of runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

/// Makes a one-time token with which an agent elsewhere gets one of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MintBootstrap {
    /// The agent it is for.
    pub agent_id: AgentId,
    /// The run it is for.
    pub run_id: RunId,
}

/// A run with when it happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunView {
    /// The run.
    #[serde(flatten)]
    pub run: Run,
    /// When it began.
    pub started_at: Timestamp,
    /// When it was last reported.
    pub changed_at: Timestamp,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
    /// Whether a driver follows it now. A run that has not ended and has no driver may have ended unseen.
    pub followed: bool,
}

/// A report is on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunNoted {
    /// The run.
    pub run_id: RunId,
}

/// The driver of the run should poll it again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunWoken {
    /// The run.
    pub run_id: RunId,
    /// Whether a human wants it stopped.
    #[serde(default)]
    pub stop: bool,
    /// The follower that asks the human and passes on the answer.
    #[serde(default)]
    pub lead: Lead,
    /// Whether the run has ended.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ended: bool,
}

/// The leader of a run, as seen by one of its followers. Several may follow; only the leader speaks with the human.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lead {
    /// No follower.
    #[default]
    Nobody,
    /// The follower that gets this line.
    You,
    /// Another follower.
    Another,
}

/// Asks whether agents elsewhere reach the broker at an address, and lets the address be tried for a while.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PublicProbe {
    /// The address.
    pub public_url: String,
}

/// The response to expect at the address.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PublicProbed {
    /// The address of the broker's public listener; absent if it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub listens_on: Option<String>,
    /// The path to fetch below the address.
    pub path: String,
    /// The response that only this broker gives at that path.
    pub proof: String,
}

impl std::fmt::Debug for PublicProbed {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "PublicProbed({:?})", self.listens_on)
    }
}

/// A one-time token, shown this once.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BootstrapMade {
    /// The token.
    pub token: String,
    /// Until when it can be exchanged.
    pub expires_at: Timestamp,
}

impl std::fmt::Debug for BootstrapMade {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "BootstrapMade(until {})", self.expires_at)
    }
}
