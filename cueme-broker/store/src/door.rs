//! Who may come in over HTTP. Only hashes of what they carry are ever stored.

use protocol_spec::id::{AgentId, CueId};
use protocol_spec::message::TokenScope;
use protocol_spec::time::Timestamp;

use crate::StoreError;

/// The hash of something a visitor carries.
pub type TokenHash = [u8; 32];

/// A browser that signed in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Device {
    /// Its random name.
    pub device_id: String,
    /// The hash of its cookie.
    pub hash: TokenHash,
    /// What a human calls it.
    pub name: String,
    /// When it signed in.
    pub created_at: Timestamp,
    /// When it was last seen, give or take.
    pub seen_at: Timestamp,
}

/// A token of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// Its random name.
    pub token_id: String,
    /// Its hash.
    pub hash: TokenHash,
    /// What it opens.
    pub scope: TokenScope,
    /// The agent it is for, when it is for one.
    pub agent: Option<AgentId>,
    /// What a human calls it.
    pub name: Option<String>,
    /// When it was made.
    pub created_at: Timestamp,
}

/// By what a visitor was let in: the random name of its device or token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pass {
    /// A browser that signed in.
    Device(String),
    /// A token of a program.
    Token(String),
}

/// Lets visitors in, and locks them out.
pub trait DoorRecords {
    /// Says whether this still opens anything.
    fn is_valid(&self, pass: &Pass) -> Result<bool, StoreError>;

    /// Adds a browser.
    fn add_device(&self, device: &Device) -> Result<(), StoreError>;

    /// Names a browser.
    fn rename_device(&self, device_id: &str, name: &str) -> Result<(), StoreError>;

    /// Notes that a browser was there.
    fn touch_device(&self, device_id: &str, at: Timestamp) -> Result<(), StoreError>;

    /// Locks a browser out.
    fn drop_device(&self, device_id: &str) -> Result<(), StoreError>;

    /// Adds a link that works once.
    fn add_link(&self, hash: &TokenHash, name: Option<&str>, expires_at: Timestamp)
    -> Result<(), StoreError>;

    /// Uses a link up; returns the name it was made with, or nothing when there is no such link at this time.
    fn use_link(&self, hash: &TokenHash, at: Timestamp) -> Result<Option<Option<String>>, StoreError>;

    /// Adds a token.
    fn add_token(&self, token: &Token) -> Result<(), StoreError>;

    /// Revokes a token.
    fn drop_token(&self, token_id: &str) -> Result<(), StoreError>;

    /// Notes which token an agent joined with; the first one counts.
    fn note_joined_with(&self, agent: &AgentId, token_id: &str) -> Result<(), StoreError>;
}

/// Reads who may come in.
pub trait DoorReads {
    /// Returns the browsers that may come in.
    fn devices(&self) -> Result<Vec<Device>, StoreError>;

    /// Returns the tokens that open something.
    fn tokens(&self) -> Result<Vec<Token>, StoreError>;

    /// Returns the token an agent joined with.
    fn token_of_agent(&self, agent: &AgentId) -> Result<Option<String>, StoreError>;

    /// Returns the agent that asked a question.
    fn agent_of_cue(&self, cue: CueId) -> Result<Option<AgentId>, StoreError>;
}
