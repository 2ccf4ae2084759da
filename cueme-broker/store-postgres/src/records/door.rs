//! Access over HTTP: devices and tokens. Only hashes of their secrets are ever stored.

use cueme_store::{Code, Device, DoorRecords, Pass, StoreError, Token, TokenHash};
use protocol_spec::id::AgentId;
use protocol_spec::time::Timestamp;

use crate::statements::params;
use crate::store::PostgresStore;
use crate::text::Text;

impl DoorRecords for PostgresStore {
    fn is_valid(&self, pass: &Pass, at: Timestamp) -> Result<bool, StoreError> {
        if let Some(is_valid) = self.look_ups.borrow().is_valid(pass, at) {
            return Ok(is_valid);
        }
        match pass {
            Pass::Device(id) => self.exists("SELECT 1 FROM devices WHERE device_id = $1", params![id]),
            Pass::Token(id) => self.exists(
                "SELECT 1 FROM tokens WHERE token_id = $1 AND (expires_at IS NULL OR expires_at > $2)",
                params![id, at.as_millis()],
            ),
        }
    }

    fn add_device(&self, device: &Device) -> Result<(), StoreError> {
        self.record(
            "INSERT INTO devices (device_id, token_hash, name, created_at, seen_at) VALUES ($1, $2, $3, $4, $5)",
            params![
                &device.device_id,
                &device.hash,
                &device.name,
                device.created_at.as_millis(),
                device.seen_at.as_millis()
            ],
        )
    }

    fn rename_device(&self, device_id: &str, name: &str) -> Result<(), StoreError> {
        self.record(
            "UPDATE devices SET name = $2 WHERE device_id = $1",
            params![device_id, name],
        )
    }

    fn touch_device(&self, device_id: &str, at: Timestamp) -> Result<(), StoreError> {
        self.note_record(
            "UPDATE devices SET seen_at = $2 WHERE device_id = $1",
            params![device_id, at.as_millis()],
        )
    }

    fn drop_device(&self, device_id: &str) -> Result<(), StoreError> {
        self.record("DELETE FROM devices WHERE device_id = $1", params![device_id])
    }

    fn add_link(
        &self,
        hash: &TokenHash,
        name: Option<&str>,
        expires_at: Timestamp,
    ) -> Result<(), StoreError> {
        self.note_record(
            "INSERT INTO links (token_hash, name, expires_at) VALUES ($1, $2, $3)",
            params![hash, name, expires_at.as_millis()],
        )
    }

    fn use_link(&self, hash: &TokenHash, at: Timestamp) -> Result<Option<Option<String>>, StoreError> {
        self.note_record(
            "DELETE FROM links WHERE expires_at <= $1",
            params![at.as_millis()],
        )?;
        let used: Option<Option<Text>> = self.find_one(
            "DELETE FROM links WHERE token_hash = $1 RETURNING name",
            params![hash],
        )?;
        Ok(used.map(|name| name.map(|name| name.0)))
    }

    fn add_token(&self, token: &Token) -> Result<(), StoreError> {
        self.record(
            "INSERT INTO tokens (token_id, token_hash, scope, agent_id, name, created_at, expires_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7)",
            params![
                &token.token_id,
                &token.hash,
                token.scope.number(),
                token.agent.as_ref().map(AgentId::as_str),
                &token.name,
                token.created_at.as_millis(),
                token.expires_at.map(Timestamp::as_millis)
            ],
        )
    }

    fn touch_token(&self, token_id: &str, at: Timestamp) -> Result<(), StoreError> {
        self.note_record(
            "UPDATE tokens SET used_at = $2 WHERE token_id = $1",
            params![token_id, at.as_millis()],
        )
    }

    fn drop_token(&self, token_id: &str) -> Result<(), StoreError> {
        self.record("DELETE FROM tokens WHERE token_id = $1", params![token_id])
    }

    fn note_joined_with(&self, agent: &AgentId, token_id: &str) -> Result<(), StoreError> {
        self.note_record(
            "UPDATE agents SET token_id = $2 WHERE agent_id = $1 AND token_id IS NULL",
            params![agent.as_str(), token_id],
        )
    }
}
