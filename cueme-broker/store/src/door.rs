//! Access over HTTP: devices and tokens. Only hashes of their secrets are ever stored.

use protocol_spec::id::{AgentId, CueId};
use protocol_spec::message::TokenScope;
use protocol_spec::time::Timestamp;

use crate::StoreError;

/// The hash of a visitor's secret.
pub type TokenHash = [u8; 32];

/// A browser that signed in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Device {
    /// Its random name.
    pub device_id: String,
    /// The hash of its cookie.
    pub hash: TokenHash,
    /// The name that a human gave it.
    pub name: String,
    /// When it signed in.
    pub created_at: Timestamp,
    /// When it was last seen, approximately.
    pub seen_at: Timestamp,
}

/// A token of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// Its random name.
    pub token_id: String,
    /// Its hash.
    pub hash: TokenHash,
    /// The scope.
    pub scope: TokenScope,
    /// The agent it is for, when it is for one.
    pub agent: Option<AgentId>,
    /// The name that a human gave it.
    pub name: Option<String>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it stops working, if it ever does.
    pub expires_at: Option<Timestamp>,
    /// When it was last used, to the minute.
    pub used_at: Option<Timestamp>,
}

impl Token {
    /// Says whether it no longer works.
    #[must_use]
    pub fn has_expired(&self, now: Timestamp) -> bool {
        self.expires_at.is_some_and(|expires_at| expires_at <= now)
    }
}

/// The credential that admitted a visitor: the random name of its device or token.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Pass {
    /// A browser that signed in.
    Device(String),
    /// A token of a program.
    Token(String),
}

/// Admits visitors, and revokes their access.
pub trait DoorRecords {
    /// Says whether this credential is valid at this time.
    fn is_valid(&self, pass: &Pass, at: Timestamp) -> Result<bool, StoreError>;

    /// Adds a browser.
    fn add_device(&self, device: &Device) -> Result<(), StoreError>;

    /// Names a browser.
    fn rename_device(&self, device_id: &str, name: &str) -> Result<(), StoreError>;

    /// Records that a browser was seen.
    fn touch_device(&self, device_id: &str, at: Timestamp) -> Result<(), StoreError>;

    /// Revokes a browser's access.
    fn drop_device(&self, device_id: &str) -> Result<(), StoreError>;

    /// Adds a link that works once.
    fn add_link(&self, hash: &TokenHash, name: Option<&str>, expires_at: Timestamp)
    -> Result<(), StoreError>;

    /// Uses a link up; returns the name it was made with, or nothing when there is no such link at this time.
    fn use_link(&self, hash: &TokenHash, at: Timestamp) -> Result<Option<Option<String>>, StoreError>;

    /// Adds a token.
    fn add_token(&self, token: &Token) -> Result<(), StoreError>;

    /// Records that a token was used.
    fn touch_token(&self, token_id: &str, at: Timestamp) -> Result<(), StoreError>;

    /// Revokes a token.
    fn drop_token(&self, token_id: &str) -> Result<(), StoreError>;

    /// Records the token that an agent joined with; the first one counts.
    fn note_joined_with(&self, agent: &AgentId, token_id: &str) -> Result<(), StoreError>;
}

/// Reads the credentials for access over HTTP.
pub trait DoorReads {
    /// Returns the browsers that have access.
    fn devices(&self) -> Result<Vec<Device>, StoreError>;

    /// Returns the tokens that are not revoked.
    fn tokens(&self) -> Result<Vec<Token>, StoreError>;

    /// Returns the token an agent joined with.
    fn token_of_agent(&self, agent: &AgentId) -> Result<Option<String>, StoreError>;

    /// Returns the agent that asked a question.
    fn agent_of_cue(&self, cue: CueId) -> Result<Option<AgentId>, StoreError>;

    /// Returns the identity of a store that brokers share, which is the same for all of them; a store of one broker has none.
    fn shared_identity(&self) -> Result<Option<String>, StoreError> {
        Ok(None)
    }
}
