//! Records of another program that are imported into the store.
//!
//! All of them are history: no client waits for these questions, and none of it is ever delivered to an agent.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::answer::Answer;
use crate::id::{AgentId, RequestId, RuntimeTag};
use crate::outcome::Kind;
use crate::time::Timestamp;

/// The maximum number of records in one request, agents and questions together.
pub const IMPORT_RECORDS_MAX: usize = 1000;

/// Adds records. Known records stay unchanged, so sending them again is safe.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Import {
    /// Agents; those of the questions must be known, or be among them.
    #[serde(default)]
    pub agents: Vec<PastAgent>,
    /// Questions.
    #[serde(default)]
    pub cues: Vec<PastCue>,
}

/// An agent that another program knew.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PastAgent {
    /// Its id there, which it keeps.
    pub agent_id: AgentId,
    /// The runtime it lived in.
    pub runtime: RuntimeTag,
    /// The directory it worked in.
    pub project_dir: String,
    /// Its shell family, or `unknown`.
    pub terminal: String,
    /// The name a human gave it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// When it was first heard of.
    pub joined_at: Timestamp,
    /// When it was last heard of.
    pub seen_at: Timestamp,
}

/// A question that was asked elsewhere.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PastCue {
    /// Its permanent key, derived from its name there.
    pub key: RequestId,
    /// The agent that asked.
    pub agent_id: AgentId,
    /// The verb.
    pub kind: Kind,
    /// The question.
    pub prompt: String,
    /// The payload as the agent wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payload: Option<Box<RawValue>>,
    /// When it was asked.
    pub asked_at: Timestamp,
    /// Its outcome there; absent when it was left open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<PastEnd>,
}

/// The outcome of a question in another program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PastEnd {
    /// The answer; absent when the question was closed without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Answer>,
    /// Why it was closed, when it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// When.
    pub at: Timestamp,
}

/// The result of an import.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Imported {
    /// Agents that were not known.
    pub agents: u32,
    /// Questions that were not known.
    pub cues: u32,
    /// Questions that were known as left open and have an end now.
    pub ended: u32,
    /// Questions that were known.
    pub known: u32,
    /// Questions that could not be kept.
    pub refused: Vec<RefusedCue>,
}

/// A question that could not be kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusedCue {
    /// Its key.
    pub key: RequestId,
    /// The reason for the refusal.
    pub why: String,
}
