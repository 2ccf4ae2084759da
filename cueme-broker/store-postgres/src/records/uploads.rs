//! Files that humans added: their metadata, and their bytes, because brokers share no disk.

use std::io::ErrorKind;
use std::path::PathBuf;

use cueme_store::{StoreError, Upload, UploadRecords};
use protocol_spec::time::Timestamp;
use sha2::{Digest, Sha256};

use crate::fault::Fault;
use crate::statements::{Param, params};
use crate::store::PostgresStore;
use crate::text::Text;

/// Forgets the files that a condition finds. Brokers read in the table `dropped_files` what to remove from their disks.
macro_rules! drop_files_where {
    ($condition:literal) => {
        concat!(
            "WITH gone AS (DELETE FROM uploads WHERE ",
            $condition,
            " RETURNING upload_id, path),
              dropped AS (INSERT INTO dropped_files (name) SELECT path FROM gone
                  UNION SELECT cue_id FROM upload_uses JOIN gone USING (upload_id)
                  ON CONFLICT (name) DO UPDATE SET dropped_at = excluded.dropped_at)
              SELECT path FROM gone"
        )
    };
}

/// Adds the bytes of a file.
pub(crate) const ADD_BLOB: &str = "INSERT INTO blobs (hash, bytes) VALUES ($1, $2) ON CONFLICT DO NOTHING";

/// Forgets what every broker has removed from its disk by now, unless it was not started for so long.
const FORGET_DROPPED: &str = "DELETE FROM dropped_files WHERE dropped_at < now() - interval '180 days'";

impl UploadRecords for PostgresStore {
    fn add_upload(&self, upload: &Upload, at: Timestamp) -> Result<(), StoreError> {
        let values = self.keep_bytes(upload, at)?;
        self.record(
            "INSERT INTO uploads (upload_id, path, name, media_type, bytes, uploaded_at, hash)
             VALUES ($1, $2, $3, $4, $5, $6, $7)",
            values,
        )
    }

    fn note_uploads(&self, uploads: &[Upload], at: Timestamp) -> Result<(), StoreError> {
        uploads.iter().try_for_each(|upload| {
            let values = self.keep_bytes(upload, at)?;
            self.record(
                "INSERT INTO uploads (upload_id, path, name, media_type, bytes, uploaded_at, hash)
                 VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING",
                values,
            )
        })
    }

    fn drop_upload(&self, upload_id: &str) -> Result<bool, StoreError> {
        self.has_recorded(
            drop_files_where!(
                "upload_id = $1 AND NOT EXISTS (SELECT 1 FROM upload_uses WHERE upload_id = $1)"
            ),
            params![upload_id],
        )
    }

    fn drop_stray_uploads(&self, before: Timestamp) -> Result<Vec<String>, StoreError> {
        // One that an answer carried goes with the last question that did, however new it is.
        let rows = self.query(
            drop_files_where!(
                "NOT EXISTS (SELECT 1 FROM upload_uses u JOIN cues USING (cue_id) WHERE u.upload_id = uploads.upload_id)
                 AND (uploaded_at < $1 OR EXISTS (SELECT 1 FROM upload_uses u WHERE u.upload_id = uploads.upload_id))"
            ),
            params![before.as_millis()],
        )?;
        if !rows.is_empty() {
            self.record(
                "DELETE FROM blobs b WHERE NOT EXISTS (SELECT 1 FROM uploads u WHERE u.hash = b.hash)",
                params![],
            )?;
        }
        self.execute(FORGET_DROPPED, params![])?;
        let paths = rows
            .iter()
            .map(|row| row.try_get::<_, Text>(0).map(|path| path.0));
        Ok(paths.collect::<Result<_, _>>().map_err(Fault::from)?)
    }
}

impl PostgresStore {
    /// Reads the bytes of a file, and returns the values of its row.
    fn keep_bytes(&self, upload: &Upload, at: Timestamp) -> Result<Vec<Param>, StoreError> {
        let hash = match std::fs::read(&upload.path) {
            Ok(bytes) => {
                let hash = Sha256::digest(&bytes).to_vec();
                // Large ones were sent before, without the lock; nobody removes them while it is held.
                if !self.exists("SELECT 1 FROM blobs WHERE hash = $1", params![hash.clone()])? {
                    self.record(ADD_BLOB, params![hash.clone(), bytes])?;
                }
                Some(hash)
            }
            // The metadata of a missing file is worth keeping all the same.
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(source) => {
                return Err(StoreError::Io {
                    doing: "read",
                    path: PathBuf::from(&upload.path),
                    source,
                });
            }
        };
        Ok(params![
            &upload.upload_id,
            &upload.path,
            &upload.name,
            &upload.media_type,
            upload.bytes.cast_signed(),
            at.as_millis(),
            hash,
        ])
    }
}
