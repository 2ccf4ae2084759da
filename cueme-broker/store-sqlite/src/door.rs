//! Access over HTTP: devices and tokens. Only hashes of their secrets are ever stored.

use cueme_store::{Code, Device, DoorReads, DoorRecords, Pass, StoreError, Token, TokenHash, parse_id};
use protocol_spec::id::AgentId;
use protocol_spec::message::TokenScope;
use protocol_spec::time::Timestamp;
use rusqlite::{OptionalExtension, params};

use super::SqliteReader;
use super::SqliteStore;

impl DoorRecords for SqliteStore {
    fn is_valid(&self, pass: &Pass, at: Timestamp) -> Result<bool, StoreError> {
        let found: Option<i64> = match pass {
            Pass::Device(id) => self.find_one("SELECT 1 FROM devices WHERE device_id = ?1", params![id]),
            Pass::Token(id) => self.find_one(
                "SELECT 1 FROM tokens WHERE token_id = ?1 AND (expires_at IS NULL OR expires_at > ?2)",
                params![id, at.as_millis()],
            ),
        }?;
        Ok(found.is_some())
    }

    fn add_device(&self, device: &Device) -> Result<(), StoreError> {
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

    fn rename_device(&self, device_id: &str, name: &str) -> Result<(), StoreError> {
        self.run(
            "UPDATE devices SET name = ?2 WHERE device_id = ?1",
            params![device_id, name],
        )
    }

    fn touch_device(&self, device_id: &str, at: Timestamp) -> Result<(), StoreError> {
        self.run(
            "UPDATE devices SET seen_at = ?2 WHERE device_id = ?1",
            params![device_id, at.as_millis()],
        )
    }

    fn drop_device(&self, device_id: &str) -> Result<(), StoreError> {
        self.run("DELETE FROM devices WHERE device_id = ?1", params![device_id])
    }

    fn add_link(
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

    fn use_link(&self, hash: &TokenHash, at: Timestamp) -> Result<Option<Option<String>>, StoreError> {
        self.run(
            "DELETE FROM links WHERE expires_at <= ?1",
            params![at.as_millis()],
        )?;
        self.find_one(
            "DELETE FROM links WHERE token_hash = ?1 RETURNING name",
            params![hash],
        )
    }

    fn add_token(&self, token: &Token) -> Result<(), StoreError> {
        self.run(
            "INSERT INTO tokens (token_id, token_hash, scope, agent_id, name, created_at, expires_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            params![
                token.token_id,
                token.hash,
                token.scope.number(),
                token.agent.as_ref().map(AgentId::as_str),
                token.name,
                token.created_at.as_millis(),
                token.expires_at.map(Timestamp::as_millis)
            ],
        )
    }

    fn touch_token(&self, token_id: &str, at: Timestamp) -> Result<(), StoreError> {
        self.run(
            "UPDATE tokens SET used_at = ?2 WHERE token_id = ?1",
            params![token_id, at.as_millis()],
        )
    }

    fn drop_token(&self, token_id: &str) -> Result<(), StoreError> {
        self.run("DELETE FROM tokens WHERE token_id = ?1", params![token_id])
    }

    fn note_joined_with(&self, agent: &AgentId, token_id: &str) -> Result<(), StoreError> {
        self.run(
            "UPDATE agents SET token_id = ?2 WHERE agent_id = ?1 AND token_id IS NULL",
            params![agent.as_str(), token_id],
        )
    }
}

impl DoorReads for SqliteReader {
    fn devices(&self) -> Result<Vec<Device>, StoreError> {
        self.rows(
            "SELECT device_id, token_hash, name, created_at, seen_at FROM devices ORDER BY created_at",
            [],
            |row| {
                Ok(Device {
                    device_id: row.get(0)?,
                    hash: row.get(1)?,
                    name: row.get(2)?,
                    created_at: Timestamp::from_millis(row.get(3)?),
                    seen_at: Timestamp::from_millis(row.get(4)?),
                })
            },
        )
    }

    fn tokens(&self) -> Result<Vec<Token>, StoreError> {
        self.rows(
            "SELECT token_id, token_hash, scope, agent_id, name, created_at, expires_at, used_at
                 FROM tokens ORDER BY created_at",
            [],
            |row| {
                Ok(Token {
                    token_id: row.get(0)?,
                    hash: row.get(1)?,
                    scope: TokenScope::from_number(row.get(2)?)?,
                    agent: row.get::<_, Option<String>>(3)?.map(parse_id).transpose()?,
                    name: row.get(4)?,
                    created_at: Timestamp::from_millis(row.get(5)?),
                    expires_at: row.get::<_, Option<i64>>(6)?.map(Timestamp::from_millis),
                    used_at: row.get::<_, Option<i64>>(7)?.map(Timestamp::from_millis),
                })
            },
        )
    }

    fn token_of_agent(&self, agent: &AgentId) -> Result<Option<String>, StoreError> {
        self.with(|connection| {
            let found: Option<Option<String>> = connection
                .prepare_cached("SELECT token_id FROM agents WHERE agent_id = ?1")?
                .query_row(params![agent.as_str()], |row| row.get(0))
                .optional()?;
            Ok(found.flatten())
        })
    }

    fn agent_of_cue(&self, cue: protocol_spec::id::CueId) -> Result<Option<AgentId>, StoreError> {
        self.with(|connection| {
            let found: Option<String> = connection
                .prepare_cached("SELECT agent_id FROM cues WHERE cue_id = ?1")?
                .query_row(params![cue.as_str()], |row| row.get(0))
                .optional()?;
            Ok(found.map(parse_id).transpose()?)
        })
    }
}
