//! Metadata of the files that humans added. The bytes are files of their own.

use std::path::Path;

use protocol_spec::time::Timestamp;

use crate::StoreError;

/// A file that was uploaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upload {
    /// Its random name.
    pub upload_id: String,
    /// Its path.
    pub path: String,
    /// Its original file name.
    pub name: String,
    /// Its media type, detected from its first bytes.
    pub media_type: String,
    /// Its size.
    pub bytes: u64,
    /// The questions whose answers carry it.
    pub cue_ids: Vec<String>,
}

/// Writes the metadata of files.
pub trait UploadRecords {
    /// Adds a file that is on disk.
    fn add_upload(&self, upload: &Upload, at: Timestamp) -> Result<(), StoreError>;

    /// Adds files that came with records of another program; known files stay unchanged.
    fn note_uploads(&self, uploads: &[Upload], at: Timestamp) -> Result<(), StoreError>;

    /// Forgets a file that no answer carries; returns whether there was one.
    fn drop_upload(&self, upload_id: &str) -> Result<bool, StoreError>;

    /// Forgets files that no answer has carried since `before`, and those of questions that were deleted; returns their
    /// paths.
    fn drop_stray_uploads(&self, before: Timestamp) -> Result<Vec<String>, StoreError>;
}

/// Reads the metadata of files.
pub trait UploadReads {
    /// Returns the metadata of a file by its random name.
    fn upload(&self, upload_id: &str) -> Result<Option<Upload>, StoreError>;

    /// Returns the metadata of a file by its path.
    fn upload_at(&self, path: &str) -> Result<Option<Upload>, StoreError>;

    /// Returns a piece of a file and its size, where the store keeps the bytes.
    fn upload_piece(
        &self,
        _path: &str,
        _offset: u64,
        _bytes_max: u64,
    ) -> Result<Option<(Vec<u8>, u64)>, StoreError> {
        Ok(None)
    }

    /// Sends the bytes of a file, where the store keeps them, before the transaction that adds the file: that one holds up
    /// other brokers.
    fn send_ahead(&self, _path: &Path) -> Result<(), StoreError> {
        Ok(())
    }

    /// Returns the files that were deleted, to be removed from the disk of this broker: paths, and questions whose agents got copies. A
    /// store of one broker has none, because that broker removes them at once.
    fn dropped_files(&self) -> Result<Vec<String>, StoreError> {
        Ok(Vec::new())
    }

    /// Returns the size of all files together.
    fn upload_bytes(&self) -> Result<u64, StoreError>;
}
