//! Files of a project that a question names: images and patches.
//!
//! A question is untrusted. A file is read only if it is in the project of the asking agent, on this machine, without
//! a symbolic link on the way; if it is small; and if its content matches its name. It is read when it is viewed:
//! nothing is fetched from elsewhere, and nothing is stored.

use std::fs::File;
use std::io::Read;
use std::ops::Range;
use std::path::{Component, Path, PathBuf};

use protocol_spec::message::CueView;
use protocol_spec::outcome::Origin;
use protocol_spec::truncate;
use protocol_spec::visible::visible;
use rustix::fs::{Mode, OFlags};
use schemars::JsonSchema;
use serde::Serialize;

use super::sniff::{is_shown, sniff};
use crate::store::{Reader, StoreError};

/// The most files of a question that are checked.
pub(crate) const FILES_MAX: usize = 12;
/// The largest image.
const IMAGE_BYTES_MAX: u64 = 10 * 1024 * 1024;
/// The largest patch.
const PATCH_BYTES_MAX: u64 = 512 * 1024;
/// The part of a question that is searched for file names, in bytes.
const SEARCHED_BYTES_MAX: usize = 256 * 1024;
/// The longest path that is looked for, in bytes.
const PATH_BYTES_MAX: usize = 1024;

const IMAGES: [&str; 5] = ["png", "jpg", "jpeg", "gif", "webp"];
const PATCHES: [&str; 2] = ["patch", "diff"];

/// The kind of file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum FileKind {
    Image,
    Patch,
}

/// A file that a question names and that can be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FoundFile {
    /// Its number among the files that the question names.
    pub(crate) number: usize,
    /// Its path as the question names it.
    pub(crate) path: String,
    /// Its kind.
    pub(crate) kind: FileKind,
    /// Its size.
    pub(crate) bytes: u64,
}

/// A file that a question names, read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NamedFile {
    /// Its name, without the folders.
    pub(crate) name: String,
    /// Its kind.
    pub(crate) kind: FileKind,
    /// Its content.
    pub(crate) bytes: Vec<u8>,
}

/// Reads one of the [`FILES_MAX`] files that a question may name; `None` when it names no such file that can be shown.
pub(crate) fn named_file(
    reader: &dyn Reader,
    cue: &CueView,
    number: usize,
) -> Result<Option<NamedFile>, StoreError> {
    if !is_here(reader, cue)? {
        return Ok(None);
    }
    let read = || {
        let (path, kind) = named_files(&cue.prompt).into_iter().nth(number)?;
        let (below, bytes) = open(Path::new(&cue.project_dir), &path, kind)?;
        let name = visible(below.file_name()?.to_str()?).into_owned();
        Some(NamedFile { name, kind, bytes })
    };
    Ok(read())
}

/// Finds the files of an open question that can be shown.
pub(crate) fn files_of(reader: &dyn Reader, cue: &CueView) -> Result<Vec<FoundFile>, StoreError> {
    if !cue.outcome.is_answerable() || !is_here(reader, cue)? {
        return Ok(Vec::new());
    }
    let named = named_files(&cue.prompt).into_iter().enumerate();
    let found = named.filter_map(|(number, (path, kind))| {
        let (_, bytes) = open(Path::new(&cue.project_dir), &path, kind)?;
        Some(FoundFile {
            number,
            path: visible(&path).into_owned(),
            kind,
            bytes: bytes.len() as u64,
        })
    });
    Ok(found.collect())
}

/// Says whether a question's files can be on this machine. An agent that joined with a token may be anywhere; an
/// approval is shown as it is, without files beside it.
fn is_here(reader: &dyn Reader, cue: &CueView) -> Result<bool, StoreError> {
    Ok(cue.origin != Origin::Approval && reader.token_of_agent(&cue.agent_id)?.is_none())
}

/// Says whether a question names a file that would be shown with it.
pub(crate) fn names_files(prompt: &str) -> bool {
    !named_files(prompt).is_empty()
}

/// Finds the names of images and patches in a text, in its order, each once.
fn named_files(text: &str) -> Vec<(String, FileKind)> {
    let text = truncate::head(text, SEARCHED_BYTES_MAX);
    let mut found: Vec<(Range<usize>, String, FileKind)> = Vec::new();
    let mut add = |range: Range<usize>| {
        let name = text[range.clone()].trim().trim_start_matches("file://");
        let is_known = |known: &Range<usize>| known.start <= range.start && range.end <= known.end;
        if let Some(kind) = kind_of(name)
            && !found.iter().any(|(known, ..)| is_known(known))
        {
            found.push((range.clone(), name.to_owned(), kind));
        }
    };
    // Names with blanks are delimited by marks; all others by blanks and punctuation.
    for (open, close) in [("](<", ">)"), ("](", ")"), ("`", "`")] {
        let mut from = 0;
        while let Some(at) = text[from..].find(open).map(|at| from + at + open.len()) {
            let Some(length) = text[at..].find(close) else {
                break;
            };
            if !text[at..at + length].contains('\n') {
                add(at..at + length);
            }
            from = at;
        }
    }
    let is_between = |letter: char| {
        letter.is_whitespace() || "()[]<>\"'`,;|，。；：、！？（）【】《》「」“”".contains(letter)
    };
    let mut from = 0;
    for word in text.split(is_between) {
        let end = from + word.trim_end_matches(['.', ':', '!', '?', '*', '_']).len();
        add(from..end);
        from += word.len();
        from += text[from..].chars().next().map_or(0, char::len_utf8);
    }
    found.sort_by_key(|(range, ..)| range.start);
    let mut files: Vec<(String, FileKind)> = Vec::new();
    for (_, name, kind) in found {
        if files.len() < FILES_MAX && !files.iter().any(|(known, _)| *known == name) {
            files.push((name, kind));
        }
    }
    files
}

fn kind_of(name: &str) -> Option<FileKind> {
    if name.len() > PATH_BYTES_MAX || name.contains("://") || name.chars().any(char::is_control) {
        return None;
    }
    let (stem, ending) = name.rsplit_once('.')?;
    let ending = ending.to_ascii_lowercase();
    if stem.is_empty() {
        None
    } else if IMAGES.contains(&ending.as_str()) {
        Some(FileKind::Image)
    } else {
        PATCHES.contains(&ending.as_str()).then_some(FileKind::Patch)
    }
}

/// Opens and reads a file in a project, if it is one that can be shown.
fn open(project: &Path, named: &str, kind: FileKind) -> Option<(PathBuf, Vec<u8>)> {
    let bytes_max = match kind {
        FileKind::Image => IMAGE_BYTES_MAX,
        FileKind::Patch => PATCH_BYTES_MAX,
    };
    // The path may be resolved already, while the project is named through a link.
    let below = below(project, Path::new(named))
        .or_else(|| below(&project.canonicalize().ok()?, Path::new(named)))?;
    let file = open_below(project, &below)?;
    let about = file.metadata().ok()?;
    if !about.is_file() || about.len() == 0 || about.len() > bytes_max {
        return None;
    }
    let mut bytes = Vec::new();
    // It may grow while it is read.
    file.take(bytes_max + 1).read_to_end(&mut bytes).ok()?;
    let is_shown = bytes.len() as u64 <= bytes_max
        && match kind {
            FileKind::Image => is_shown(sniff(&bytes).media_type),
            FileKind::Patch => is_patch(&bytes),
        };
    is_shown.then_some((below, bytes))
}

/// Returns a path relative to a project, by its text alone; `None` if it leaves the project.
fn below(project: &Path, named: &Path) -> Option<PathBuf> {
    if !project.is_absolute() || project.parent().is_none() {
        return None;
    }
    let relative = if named.is_absolute() {
        named.strip_prefix(project).ok()?
    } else {
        named
    };
    let mut below = PathBuf::new();
    for part in relative.components() {
        match part {
            Component::Normal(part) => below.push(part),
            Component::CurDir => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    (!below.as_os_str().is_empty()).then_some(below)
}

/// Opens a file below a project, part by part, so that no symbolic link leads out of it, even if the files change
/// meanwhile.
fn open_below(project: &Path, below: &Path) -> Option<File> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    // The project itself is where the agent said it works; a link there was chosen by the user.
    let mut place = rustix::fs::open(
        project,
        OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC,
        Mode::empty(),
    )
    .ok()?;
    let mut parts = below.components().peekable();
    while let Some(part) = parts.next() {
        let flags = if parts.peek().is_some() {
            flags | OFlags::DIRECTORY
        } else {
            flags
        };
        place = rustix::fs::openat(&place, part.as_os_str(), flags, Mode::empty()).ok()?;
    }
    Some(File::from(place))
}

/// Says whether a text is a patch: it has the head of a file and of a hunk.
fn is_patch(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return false;
    };
    let has = |beginning: &str| text.lines().any(|line| line.starts_with(beginning));
    has("--- ") && has("+++ ") && has("@@ -")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_found_where_a_question_names_them() {
        let named =
            |text: &str| -> Vec<String> { named_files(text).into_iter().map(|(name, _)| name).collect() };
        assert_eq!(
            named(
                "See ![shot](docs/a b.png), `out/c.webp` and /p/d.JPG. Also 图e.gif，and change.patch: ok?"
            ),
            [
                "docs/a b.png",
                "out/c.webp",
                "/p/d.JPG",
                "图e.gif",
                "change.patch"
            ]
        );
        assert_eq!(named("file:///p/x.png x.png x.png"), ["/p/x.png", "x.png"]);
        assert!(named("https://t.test/x.png .png x.svg x.html x.png\u{0}y a.pngx").is_empty());
        let many: String = (0..40).map(|number| format!("{number}.png ")).collect();
        assert_eq!(named(&many).len(), FILES_MAX);
    }

    #[test]
    fn no_path_leaves_the_project() {
        let project = Path::new("/home/me/shop");
        for (named, inside) in [
            ("a.png", Some("a.png")),
            ("./x/a.png", Some("x/a.png")),
            ("/home/me/shop/a.png", Some("a.png")),
            ("/home/me/shop2/a.png", None),
            ("/etc/a.png", None),
            ("../a.png", None),
            ("x/../../a.png", None),
            ("/home/me/shop/../a.png", None),
            (".", None),
        ] {
            assert_eq!(
                below(project, Path::new(named)),
                inside.map(PathBuf::from),
                "{named}"
            );
        }
        for project in ["/", "relative", ""] {
            assert_eq!(below(Path::new(project), Path::new("a.png")), None, "{project}");
        }
    }

    #[test]
    fn links_sockets_and_what_only_looks_like_an_image_are_not_opened() {
        let home = tempfile::tempdir().unwrap();
        let project = home.path().join("project");
        std::fs::create_dir_all(project.join("sub")).unwrap();
        let png = b"\x89PNG\r\n\x1a\n----";
        std::fs::write(project.join("a.png"), png).unwrap();
        std::fs::write(project.join("sub/b.png"), png).unwrap();
        std::fs::write(home.path().join("out.png"), png).unwrap();
        std::fs::write(project.join("svg.png"), "<svg onload='x'/>").unwrap();
        std::fs::write(project.join("empty.png"), "").unwrap();
        std::os::unix::fs::symlink(home.path().join("out.png"), project.join("link.png")).unwrap();
        std::os::unix::fs::symlink(home.path(), project.join("linked")).unwrap();
        std::os::unix::fs::symlink(project.join("a.png"), project.join("inside.png")).unwrap();
        std::fs::create_dir(project.join("folder.png")).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(project.join("socket.png")).unwrap();
        let large = File::create(project.join("large.png")).unwrap();
        large.set_len(IMAGE_BYTES_MAX + 1).unwrap();
        let opens = |name: &str| open(&project, name, FileKind::Image).is_some();
        assert!(opens("a.png") && opens("sub/b.png") && opens(&project.join("a.png").display().to_string()));
        for name in [
            "svg.png",
            "empty.png",
            "link.png",
            "linked/out.png",
            "inside.png",
            "folder.png",
            "socket.png",
            "large.png",
            "none.png",
            "../out.png",
        ] {
            assert!(!opens(name), "{name}");
        }
    }

    #[test]
    fn only_a_patch_is_opened_as_one() {
        assert!(is_patch(
            b"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"
        ));
        assert!(!is_patch(b"password=hunter2\n") && !is_patch(b"\xff\xfe--- \n+++ \n@@ -"));
    }
}
