//! Copies the files of answers into our own directory: the original's may be deleted one day.

use std::fs::{DirBuilder, File};
use std::io::{self, Read};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Component, Path, PathBuf};

use protocol_spec::answer::Attachment;
use protocol_spec::id::RequestId;
use protocol_spec::visible::quoted;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use super::source::SourceFile;

/// The largest file that is copied.
const FILE_BYTES_MAX: u64 = 256 * 1024 * 1024;
/// The most bytes that are copied in all.
const ALL_BYTES_MAX: u64 = 16 * 1024 * 1024 * 1024;
/// The longest ending that is kept.
const ENDING_CHARS_MAX: usize = 8;

/// The source and the target of files.
#[derive(Debug)]
pub(super) struct Shelf<'a> {
    source: &'a Path,
    target: PathBuf,
    /// The number of copied files.
    pub(super) copied: u64,
    /// The number of bytes that may still be copied.
    bytes_left: u64,
}

impl<'a> Shelf<'a> {
    pub(super) fn new(source: &'a Path, target: PathBuf) -> Self {
        Self {
            source,
            target,
            copied: 0,
            bytes_left: ALL_BYTES_MAX,
        }
    }
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
                Err(why) => remarks.push(format!("its file {} was left out: {why}", quoted(&file.path))),
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
            return Err("its path leads outside of the folder".to_owned());
        }
        let said = |error: io::Error| error.to_string();
        let mut source = open_inside(self.source, relative)?;
        let found = source.metadata().map_err(said)?;
        if !found.is_file() || found.len() > FILE_BYTES_MAX {
            return Err(format!("it is not a file of at most {FILE_BYTES_MAX} bytes"));
        }
        if found.len() > self.bytes_left {
            return Err(format!("all files together have more than {ALL_BYTES_MAX} bytes"));
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
        io::copy(&mut (&mut source).take(found.len()), &mut copy).map_err(said)?;
        self.bytes_left -= found.len();
        copy.as_file().sync_all().map_err(said)?;
        copy.persist(target).map_err(|error| said(error.error))?;
        self.copied += 1;
        Ok(())
    }
}

/// Opens a file inside a folder, without following a link out of it and without waiting for the other end of a pipe.
fn open_inside(folder: &Path, relative: &Path) -> Result<File, String> {
    let said = |error: io::Error| error.to_string();
    let path = folder.join(relative);
    let parent = path.parent().unwrap_or(folder).canonicalize().map_err(said)?;
    if !parent.starts_with(folder.canonicalize().map_err(said)?) {
        return Err("its path leads outside of the folder".to_owned());
    }
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::RDONLY;
    match rustix::fs::open(&path, flags, Mode::empty()) {
        Ok(file) => Ok(File::from(file)),
        Err(Errno::LOOP) => Err("it is a link".to_owned()),
        Err(error) => Err(error.to_string()),
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
        std::os::unix::fs::symlink(home.path().join("secret.txt"), source.join("link")).unwrap();
        std::os::unix::fs::symlink(home.path(), source.join("files")).unwrap();
        // No call that macOS has makes one.
        let made = std::process::Command::new("mkfifo")
            .arg(source.join("pipe"))
            .status();
        assert!(made.unwrap().success());
        let mut shelf = Shelf::new(&source, home.path().join("ours"));
        let mut remarks = Vec::new();
        let key = RequestId(uuid::Uuid::nil());
        for path in [
            "../secret.txt",
            "files/../../secret.txt",
            "",
            "files/none.png",
            "files/secret.txt",
            "link",
            "pipe",
        ] {
            let file = SourceFile {
                path: path.to_owned(),
                media_type: None,
            };
            assert!(shelf.copy(key, &[file], &mut remarks).is_empty(), "{path}");
        }
        assert_eq!((remarks.len(), shelf.copied), (7, 0), "{remarks:?}");
    }

    #[test]
    fn all_files_together_have_a_limit_too() {
        let home = tempfile::tempdir().unwrap();
        std::fs::write(home.path().join("first.png"), "abc").unwrap();
        std::fs::write(home.path().join("second.png"), "de").unwrap();
        let mut shelf = Shelf::new(home.path(), home.path().join("ours"));
        shelf.bytes_left = 4;
        let files = ["first.png", "second.png"].map(|path| SourceFile {
            path: path.to_owned(),
            media_type: None,
        });
        let mut remarks = Vec::new();
        let copied = shelf.copy(RequestId(uuid::Uuid::nil()), &files, &mut remarks);
        assert_eq!(
            (copied.len(), remarks.len(), shelf.copied),
            (1, 1, 1),
            "{remarks:?}"
        );
        assert!(
            remarks[0].contains("all files together have more than"),
            "{remarks:?}"
        );
    }
}
