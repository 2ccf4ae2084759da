//! Copies the files of answers into our own directory: the original's may be deleted one day.

use std::fs::{DirBuilder, File};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Component, Path, PathBuf};

use protocol_spec::answer::Attachment;
use protocol_spec::id::RequestId;

use super::source::SourceFile;

/// The largest file that is copied.
const FILE_BYTES_MAX: u64 = 256 * 1024 * 1024;
/// The longest ending that is kept.
const ENDING_CHARS_MAX: usize = 8;

/// Where files come from and where they go.
#[derive(Debug)]
pub(super) struct Shelf<'a> {
    pub(super) source: &'a Path,
    pub(super) target: PathBuf,
    /// How many were copied.
    pub(super) copied: u64,
}

impl Shelf<'_> {
    /// Copies the files of one answer, unless that was done before; says what could not be copied.
    pub(super) fn copy(
        &mut self,
        key: RequestId,
        files: &[SourceFile],
        remarks: &mut Vec<String>,
    ) -> Vec<Attachment> {
        let mut attachments = Vec::with_capacity(files.len());
        for (place, file) in files.iter().enumerate() {
            let target = self
                .target
                .join(format!("{}-{place}.{}", key.0.simple(), ending(&file.path)));
            match self.copy_one(&file.path, &target) {
                Ok(()) => attachments.push(Attachment {
                    path: target.display().to_string(),
                    name: Path::new(&file.path)
                        .file_name()
                        .map(|name| name.to_string_lossy().into_owned()),
                    media_type: file.media_type.clone(),
                }),
                Err(why) => remarks.push(format!("its file {:?} was left out: {why}", file.path)),
            }
        }
        attachments
    }

    fn copy_one(&mut self, relative: &str, target: &Path) -> Result<(), String> {
        let relative = Path::new(relative.trim_start_matches('/'));
        let is_inside = relative
            .components()
            .all(|part| matches!(part, Component::Normal(_)));
        if !is_inside || relative.as_os_str().is_empty() {
            return Err("its path leads elsewhere".to_owned());
        }
        let said = |error: io::Error| error.to_string();
        let mut source = File::open(self.source.join(relative)).map_err(said)?;
        let found = source.metadata().map_err(said)?;
        if !found.is_file() || found.len() > FILE_BYTES_MAX {
            return Err(format!("it is no file of at most {FILE_BYTES_MAX} bytes"));
        }
        if std::fs::metadata(target).is_ok_and(|there| there.len() == found.len()) {
            return Ok(());
        }
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&self.target)
            .map_err(said)?;
        let mut copy = tempfile::NamedTempFile::new_in(&self.target).map_err(said)?;
        io::copy(&mut source, &mut copy).map_err(said)?;
        copy.as_file().sync_all().map_err(said)?;
        copy.persist(target).map_err(|error| said(error.error))?;
        self.copied += 1;
        Ok(())
    }
}

fn ending(path: &str) -> &str {
    let ending = Path::new(path)
        .extension()
        .and_then(|ending| ending.to_str())
        .unwrap_or_default();
    let is_plain = (1..=ENDING_CHARS_MAX).contains(&ending.len())
        && ending.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if is_plain { ending } else { "bin" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_outside_the_originals_folder_is_not_copied() {
        let home = tempfile::tempdir().unwrap();
        std::fs::write(home.path().join("secret.txt"), "s").unwrap();
        let source = home.path().join("cue");
        std::fs::create_dir(&source).unwrap();
        let mut shelf = Shelf {
            source: &source,
            target: home.path().join("ours"),
            copied: 0,
        };
        let mut remarks = Vec::new();
        let key = RequestId(uuid::Uuid::nil());
        for path in ["../secret.txt", "files/../../secret.txt", "", "files/none.png"] {
            let file = SourceFile {
                path: path.to_owned(),
                media_type: None,
            };
            assert!(shelf.copy(key, &[file], &mut remarks).is_empty(), "{path}");
        }
        assert_eq!((remarks.len(), shelf.copied), (4, 0), "{remarks:?}");
    }
}
