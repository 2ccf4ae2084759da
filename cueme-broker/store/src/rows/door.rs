//! Devices and tokens.

use super::Columns;
use crate::{Device, Token};

pub use device::device;
pub use token::token;

mod device {
    use super::{Columns, Device};

    columns! {
        DEVICE_ID, HASH, NAME, CREATED_AT, SEEN_AT
    }

    /// Reads a device.
    pub fn device<R: Columns>(row: &R) -> Result<Device, R::Fault> {
        Ok(Device {
            device_id: row.text(DEVICE_ID)?,
            hash: row.hash(HASH)?,
            name: row.text(NAME)?,
            created_at: row.time(CREATED_AT)?,
            seen_at: row.time(SEEN_AT)?,
        })
    }
}

mod token {
    use super::{Columns, Token};

    columns! {
        TOKEN_ID, HASH, SCOPE, AGENT, NAME, CREATED_AT, EXPIRES_AT, USED_AT
    }

    /// Reads a token.
    pub fn token<R: Columns>(row: &R) -> Result<Token, R::Fault> {
        Ok(Token {
            token_id: row.text(TOKEN_ID)?,
            hash: row.hash(HASH)?,
            scope: row.code(SCOPE)?,
            agent: row.maybe_id(AGENT)?,
            name: row.maybe_text(NAME)?,
            created_at: row.time(CREATED_AT)?,
            expires_at: row.maybe_time(EXPIRES_AT)?,
            used_at: row.maybe_time(USED_AT)?,
        })
    }
}
