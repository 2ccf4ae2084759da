//! Access over HTTP: devices and tokens.

use cueme_store::{Device, DoorReads, StoreError, Token, rows};
use protocol_spec::id::{AgentId, CueId};

use super::PostgresReader;
use super::row::{Columns, PostgresRow};

impl DoorReads for PostgresReader {
    fn devices(&self) -> Result<Vec<Device>, StoreError> {
        let rows = self.rows(
            "SELECT device_id, token_hash, name, created_at, seen_at FROM devices ORDER BY created_at, device_id",
            &[],
        )?;
        Ok(rows
            .iter()
            .map(|row| rows::device(&PostgresRow(row)))
            .collect::<Result<_, _>>()?)
    }

    fn tokens(&self) -> Result<Vec<Token>, StoreError> {
        let rows = self.rows(
            "SELECT token_id, token_hash, scope, agent_id, name, created_at, expires_at, used_at
             FROM tokens ORDER BY created_at, token_id",
            &[],
        )?;
        Ok(rows
            .iter()
            .map(|row| rows::token(&PostgresRow(row)))
            .collect::<Result<_, _>>()?)
    }

    fn token_of_agent(&self, agent: &AgentId) -> Result<Option<String>, StoreError> {
        let row = self.row(
            "SELECT token_id FROM agents WHERE agent_id = $1",
            &[&agent.as_str()],
        )?;
        Ok(row.map(|row| row.maybe_text(0)).transpose()?.flatten())
    }

    fn agent_of_cue(&self, cue: CueId) -> Result<Option<AgentId>, StoreError> {
        let row = self.row("SELECT agent_id FROM cues WHERE cue_id = $1", &[&cue.as_str()])?;
        Ok(row.map(|row| row.id(0)).transpose()?)
    }

    fn shared_identity(&self) -> Result<Option<String>, StoreError> {
        let row = self.row("SELECT identity::text FROM head", &[])?;
        Ok(row.map(|row| row.text(0)).transpose()?)
    }
}
