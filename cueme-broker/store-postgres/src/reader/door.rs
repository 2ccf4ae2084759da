//! Access over HTTP: devices and tokens.

use cueme_store::{Device, DoorReads, StoreError, Token, TokenHash};
use protocol_spec::id::{AgentId, CueId};
use tokio_postgres::Row;

use super::row::Columns;
use super::{Fault, PostgresReader};

impl DoorReads for PostgresReader {
    fn devices(&self) -> Result<Vec<Device>, StoreError> {
        let rows = self.rows(
            "SELECT device_id, token_hash, name, created_at, seen_at FROM devices ORDER BY created_at, device_id",
            &[],
        )?;
        Ok(rows.iter().map(device).collect::<Result<_, _>>()?)
    }

    fn tokens(&self) -> Result<Vec<Token>, StoreError> {
        let rows = self.rows(
            "SELECT token_id, token_hash, scope, agent_id, name, created_at, expires_at, used_at
             FROM tokens ORDER BY created_at, token_id",
            &[],
        )?;
        Ok(rows.iter().map(token).collect::<Result<_, _>>()?)
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

fn device(row: &Row) -> Result<Device, Fault> {
    Ok(Device {
        device_id: row.text(0)?,
        hash: hash(row, 1)?,
        name: row.text(2)?,
        created_at: row.time(3)?,
        seen_at: row.time(4)?,
    })
}

fn token(row: &Row) -> Result<Token, Fault> {
    Ok(Token {
        token_id: row.text(0)?,
        hash: hash(row, 1)?,
        scope: row.code(2)?,
        agent: row.maybe_id(3)?,
        name: row.maybe_text(4)?,
        created_at: row.time(5)?,
        expires_at: row.maybe_time(6)?,
        used_at: row.maybe_time(7)?,
    })
}

fn hash(row: &Row, column: usize) -> Result<TokenHash, Fault> {
    let stored: &[u8] = row.value(column)?;
    TokenHash::try_from(stored).map_err(|_| {
        Fault::Store(StoreError::BadValue {
            what: "a hash",
            value: format!("{} bytes", stored.len()),
        })
    })
}
