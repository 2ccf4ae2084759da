//! Stores a file, and reads its bytes again.

use std::path::Path;
use std::sync::Arc;

use super::failed;
use super::incoming::{AttachmentError, IncomingFile, UPLOAD_BYTES_MAX};
use crate::broker::Broker;
use crate::store::{Reader, StoreError, Upload};

/// Stores a file whose bytes are there.
pub(crate) async fn keep_file(
    broker: &Arc<Broker>,
    name: &str,
    bytes: &[u8],
) -> Result<Upload, AttachmentError> {
    let mut incoming = IncomingFile::begin(broker).await?;
    incoming.add(bytes)?;
    incoming.keep(broker, name).await
}

/// Reads a file from the store, if it keeps the bytes, or from the disk.
pub(crate) fn bytes_of(reader: &dyn Reader, path: &str) -> Result<Vec<u8>, StoreError> {
    match reader.upload_piece(path, 0, UPLOAD_BYTES_MAX as u64)? {
        Some((bytes, _)) => Ok(bytes),
        None => std::fs::read(path).map_err(failed("read", Path::new(path))),
    }
}
