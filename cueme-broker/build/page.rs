//! Makes what the broker serves of the page out of its sources.
//!
//! All that the first look at the inbox needs is in the document: styles, script, and a place where the broker writes the
//! state. What is opened later are scripts of their own, which carry a digest of themselves in their names and are kept for
//! good.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fs, io};

use sha2::{Digest, Sha256};
use thiserror::Error;

use crate::document::{Document, DocumentError};
use crate::link::{LinkError, link};
use crate::shrink::shrink_style;

/// The module that begins everything.
const ROOT: &str = "js/main.js";
/// The script that runs before anything is painted.
const EARLY: &str = "js/early.js";
/// Types alone, for the checker.
const TYPES: &str = "js/types.js";
/// The lines of the service worker that are written here.
const WORKER_CACHE: &str = "const SHELL = \"cueme-shell\";";
const WORKER_FILES: &str = "const FILES = [\"/\"];";

/// The page, ready to be served.
#[derive(Debug)]
pub(crate) struct Page {
    /// All of them, also the document.
    pub(crate) files: Vec<File>,
    pub(crate) document: Document,
}

/// A file of the page.
#[derive(Debug)]
pub(crate) struct File {
    /// Where it is served.
    pub(crate) path: String,
    pub(crate) bytes: Vec<u8>,
    /// Whether its name changes with it.
    pub(crate) is_named_by_digest: bool,
}

/// Why there is no page.
#[derive(Debug, Error)]
pub(crate) enum PageError {
    #[error("could not read {}: {source}", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error(transparent)]
    Link(#[from] LinkError),
    #[error("sw.js has no line `{line}`, which the build writes anew")]
    NoSuchLine { line: &'static str },
    #[error(transparent)]
    Document(#[from] DocumentError),
}

/// Makes a script smaller, or says why it is none.
type Minify = fn(&str) -> Result<String, String>;

/// Makes the page out of the sources in `ui`.
pub(crate) fn assemble(ui: &Path, minify: Minify) -> Result<Page, PageError> {
    let script_of = |name: &str, source: &str| {
        minify(source).map_err(|reason| LinkError::NoScript {
            name: name.to_owned(),
            reason,
        })
    };
    let sources = Sources { ui };
    let mut modules = sources.below("js")?;
    modules.remove(TYPES);
    let early = modules.remove(EARLY).unwrap_or_default();
    let mut files = Vec::new();
    let root = link(ROOT, &modules, |name, part| {
        let part = named_by_digest(name, script_of(name, &part)?);
        let path = part.path.clone();
        files.push(part);
        Ok(path)
    })?;
    let (root, early) = (script_of(ROOT, &root)?, script_of(EARLY, &early)?);
    let styles = sources.below("css")?;
    let document = Document::write(&sources.text("index.html")?, |name| match name {
        ROOT => Some(root.clone()),
        EARLY => Some(early.clone()),
        name => styles.get(name).map(|style| shrink_style(style)),
    })?;
    files.push(file("/", document.text.clone()));
    for name in sources.names("icons")? {
        files.push(file(&format!("/{name}"), sources.bytes(&name)?));
    }
    files.push(file(
        "/manifest.webmanifest",
        sources.bytes("manifest.webmanifest")?,
    ));
    let worker = worker_of(&sources.text("sw.js")?, &files)?;
    files.push(file("/sw.js", script_of("sw.js", &worker)?));
    Ok(Page { files, document })
}

/// Returns enough of a digest to tell any two versions of a file apart.
pub(crate) fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes)
        .iter()
        .take(10)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

fn file(path: &str, bytes: impl Into<Vec<u8>>) -> File {
    File {
        path: path.to_owned(),
        bytes: bytes.into(),
        is_named_by_digest: false,
    }
}

fn named_by_digest(name: &str, script: String) -> File {
    File {
        path: format!("/js/{name}-{}.js", digest(script.as_bytes())),
        bytes: script.into_bytes(),
        is_named_by_digest: true,
    }
}

/// Tells the service worker what to keep. Its cache is named after all of it, so that a new page is kept whole beside the old.
fn worker_of(source: &str, files: &[File]) -> Result<String, PageError> {
    for line in [WORKER_CACHE, WORKER_FILES] {
        if !source.lines().any(|written| written == line) {
            return Err(PageError::NoSuchLine { line });
        }
    }
    let everything: Vec<u8> = files.iter().flat_map(|file| file.bytes.clone()).collect();
    let paths: Vec<_> = files.iter().map(|file| format!("{:?}", file.path)).collect();
    let cache = format!("const SHELL = \"cueme-shell-{}\";", digest(&everything));
    let paths = format!("const FILES = [{}];", paths.join(", "));
    Ok(source.replace(WORKER_CACHE, &cache).replace(WORKER_FILES, &paths))
}

/// The directory of sources. Paths are told from there.
struct Sources<'a> {
    ui: &'a Path,
}

impl Sources<'_> {
    fn bytes(&self, name: &str) -> Result<Vec<u8>, PageError> {
        let path = self.ui.join(name);
        fs::read(&path).map_err(|source| PageError::Read { path, source })
    }

    fn text(&self, name: &str) -> Result<String, PageError> {
        let path = self.ui.join(name);
        fs::read_to_string(&path).map_err(|source| PageError::Read { path, source })
    }

    /// Returns the files below a directory.
    fn names(&self, directory: &str) -> Result<Vec<String>, PageError> {
        let path = self.ui.join(directory);
        let read = |source| PageError::Read {
            path: path.clone(),
            source,
        };
        let mut names = Vec::new();
        for entry in fs::read_dir(&path).map_err(read)? {
            let entry = entry.map_err(read)?;
            let name = format!("{directory}/{}", entry.file_name().to_string_lossy());
            if entry.path().is_dir() {
                names.extend(self.names(&name)?);
            } else {
                names.push(name);
            }
        }
        names.sort();
        Ok(names)
    }

    /// Returns the texts below a directory by their names.
    fn below(&self, directory: &str) -> Result<BTreeMap<String, String>, PageError> {
        let names = self.names(directory)?;
        names
            .into_iter()
            .map(|name| self.text(&name).map(|text| (name, text)))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ui() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("ui")
    }

    fn page() -> Page {
        assemble(&ui(), |script| Ok(script.to_owned())).unwrap()
    }

    fn text(page: &Page, is_it: impl Fn(&str) -> bool) -> String {
        let file = page.files.iter().find(|file| is_it(&file.path)).unwrap();
        String::from_utf8(file.bytes.clone()).unwrap()
    }

    #[test]
    fn the_document_names_neither_styles_nor_scripts_to_ask_for() {
        let document = text(&page(), |path| path == "/");
        assert_eq!(document.matches("stylesheet").count(), 0);
        assert_eq!(document.matches(" src=").count(), 0);
    }

    #[test]
    fn all_that_the_first_look_imports_is_in_the_one_script_of_the_document() {
        let page = page();
        let ui = ui();
        let sources = Sources { ui: &ui };
        let script = text(&page, |path| path == "/");
        let modules = sources.below("js").unwrap();
        let mut ahead = vec![ROOT.to_owned()];
        let mut seen = 0;
        // Not by the linker's own reading: by what a browser would follow.
        while let Some(path) = ahead.pop() {
            let key = path.strip_prefix("js/").unwrap().strip_suffix(".js").unwrap();
            assert!(
                script.contains(&format!("\n\"{key}\":(()=>{{\n")),
                "{path} is not in it"
            );
            seen += 1;
            let imports = modules[&path].lines().filter(|line| line.starts_with("import "));
            for wanted in imports.map(|line| line.split('"').nth(1).unwrap()) {
                let wanted = ui
                    .join(&path)
                    .parent()
                    .unwrap()
                    .join(wanted)
                    .canonicalize()
                    .unwrap();
                let wanted = wanted.strip_prefix(ui.canonicalize().unwrap()).unwrap();
                ahead.push(wanted.to_str().unwrap().to_owned());
            }
        }
        assert!(seen > 30, "followed only {seen} imports");
    }

    #[test]
    fn every_style_sheet_and_module_is_in_what_is_served() {
        let page = page();
        let ui = ui();
        let sources = Sources { ui: &ui };
        let document = text(&page, |path| path == "/");
        for (name, source) in sources.below("css").unwrap() {
            assert!(document.contains(&shrink_style(&source)), "{name} is not served");
        }
        let scripts = page.files.iter().filter(|file| file.path.starts_with("/js/"));
        let scripts: String = scripts
            .map(|file| std::str::from_utf8(&file.bytes).unwrap())
            .chain([document.as_str()])
            .collect();
        for name in sources.names("js").unwrap() {
            let key = name.strip_prefix("js/").unwrap().strip_suffix(".js").unwrap();
            let is_module = name != TYPES && name != EARLY;
            assert_eq!(
                scripts.contains(&format!("\n\"{key}\":(()=>{{\n")),
                is_module,
                "{name}"
            );
        }
    }

    #[test]
    fn the_worker_keeps_every_file_but_itself() {
        let page = page();
        let worker = text(&page, |path| path == "/sw.js");
        for file in page.files.iter().filter(|file| file.path != "/sw.js") {
            assert!(worker.contains(&format!("\"{}\"", file.path)), "{}", file.path);
        }
        assert!(!worker.contains("\"/sw.js\""));
    }
}
