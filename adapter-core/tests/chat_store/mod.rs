//! Writes chat stores as Cursor does: real SQLite, real protobuf, blobs named by their content.

use std::path::Path;

use rusqlite::Connection;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// Builds one store.
#[derive(Debug)]
pub(crate) struct StoreBuilder {
    blobs: Vec<(String, Vec<u8>)>,
    root: Vec<u8>,
    meta: Value,
    has_root: bool,
}

#[allow(dead_code, reason = "each test binary uses its own part of the builder")]
impl StoreBuilder {
    pub(crate) fn new(chat_id: &str) -> Self {
        let meta = json!({
            "agentId": chat_id,
            "name": "A chat",
            "mode": "default",
            "createdAt": 1_790_000_000_000_i64,
            "blobEncryptionKey": "f".repeat(64),
        });
        StoreBuilder {
            blobs: Vec::new(),
            root: Vec::new(),
            meta,
            has_root: false,
        }
    }

    /// Names the chat.
    pub(crate) fn name(&mut self, name: &str) -> &mut Self {
        self.meta["name"] = name.into();
        self
    }

    /// Adds a blob and returns its id as messages hold it.
    pub(crate) fn blob(&mut self, data: Vec<u8>) -> Vec<u8> {
        let id = Sha256::digest(&data).to_vec();
        self.blobs.push((hex(&id), data));
        id
    }

    /// Adds a turn in which the user says something and the agent takes steps.
    pub(crate) fn turn(&mut self, user: Vec<u8>, steps: Vec<Vec<u8>>) -> &mut Self {
        let mut agent = field(1, &self.blob(user));
        for step in steps {
            agent.extend(field(2, &self.blob(step)));
        }
        agent.extend(field(3, b"req-1"));
        self.raw_turn(field(1, &agent))
    }

    /// Adds a turn in which the user runs a command.
    pub(crate) fn shell_turn(&mut self, command: &str, stdout: &str, stderr: &str, exit: u64) -> &mut Self {
        let command = self.blob(field(1, command.as_bytes()));
        let output = [
            field(1, stdout.as_bytes()),
            field(2, stderr.as_bytes()),
            varint_field(3, exit),
        ];
        let output = self.blob(output.concat());
        self.raw_turn(field(2, &[field(1, &command), field(2, &output)].concat()))
    }

    /// Adds a turn as it is.
    pub(crate) fn raw_turn(&mut self, turn: Vec<u8>) -> &mut Self {
        let id = self.blob(turn);
        self.root_field(8, &id)
    }

    /// Adds a message to the prompt.
    pub(crate) fn prompt(&mut self, message: &Value) -> &mut Self {
        let id = self.blob(message.to_string().into_bytes());
        self.root_field(1, &id)
    }

    /// Adds a field to the root.
    pub(crate) fn root_field(&mut self, number: u32, value: &[u8]) -> &mut Self {
        self.root.extend(field(number, value));
        self.has_root = true;
        self
    }

    /// Replaces the root.
    pub(crate) fn root(&mut self, root: &[u8]) -> &mut Self {
        self.root = root.to_vec();
        self.has_root = true;
        self
    }

    /// Sets a key of the metadata.
    pub(crate) fn meta(&mut self, key: &str, value: Value) -> &mut Self {
        self.meta[key] = value;
        self
    }

    /// Drops the blob with this content, as if it had never been written.
    pub(crate) fn drop_blob(&mut self, data: &[u8]) -> &mut Self {
        let before = self.blobs.len();
        self.blobs.retain(|(_, blob)| blob != data);
        assert!(self.blobs.len() < before, "no such blob");
        self
    }

    /// Puts rows into an order that says nothing about the conversation.
    pub(crate) fn shuffle(&mut self) -> &mut Self {
        self.blobs.sort();
        self
    }

    /// Returns every blob that `write` would write but the root.
    pub(crate) fn blobs(&self) -> &[(String, Vec<u8>)] {
        &self.blobs
    }

    /// Writes the store with metadata in hexadecimal.
    pub(crate) fn write(&self, path: &Path) -> Connection {
        let (connection, meta) = self.write_blobs(path);
        self.write_meta(&connection, &hex(meta.to_string().as_bytes()));
        connection
    }

    /// Writes the store with metadata as plain JSON.
    pub(crate) fn write_plain(&self, path: &Path) -> Connection {
        let (connection, meta) = self.write_blobs(path);
        self.write_meta(&connection, &meta.to_string());
        connection
    }

    /// Writes everything but the metadata, and returns what belongs there.
    pub(crate) fn write_blobs(&self, path: &Path) -> (Connection, Value) {
        let mut connection = Connection::open(path).expect("a store can be written here");
        connection
            .execute_batch(
                "PRAGMA journal_mode = WAL; PRAGMA user_version = 1;
                 CREATE TABLE IF NOT EXISTS blobs (id TEXT PRIMARY KEY, data BLOB);
                 CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT);",
            )
            .expect("a store can be written here");
        let mut meta = self.meta.clone();
        let transaction = connection.transaction().expect("a store can be written here");
        let mut insert = transaction
            .prepare("INSERT OR IGNORE INTO blobs VALUES (?1, ?2)")
            .expect("a store can be written here");
        for (id, data) in &self.blobs {
            insert.execute((id, data)).expect("a store can be written here");
        }
        if self.has_root {
            let id = hex(&Sha256::digest(&self.root));
            insert
                .execute((&id, &self.root))
                .expect("a store can be written here");
            if meta["latestRootBlobId"].is_null() {
                meta["latestRootBlobId"] = json!(id);
            }
        }
        drop(insert);
        transaction.commit().expect("a store can be written here");
        (connection, meta)
    }

    pub(crate) fn write_meta(&self, connection: &Connection, value: &str) {
        connection
            .execute("INSERT OR REPLACE INTO meta VALUES ('0', ?1)", [value])
            .expect("a store can be written here");
    }
}

pub(crate) fn user(text: &str, message_id: &str) -> Vec<u8> {
    [field(1, text.as_bytes()), field(2, message_id.as_bytes())].concat()
}

pub(crate) fn assistant(text: &str) -> Vec<u8> {
    field(1, &field(1, text.as_bytes()))
}

pub(crate) fn thinking(text: &str, duration_ms: u64) -> Vec<u8> {
    field(
        3,
        &[field(1, text.as_bytes()), varint_field(2, duration_ms)].concat(),
    )
}

/// A tool step: its kind, its arguments, its result if it has one, its call id.
pub(crate) fn tool(kind: u32, args: &[u8], result: Option<&[u8]>, call_id: &str) -> Vec<u8> {
    let mut body = field(1, args);
    if let Some(result) = result {
        body.extend(field(2, result));
    }
    field(2, &[field(kind, &body), field(57, call_id.as_bytes())].concat())
}

pub(crate) fn shell(command: &str, stdout: &str, exit: u64) -> Vec<u8> {
    let success = [
        field(1, command.as_bytes()),
        varint_field(3, exit),
        field(5, stdout.as_bytes()),
    ]
    .concat();
    tool(
        1,
        &field(1, command.as_bytes()),
        Some(&field(1, &success)),
        "call_shell",
    )
}

pub(crate) fn field(number: u32, value: &[u8]) -> Vec<u8> {
    let mut out = varint(u64::from(number) << 3 | 2);
    out.extend(varint(value.len() as u64));
    out.extend(value);
    out
}

pub(crate) fn varint_field(number: u32, value: u64) -> Vec<u8> {
    [varint(u64::from(number) << 3), varint(value)].concat()
}

pub(crate) fn varint(mut value: u64) -> Vec<u8> {
    let mut out = Vec::new();
    while value >= 0x80 {
        out.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
    out
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
