//! A file on its way into the store: it is removed unless it is recorded.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use protocol_spec::endpoint::Places;
use protocol_spec::message::Failure;
use thiserror::Error;

use super::failed;
use super::sniff::{FileType, sniff};
use super::tidy::remove;
use crate::broker::{Broker, blocking};
use crate::engine::{EngineError, storage_failure};
use crate::random::random_name;
use crate::store::{Records, StoreError, Upload};

/// The largest file.
pub(crate) const UPLOAD_BYTES_MAX: usize = 32 * 1024 * 1024;
/// The most bytes of all files together.
const UPLOADS_BYTES_MAX: u64 = 4 * 1024 * 1024 * 1024;
/// The space that a file must leave free on the disk: the free space that the broker needs before it treats a disk as
/// not full, so that no file takes space that is reserved for answers.
const LEFT_FREE_BYTES: u64 = 3 * 512 * 1024;
/// The longest name that is kept.
const NAME_BYTES_MAX: usize = 255;
/// The bytes of a file from which its type is detected.
const SNIFFED_BYTES: usize = 4096;
/// The reason why a file is not stored.
#[derive(Debug, Error)]
pub(crate) enum AttachmentError {
    /// The files together take too much space.
    #[error("there are too many files already")]
    TooMany,
    /// The disk has no space for it.
    #[error("the disk is full; what is left is kept for answers")]
    DiskFull,
    /// It is too large.
    #[error("a file has at most {UPLOAD_BYTES_MAX} bytes")]
    TooLarge,
    /// It has no bytes.
    #[error("the file is empty")]
    Empty,
    /// The store failed.
    #[error("{}", .0.message)]
    Storage(Failure),
    /// The broker is stopping.
    #[error(transparent)]
    Stopping(#[from] EngineError),
}

impl From<StoreError> for AttachmentError {
    fn from(error: StoreError) -> Self {
        Self::Storage(storage_failure(&error))
    }
}

impl From<Failure> for AttachmentError {
    fn from(failure: Failure) -> Self {
        Self::Storage(failure)
    }
}

/// Creates the directory of attachments, without access for others.
pub(crate) fn prepare(places: &Places) -> Result<(), StoreError> {
    let path = places.attachments();
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(&path)
        .map_err(failed("create", &path))
}

/// A file being received; removed unless it is finished.
pub(crate) struct IncomingFile {
    file: File,
    attachments: PathBuf,
    kept: KeptFile,
    first: Vec<u8>,
    bytes: u64,
}

impl IncomingFile {
    /// Begins a file, unless there are too many or the disk is full.
    pub(crate) async fn begin(broker: &Arc<Broker>) -> Result<Self, AttachmentError> {
        prepare(broker.places())?;
        if broker.read(|reader| reader.upload_bytes()).await? > UPLOADS_BYTES_MAX {
            return Err(AttachmentError::TooMany);
        }
        let attachments = broker.places().attachments();
        leave_room(&attachments, 0)?;
        let path = attachments.join(format!(".{}.part", random_name()));
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&path);
        Ok(Self {
            file: file.map_err(failed("create", &path))?,
            attachments,
            kept: KeptFile { path: Some(path) },
            first: Vec::new(),
            bytes: 0,
        })
    }

    /// Adds bytes. The free space is checked each time, because others take space meanwhile.
    pub(crate) fn add(&mut self, chunk: &[u8]) -> Result<(), AttachmentError> {
        leave_room(&self.attachments, chunk.len())?;
        let missing = SNIFFED_BYTES.saturating_sub(self.first.len());
        self.first.extend_from_slice(&chunk[..missing.min(chunk.len())]);
        self.bytes += chunk.len() as u64;
        if self.bytes > UPLOAD_BYTES_MAX as u64 {
            return Err(AttachmentError::TooLarge);
        }
        self.file
            .write_all(chunk)
            .map_err(|source| failed("write", self.kept.path())(source).into())
    }

    /// Makes the file durable under a random name, and records it: an answer may carry it from now on.
    pub(crate) async fn keep(self, broker: &Arc<Broker>, name: &str) -> Result<Upload, AttachmentError> {
        let upload = self.finish(clean_name(name)).await?;
        let (noted, kept) = (upload.clone(), KeptFile::new(&upload.path));
        let (reading, path) = (Arc::clone(broker), PathBuf::from(&upload.path));
        blocking(move || reading.reader().send_ahead(&path)).await?;
        let write = move |store: &dyn Records, now| store.add_upload(&noted, now);
        broker.engine().write(write).await??;
        kept.keep();
        Ok(upload)
    }

    async fn finish(mut self, name: String) -> Result<Upload, AttachmentError> {
        let FileType { media_type, ending } = sniff(&self.first);
        if self.bytes == 0 {
            return Err(AttachmentError::Empty);
        }
        let upload_id = random_name();
        let temporary = self.kept.path().to_owned();
        let path = temporary.with_file_name(format!(
            "{upload_id}.{}",
            wanted_ending(&name, media_type, ending)
        ));
        let (file, target) = (self.file, path.clone());
        blocking(move || {
            file.sync_all()
                .and_then(|()| std::fs::rename(&temporary, &target))
                .and_then(|()| File::open(target.parent().unwrap_or(&target))?.sync_all())
                .map_err(failed("keep", &target))
        })
        .await?;
        self.kept.path = None;
        Ok(Upload {
            upload_id,
            path: path.display().to_string(),
            name: if name.is_empty() {
                format!("file.{ending}")
            } else {
                name
            },
            media_type: media_type.to_owned(),
            bytes: self.bytes,
            cue_ids: Vec::new(),
        })
    }
}

/// A file that is removed unless it is kept.
struct KeptFile {
    path: Option<PathBuf>,
}

impl KeptFile {
    fn new(path: &str) -> Self {
        Self {
            path: Some(PathBuf::from(path)),
        }
    }

    fn path(&self) -> &Path {
        self.path.as_deref().unwrap_or(Path::new(""))
    }

    fn keep(mut self) {
        self.path = None;
    }
}

impl Drop for KeptFile {
    fn drop(&mut self) {
        if let Some(path) = &self.path {
            remove(path);
        }
    }
}

/// Refuses bytes that would not leave enough free space; if that is unknown, a failed write will report it.
fn leave_room(directory: &Path, bytes: usize) -> Result<(), AttachmentError> {
    let disk = rustix::fs::statvfs(directory);
    let free = disk.map_or(u64::MAX, |disk| disk.f_bavail.saturating_mul(disk.f_frsize));
    if free >= LEFT_FREE_BYTES.saturating_add(bytes as u64) {
        return Ok(());
    }
    Err(AttachmentError::DiskFull)
}

/// Keeps the extension of a text file, because it tells agents the kind of text.
fn wanted_ending<'a>(name: &'a str, media_type: &str, otherwise: &'a str) -> &'a str {
    let ending = name
        .rsplit_once('.')
        .map(|(_, ending)| ending)
        .unwrap_or_default();
    let is_plain = (1..=8).contains(&ending.len()) && ending.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if media_type == "text/plain" && is_plain {
        ending
    } else {
        otherwise
    }
}

/// Keeps the last part of a name, without special characters.
fn clean_name(name: &str) -> String {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let mut clean = String::new();
    for letter in last.chars().filter(|letter| !letter.is_control()) {
        if clean.len() + letter.len_utf8() > NAME_BYTES_MAX {
            break;
        }
        clean.push(letter);
    }
    clean.trim_matches(['.', ' ']).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_only_a_name() {
        for (given, kept) in [
            ("../../etc/passwd", "passwd"),
            ("C:\\Users\\x\\a.png", "a.png"),
            ("..", ""),
            ("a\0b\n.txt", "ab.txt"),
            (".hidden", "hidden"),
            ("截图 1.png", "截图 1.png"),
        ] {
            assert_eq!(clean_name(given), kept, "{given:?}");
        }
        assert!(clean_name(&"长".repeat(300)).len() <= NAME_BYTES_MAX);
    }

    #[test]
    fn text_keeps_its_ending_and_nothing_else_does() {
        assert_eq!(wanted_ending("a.rs", "text/plain", "txt"), "rs");
        assert_eq!(wanted_ending("a.png", "application/octet-stream", "bin"), "bin");
        assert_eq!(wanted_ending("a.p/../x", "text/plain", "txt"), "txt");
    }
}
