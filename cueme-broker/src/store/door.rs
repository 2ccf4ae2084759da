//! Who may come in over HTTP. Only hashes of what they carry are ever stored.

use protocol_spec::id::AgentId;
use protocol_spec::message::TokenScope;
use protocol_spec::time::Timestamp;
use rusqlite::{OptionalExtension, params};

use super::code::Code;
use super::load::parse;
use super::read::Reader;
use super::{Store, StoreError};

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

impl Store {
    /// Adds a browser.
    pub fn add_device(&self, device: &Device) -> Result<(), StoreError> {
        self.run(
            "INSERT INTO devices (device_id, token_hash, name, created_at, seen_at) VALUES (?1, ?2, ?3, ?4, ?5)",
            params![
                device.device_id,
                device.hash,
                device.name,
                device.created_at.as_millis(),
                device.seen_at.as_millis()
            ],
        )
    }

    /// Names a browser.
    pub fn rename_device(&self, device_id: &str, name: &str) -> Result<(), StoreError> {
        self.run(
            "UPDATE devices SET name = ?2 WHERE device_id = ?1",
            params![device_id, name],
        )
    }

    /// Notes that a browser was there.
    pub fn touch_device(&self, device_id: &str, at: Timestamp) -> Result<(), StoreError> {
        self.run(
            "UPDATE devices SET seen_at = ?2 WHERE device_id = ?1",
            params![device_id, at.as_millis()],
        )
    }

    /// Locks a browser out.
    pub fn drop_device(&self, device_id: &str) -> Result<(), StoreError> {
        self.run("DELETE FROM devices WHERE device_id = ?1", params![device_id])
    }

    /// Adds a link that works once.
    pub fn add_link(
        &self,
        hash: &TokenHash,
        name: Option<&str>,
        expires_at: Timestamp,
    ) -> Result<(), StoreError> {
        self.run(
            "INSERT INTO links (token_hash, name, expires_at) VALUES (?1, ?2, ?3)",
            params![hash, name, expires_at.as_millis()],
        )
    }

    /// Uses a link up; returns the name it was made with, or nothing when there is no such link at this time.
    pub fn use_link(&self, hash: &TokenHash, at: Timestamp) -> Result<Option<Option<String>>, StoreError> {
        self.run(
            "DELETE FROM links WHERE expires_at <= ?1",
            params![at.as_millis()],
        )?;
        let used = self
            .connection
            .prepare_cached("DELETE FROM links WHERE token_hash = ?1 RETURNING name")?
            .query_row(params![hash], |row| row.get(0))
            .optional()?;
        Ok(used)
    }

    /// Adds a token.
    pub fn add_token(&self, token: &Token) -> Result<(), StoreError> {
        self.run(
            "INSERT INTO tokens (token_id, token_hash, scope, agent_id, name, created_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            params![
                token.token_id,
                token.hash,
                token.scope.number(),
                token.agent.as_ref().map(AgentId::as_str),
                token.name,
                token.created_at.as_millis()
            ],
        )
    }

    /// Revokes a token.
    pub fn drop_token(&self, token_id: &str) -> Result<(), StoreError> {
        self.run("DELETE FROM tokens WHERE token_id = ?1", params![token_id])
    }

    /// Notes which token an agent joined with; the first one counts.
    pub fn note_joined_with(&self, agent: &AgentId, token_id: &str) -> Result<(), StoreError> {
        self.run(
            "UPDATE agents SET token_id = ?2 WHERE agent_id = ?1 AND token_id IS NULL",
            params![agent.as_str(), token_id],
        )
    }
}

impl Reader {
    /// Returns the browsers that may come in.
    pub fn devices(&self) -> Result<Vec<Device>, StoreError> {
        self.with(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT device_id, token_hash, name, created_at, seen_at FROM devices ORDER BY created_at",
            )?;
            let devices = statement.query_map([], |row| {
                Ok(Device {
                    device_id: row.get(0)?,
                    hash: row.get(1)?,
                    name: row.get(2)?,
                    created_at: Timestamp::from_millis(row.get(3)?),
                    seen_at: Timestamp::from_millis(row.get(4)?),
                })
            })?;
            Ok(devices.collect::<Result<_, _>>()?)
        })
    }

    /// Returns the tokens that open something.
    pub fn tokens(&self) -> Result<Vec<Token>, StoreError> {
        self.with(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT token_id, token_hash, scope, agent_id, name, created_at FROM tokens ORDER BY created_at",
            )?;
            let mut rows = statement.query([])?;
            let mut tokens = Vec::new();
            while let Some(row) = rows.next()? {
                tokens.push(Token {
                    token_id: row.get(0)?,
                    hash: row.get(1)?,
                    scope: TokenScope::from_number(row.get(2)?)?,
                    agent: row.get::<_, Option<String>>(3)?.map(parse).transpose()?,
                    name: row.get(4)?,
                    created_at: Timestamp::from_millis(row.get(5)?),
                });
            }
            Ok(tokens)
        })
    }

    /// Returns the token an agent joined with.
    pub fn token_of_agent(&self, agent: &AgentId) -> Result<Option<String>, StoreError> {
        self.with(|connection| {
            let found: Option<Option<String>> = connection
                .prepare_cached("SELECT token_id FROM agents WHERE agent_id = ?1")?
                .query_row(params![agent.as_str()], |row| row.get(0))
                .optional()?;
            Ok(found.flatten())
        })
    }

    /// Returns the agent that asked a question.
    pub fn agent_of_cue(&self, cue: protocol_spec::id::CueId) -> Result<Option<AgentId>, StoreError> {
        self.with(|connection| {
            let found: Option<String> = connection
                .prepare_cached("SELECT agent_id FROM cues WHERE cue_id = ?1")?
                .query_row(params![cue.as_str()], |row| row.get(0))
                .optional()?;
            found.map(parse).transpose()
        })
    }
}
