//! The tables, columns and values that a copy of one store into another moves; all schemas have them.

use sha2::{Digest, Sha256};

/// The most rows in one batch …
pub const BATCH_ROWS: usize = 1000;
/// … and the most bytes, unless one row has more.
pub const BATCH_BYTES: usize = 8 * 1024 * 1024;

/// The type of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Text in UTF-8.
    Text,
    /// A whole number.
    Number,
    /// A number that is 0 or 1 in SQLite.
    Flag,
    /// Bytes.
    Bytes,
    /// Sixteen bytes in SQLite.
    Uuid,
}

/// A table that both schemas have, with the columns that both have.
#[derive(Debug)]
pub struct Table {
    /// Its name.
    pub name: &'static str,
    /// Its columns.
    pub columns: &'static [(&'static str, Kind)],
    /// The column in whose order the rows are copied.
    pub order: &'static str,
    /// Whether the database gives its rows their numbers, which are the order.
    pub is_numbered: bool,
}

impl Table {
    /// Returns the names of its columns, for a statement.
    pub fn column_list(&self) -> String {
        let names: Vec<&str> = self.columns.iter().map(|(name, _)| *name).collect();
        names.join(", ")
    }
}

macro_rules! tables {
    ($($name:ident by $order:ident $(numbered $numbered:ident)? { $($column:ident $kind:ident),* $(,)? })*) => {
        &[$(Table {
            name: stringify!($name),
            columns: &[$((stringify!($column), Kind::$kind)),*],
            order: stringify!($order),
            is_numbered: false $(|| stringify!($numbered).len() > 0)?,
        }),*]
    };
}

/// All tables, each after those it refers to.
pub const TABLES: &[Table] = tables! {
    agents by agent_id {
        agent_id Text, runtime Text, project_dir Text, terminal Text, session Text, name Text, joined_at Number,
        seen_at Number, pinned Flag, archived Flag, standing Text, read_seq Number, token_id Text,
    }
    cues by seq numbered yes {
        seq Number, cue_id Text, agent_id Text, kind Number, origin Number, content Bytes, asked_at Number,
        outcome Number, delivery Number, handed_at Number, acknowledged_at Number, automatic Flag, detached_at Number,
    }
    questions by seq { seq Number, prompt Text, payload Text }
    decisions by seq {
        seq Number, request_id Uuid, text Text, reminder Text, answer Text, redacted_text Text, redacted_answer Text,
        decided_by Text, decided_at Number, released_at Number, seal Bytes, from_queue Flag,
    }
    requests by request_id { request_id Uuid, seq Number }
    messages by seq numbered yes {
        seq Number, request_id Uuid, agent_id Text, text Text, said_by Text, said_at Number, cue_id Text, place Number,
        purpose Number,
    }
    receipts by acknowledged_at { nonce Text, cue_id Text, acknowledged_at Number }
    events by id { id Number, at Number, what Number, agent_id Text, cue_id Text }
    drafts by place { place Text, rev Number, body Text, written_by Text, written_at Number }
    uploads by upload_id {
        upload_id Text, path Text, name Text, media_type Text, bytes Number, uploaded_at Number,
    }
    upload_uses by upload_id { upload_id Text, cue_id Text }
    devices by device_id { device_id Text, token_hash Bytes, name Text, created_at Number, seen_at Number }
    links by token_hash { token_hash Bytes, name Text, expires_at Number }
    tokens by token_id {
        token_id Text, token_hash Bytes, scope Number, agent_id Text, name Text, created_at Number, used_at Number,
        expires_at Number,
    }
    settings by name { name Text, value Text }
    automatic by cue_id { cue_id Text, policy Text, at Number }
    notified by cue_id { cue_id Text, channel Text, reference Text, at Number }
    runs by seq numbered yes {
        seq Number, run_id Text, kind Number, agent_id Text, project Text, title Text, status Text, ending Number,
        error Text, session Text, session_params Text, model Text, branch Text, pr_url Text, url Text,
        started_at Number, changed_at Number, ended_at Number,
    }
    run_events by seq numbered yes { seq Number, run_id Text, at Number, what Text, text Text }
    deliveries by delivery_id { delivery_id Text, session Text, status Text, received_at Number }
    bootstraps by token_hash { token_hash Bytes, agent_id Text, run_id Text, expires_at Number }
    run_leads by run_id { run_id Text, leader Text, sender Text, cue_ids Text, position Text }
};

/// A value of either store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// None.
    Null,
    /// A number or a flag.
    Number(i64),
    /// A text.
    Text(String),
    /// Bytes, or a UUID.
    Bytes(Vec<u8>),
}

impl Value {
    /// Returns its approximate size in memory.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Null | Self::Number(_) => 8,
            Self::Text(text) => text.len(),
            Self::Bytes(bytes) => bytes.len(),
        }
    }
}

/// A digest that compares the rows of two tables, independent of their order.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TableDigest {
    /// The number of rows.
    pub rows: u64,
    /// The hashes of all rows, added up.
    sum: [u64; 4],
}

impl TableDigest {
    /// Adds a row.
    pub fn add(&mut self, row: &[Value]) {
        let mut hash = Sha256::new();
        for value in row {
            // Each value is preceded by its kind and length, so that no two rows have the same input.
            let (kind, bytes): (u8, &[u8]) = match value {
                Value::Null => (0, &[]),
                Value::Number(number) => (1, &number.to_le_bytes()),
                Value::Text(text) => (2, text.as_bytes()),
                Value::Bytes(bytes) => (3, bytes),
            };
            hash.update([kind]);
            hash.update((bytes.len() as u64).to_le_bytes());
            hash.update(bytes);
        }
        let whole: [u8; 32] = hash.finalize().into();
        self.rows += 1;
        for (sum, part) in self.sum.iter_mut().zip(whole.chunks_exact(8)) {
            *sum = sum.wrapping_add(part.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(rows: &[Vec<Value>]) -> TableDigest {
        let mut digest = TableDigest::default();
        rows.iter().for_each(|row| digest.add(row));
        digest
    }

    #[test]
    fn a_digest_knows_rows_and_not_their_order() {
        let row = |text: &str, number| vec![Value::Text(text.into()), Value::Number(number)];
        let rows = [row("a", 1), row("b", 2)];
        let turned = [rows[1].clone(), rows[0].clone()];
        assert_eq!(digest(&rows), digest(&turned));
        assert_ne!(digest(&rows), digest(&[row("a", 2), row("b", 1)]));
        assert_ne!(digest(&rows), digest(&rows[..1]));
        assert_ne!(
            digest(&[vec![Value::Null]]),
            digest(&[vec![Value::Text(String::new())]])
        );
    }
}
