//! Metadata of the files that humans added.

use std::fs;
use std::path::Path;

use cueme_store::{StoreError, Upload, UploadReads};
use sha2::{Digest, Sha256};
use tokio_postgres::Row;

use super::row::Columns;
use super::{Fault, PostgresReader};
use crate::records::ADD_BLOB;
use crate::text::encode;

/// Smaller files take no time worth a connection of their own.
const SENT_AHEAD_MIN: usize = 128 * 1024;

const COLUMNS: &str = "SELECT upload_id, path, name, media_type, bytes,
    ARRAY (SELECT u.cue_id FROM upload_uses u WHERE u.upload_id = uploads.upload_id ORDER BY u.cue_id) FROM uploads";

impl UploadReads for PostgresReader {
    fn upload(&self, upload_id: &str) -> Result<Option<Upload>, StoreError> {
        let row = self.row(&format!("{COLUMNS} WHERE upload_id = $1"), &[&encode(upload_id)])?;
        Ok(row.as_ref().map(upload).transpose()?)
    }

    fn upload_at(&self, path: &str) -> Result<Option<Upload>, StoreError> {
        let row = self.row(&format!("{COLUMNS} WHERE path = $1"), &[&encode(path)])?;
        Ok(row.as_ref().map(upload).transpose()?)
    }

    fn upload_piece(
        &self,
        path: &str,
        offset: u64,
        bytes_max: u64,
    ) -> Result<Option<(Vec<u8>, u64)>, StoreError> {
        let (from, count) = (clamped(offset.saturating_add(1)), clamped(bytes_max));
        let row = self.row(
            "SELECT substring(b.bytes FROM $2 FOR $3), u.bytes FROM uploads u JOIN blobs b USING (hash) WHERE u.path = $1",
            &[&encode(path), &from, &count],
        )?;
        let piece = row.map(|row| Ok::<_, Fault>((row.value(0)?, row.count(1)?)));
        Ok(piece.transpose()?)
    }

    fn send_ahead(&self, path: &Path) -> Result<(), StoreError> {
        let bytes = fs::read(path).map_err(|source| StoreError::Io {
            doing: "read",
            path: path.to_owned(),
            source,
        })?;
        if bytes.len() < SENT_AHEAD_MIN {
            return Ok(());
        }
        let hash = Sha256::digest(&bytes).to_vec();
        self.write_apart(async |client| {
            client.execute(ADD_BLOB, &[&hash, &bytes]).await?;
            Ok(())
        })
    }

    fn dropped_files(&self) -> Result<Vec<String>, StoreError> {
        // A file may be there again after a restore.
        let rows = self.rows(
            "SELECT name FROM dropped_files d WHERE NOT EXISTS (SELECT 1 FROM uploads u WHERE u.path = d.name)
                 AND NOT EXISTS (SELECT 1 FROM cues c WHERE c.cue_id = d.name)",
            &[],
        )?;
        Ok(rows.iter().map(|row| row.text(0)).collect::<Result<_, _>>()?)
    }

    fn upload_bytes(&self) -> Result<u64, StoreError> {
        let row = self.row("SELECT coalesce(sum(bytes), 0)::bigint FROM uploads", &[])?;
        Ok(row.map(|row| row.count(0)).transpose()?.unwrap_or_default())
    }
}

/// A file has far fewer bytes than this can count.
fn clamped(number: u64) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}

fn upload(row: &Row) -> Result<Upload, Fault> {
    Ok(Upload {
        upload_id: row.text(0)?,
        path: row.text(1)?,
        name: row.text(2)?,
        media_type: row.text(3)?,
        bytes: row.count(4)?,
        cue_ids: row.value(5)?,
    })
}
