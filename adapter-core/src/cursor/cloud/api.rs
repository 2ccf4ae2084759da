//! The adapter's requests to Cursor's cloud, the same for each generation of the API.

use cloud_settings::{ApiGeneration, Secret, WebhookTarget};
use std::fmt;
use std::future::Future;
use std::pin::Pin;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::error::CloudError;
use super::stream::RunStream;

/// The future of a call.
pub type ApiFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, CloudError>> + Send + 'a>>;

/// The calls both generations have.
pub trait CloudApi: Send + Sync + fmt::Debug {
    /// Returns the generation.
    fn generation(&self) -> ApiGeneration;
    /// Starts a new agent with its first run. One whose answer was lost is looked for.
    fn launch<'a>(&'a self, launch: &'a Launch) -> ApiFuture<'a, Started>;
    /// Sends a further prompt to an agent after this run. One whose answer was lost is looked for.
    fn follow_up<'a>(&'a self, after: &'a RunRef, prompt: &'a Prompt) -> ApiFuture<'a, Started>;
    /// Returns the agent's latest run.
    fn latest_run<'a>(&'a self, agent_id: &'a str) -> ApiFuture<'a, RunRef>;
    /// Reads how a run stands.
    fn state<'a>(&'a self, run: &'a RunRef) -> ApiFuture<'a, RunState>;
    /// Reads what was said.
    fn conversation<'a>(&'a self, run: &'a RunRef) -> ApiFuture<'a, Conversation>;
    /// Stops a run.
    fn stop<'a>(&'a self, run: &'a RunRef) -> ApiFuture<'a, StopOutcome>;
    /// Opens the run's events after the one with this id; none where the API has no such stream.
    fn events<'a>(&'a self, run: &'a RunRef, after: Option<&'a str>) -> ApiFuture<'a, Option<RunStream>>;
    /// Returns whose key this is.
    fn me(&self) -> ApiFuture<'_, Identity>;
    /// Returns the names of the models.
    fn models(&self) -> ApiFuture<'_, Vec<String>>;
    /// Returns the repositories the key can reach. Strictly limited by Cursor, and therefore by us.
    fn repositories(&self) -> ApiFuture<'_, Vec<String>>;
}

/// A prompt, which holds a one-time token and is therefore shown to nobody.
#[derive(Clone)]
pub struct Prompt {
    /// The words.
    pub text: String,
    /// The secrets among them.
    pub secrets: Vec<Secret>,
}

impl Prompt {
    /// Makes a prompt without secrets.
    pub fn new(text: impl Into<String>) -> Self {
        Prompt {
            text: text.into(),
            secrets: Vec::new(),
        }
    }
}

impl Prompt {
    /// Tells whether no other prompt has the same text: it holds a one-time token.
    pub fn is_unique(&self) -> bool {
        !self.secrets.is_empty()
    }
}

impl fmt::Debug for Prompt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Prompt({} bytes)", self.text.len())
    }
}

/// A new agent.
#[derive(Debug, Clone)]
pub struct Launch {
    /// The repository's URL.
    pub repository: String,
    /// The branch, tag or commit to start from.
    pub reference: String,
    /// The model; none lets Cursor choose.
    pub model: Option<String>,
    /// Whether a pull request is opened at the end.
    pub auto_create_pr: bool,
    /// The branch to push to; none lets Cursor choose.
    pub branch_name: Option<String>,
    /// The first prompt.
    pub prompt: Prompt,
    /// The address to which status changes are sent.
    pub webhook: Option<WebhookTarget>,
}

/// A run of an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunRef {
    /// The agent.
    pub agent_id: String,
    /// The run; none in the first generation, where an agent has one run at a time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
}

/// A run that was just started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Started {
    /// The run.
    pub run: RunRef,
    /// The page that shows the agent.
    pub url: Option<String>,
}

/// The state of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct RunState {
    /// The status as the API spells it.
    pub status: String,
    /// The agent's name.
    pub name: Option<String>,
    /// The repository it works on.
    pub repository: Option<String>,
    /// The branch it pushed to.
    pub branch_name: Option<String>,
    /// The pull request it opened.
    pub pr_url: Option<String>,
    /// The page that shows the agent.
    pub url: Option<String>,
    /// The agent's last word or a summary of its work.
    pub summary: Option<String>,
    /// The whole answer.
    pub raw: Value,
}

/// The messages of a conversation.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Conversation {
    /// The messages, oldest first.
    pub messages: Vec<ConversationMessage>,
    /// The whole answer.
    pub raw: Value,
}

/// One message of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConversationMessage {
    /// The API's id for it.
    pub id: String,
    /// Whether the agent said it.
    pub is_assistant: bool,
    /// The words.
    pub text: String,
}

/// The outcome of a request to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopOutcome {
    /// The run was told to stop.
    Stopped,
    /// There was nothing left to stop.
    AlreadyOver,
}

/// The owner of a key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Identity {
    /// The key's name.
    #[serde(default)]
    pub api_key_name: Option<String>,
    /// The user's address.
    #[serde(default)]
    pub user_email: Option<String>,
    /// Everything else the API says.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}
