//! Metadata of the files that humans added. The bytes are files of their own.

use cueme_store::{StoreError, Upload, UploadReads, UploadRecords};
use protocol_spec::time::Timestamp;
use rusqlite::{OptionalExtension, Row, params};

use super::SqliteReader;
use super::SqliteStore;

const COLUMNS: &str = "upload_id, path, name, media_type, bytes,
    (SELECT group_concat(cue_id) FROM upload_uses WHERE upload_uses.upload_id = uploads.upload_id) FROM uploads";

impl UploadRecords for SqliteStore {
    fn add_upload(&self, upload: &Upload, at: Timestamp) -> Result<(), StoreError> {
        self.run(
            "INSERT INTO uploads (upload_id, path, name, media_type, bytes, uploaded_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            params![
                upload.upload_id,
                upload.path,
                upload.name,
                upload.media_type,
                upload.bytes,
                at.as_millis()
            ],
        )
    }

    fn note_uploads(&self, uploads: &[Upload], at: Timestamp) -> Result<(), StoreError> {
        uploads.iter().try_for_each(|upload| {
            self.run(
                "INSERT OR IGNORE INTO uploads (upload_id, path, name, media_type, bytes, uploaded_at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                params![
                    upload.upload_id,
                    upload.path,
                    upload.name,
                    upload.media_type,
                    upload.bytes,
                    at.as_millis()
                ],
            )
        })
    }

    fn drop_upload(&self, upload_id: &str) -> Result<bool, StoreError> {
        let dropped = self.execute(
            "DELETE FROM uploads WHERE upload_id = ?1
                 AND NOT EXISTS (SELECT 1 FROM upload_uses WHERE upload_id = ?1)",
            params![upload_id],
        )?;
        Ok(dropped > 0)
    }

    fn drop_stray_uploads(&self, before: Timestamp) -> Result<Vec<String>, StoreError> {
        // One that an answer carried goes with the last question that did, however new it is.
        self.with(|connection| {
            let mut statement = connection.prepare_cached(
            "DELETE FROM uploads
             WHERE NOT EXISTS (SELECT 1 FROM upload_uses u JOIN cues USING (cue_id) WHERE u.upload_id = uploads.upload_id)
                 AND (uploaded_at < ?1 OR EXISTS (SELECT 1 FROM upload_uses u WHERE u.upload_id = uploads.upload_id))
             RETURNING path",
        )?;
            let paths = statement.query_map(params![before.as_millis()], |row| row.get(0))?;
            Ok(paths.collect::<Result<_, _>>()?)
        })
    }
}

impl UploadReads for SqliteReader {
    fn upload(&self, upload_id: &str) -> Result<Option<Upload>, StoreError> {
        self.find_upload("upload_id", upload_id)
    }

    fn upload_at(&self, path: &str) -> Result<Option<Upload>, StoreError> {
        self.find_upload("path", path)
    }

    fn upload_bytes(&self) -> Result<u64, StoreError> {
        self.with(|connection| {
            Ok(connection.query_row("SELECT ifnull(sum(bytes), 0) FROM uploads", [], |row| row.get(0))?)
        })
    }
}

impl SqliteReader {
    fn find_upload(&self, column: &str, value: &str) -> Result<Option<Upload>, StoreError> {
        self.with(|connection| {
            let found = connection
                .prepare_cached(&format!("SELECT {COLUMNS} WHERE {column} = ?1"))?
                .query_row(params![value], upload)
                .optional()?;
            Ok(found)
        })
    }
}

fn upload(row: &Row<'_>) -> rusqlite::Result<Upload> {
    let cue_ids: Option<String> = row.get(5)?;
    Ok(Upload {
        cue_ids: cue_ids
            .iter()
            .flat_map(|ids| ids.split(','))
            .map(str::to_owned)
            .collect(),
        upload_id: row.get(0)?,
        path: row.get(1)?,
        name: row.get(2)?,
        media_type: row.get(3)?,
        bytes: row.get(4)?,
    })
}
