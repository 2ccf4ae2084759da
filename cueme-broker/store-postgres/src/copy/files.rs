//! The files that answers carry: on the disk beside a SQLite database, blobs in a PostgreSQL one.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Component, Path};

use cueme_store::StoreError;
use sha2::{Digest, Sha256};

use super::transaction::CopyTransaction;
use crate::fault::Fault;
use crate::text::decode;

/// Restores the files of uploads that the database had before it was cleared, and forgets all others.
const KEEP_KNOWN: &str = "DO $$ BEGIN
    IF to_regclass('pg_temp.known_files') IS NOT NULL THEN
        UPDATE uploads u SET hash = k.hash FROM known_files k WHERE k.upload_id = u.upload_id AND k.path = u.path;
        DELETE FROM blobs b WHERE NOT EXISTS (SELECT 1 FROM uploads u WHERE u.hash = b.hash);
    END IF; END $$";

impl CopyTransaction<'_> {
    /// Reads the files of all uploads into the database; returns their number, and the missing ones.
    pub async fn gather_files(&self) -> Result<(u64, Vec<String>), StoreError> {
        self.batch(KEEP_KNOWN).await?;
        let known: i64 = self
            .one("SELECT count(*) FROM uploads WHERE hash IS NOT NULL")
            .await?;
        let transaction = self.transaction();
        let rows = transaction
            .query(
                "SELECT upload_id, path FROM uploads WHERE hash IS NULL ORDER BY upload_id",
                &[],
            )
            .await
            .map_err(Fault::from)?;
        let (mut count, mut missing) = (known.unsigned_abs(), Vec::new());
        for row in rows {
            let (upload, path): (&str, &str) = (row.get(0), row.get(1));
            let path = decode(path);
            let Ok(bytes) = fs::read(&*path) else {
                missing.push(path.into_owned());
                continue;
            };
            let hash: [u8; 32] = Sha256::digest(&bytes).into();
            transaction
                .execute(
                    "INSERT INTO blobs (hash, bytes) VALUES ($1, $2) ON CONFLICT DO NOTHING",
                    &[&hash.as_slice(), &bytes],
                )
                .await
                .map_err(Fault::from)?;
            transaction
                .execute(
                    "UPDATE uploads SET hash = $2 WHERE upload_id = $1",
                    &[&upload, &hash.as_slice()],
                )
                .await
                .map_err(Fault::from)?;
            count += 1;
        }
        Ok((count, missing))
    }

    /// Writes the files of all uploads to the paths in their answers, if those are below `directory`.
    ///
    /// Returns their number, and those that could not be written.
    pub async fn lay_out_files(&self, directory: &Path) -> Result<(u64, Vec<String>), StoreError> {
        let transaction = self.transaction();
        let rows = transaction
            .query("SELECT path, hash FROM uploads ORDER BY upload_id", &[])
            .await
            .map_err(Fault::from)?;
        let (mut count, mut missing) = (0, Vec::new());
        for row in rows {
            let (path, hash): (&str, Option<&[u8]>) = (row.get(0), row.get(1));
            let path = decode(path).into_owned();
            let target = Path::new(&path);
            let is_there = match hash {
                Some(hash) if has(target, hash) => true,
                Some(hash) if is_below(target, directory) => {
                    let blob = transaction
                        .query_one("SELECT bytes FROM blobs WHERE hash = $1", &[&hash])
                        .await
                        .map_err(Fault::from)?;
                    write(target, blob.get(0))?;
                    true
                }
                Some(_) => false,
                None => target.is_file(),
            };
            match is_there {
                true => count += 1,
                false => missing.push(path),
            }
        }
        Ok((count, missing))
    }
}

fn has(path: &Path, hash: &[u8]) -> bool {
    fs::read(path).is_ok_and(|bytes| *Sha256::digest(&bytes) == *hash)
}

/// Says whether a path stays below a directory.
fn is_below(path: &Path, directory: &Path) -> bool {
    path.starts_with(directory)
        && path != directory
        && !path.components().any(|part| matches!(part, Component::ParentDir))
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    let written = || {
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        let mut options = OpenOptions::new();
        let mut file = options
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(path)?;
        file.write_all(bytes)?;
        file.sync_all()
    };
    written().map_err(|source| StoreError::Io {
        doing: "write",
        path: path.to_owned(),
        source,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_written_below_its_directory_only() {
        let home = Path::new("/home/ada/attachments");
        assert!(is_below(Path::new("/home/ada/attachments/1/a.png"), home));
        for path in [
            "/home/ada/attachments",
            "/home/ada/other/a",
            "/home/ada/attachments/../a",
            "/etc/passwd",
        ] {
            assert!(!is_below(Path::new(path), home), "{path}");
        }
    }
}
