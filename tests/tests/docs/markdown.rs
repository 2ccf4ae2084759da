//! Reads the Markdown files of the repository, as far as these tests need to.

use std::fs;
use std::path::{Path, PathBuf};

/// Directories in which every Markdown file is documentation.
const DIRECTORIES: [&str; 2] = ["cueme/docs", "protocol-spec"];
/// Documentation elsewhere.
const FILES: [&str; 11] = [
    "README.md",
    "SECURITY.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "tests/MACOS.md",
    "tests/FIGURES.md",
    "tests/BENCHMARKS.md",
    "tests/prove/failed-first.md",
    "adapter-core/SEEDS.md",
    "adapter-core/runtimes/CHECKED.md",
    "cueme-broker/src/web/API.md",
];

/// A line of a file, and whether it is code.
pub(crate) struct Line<'a> {
    pub(crate) number: usize,
    pub(crate) text: &'a str,
    /// The language of the fenced block it stands in.
    pub(crate) fence: Option<&'a str>,
}

/// Returns the root of the repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// Returns every file of the documentation, with its text.
pub(crate) fn documents() -> Vec<(PathBuf, String)> {
    let root = root();
    let mut paths: Vec<PathBuf> = FILES.iter().map(|file| root.join(file)).collect();
    for directory in DIRECTORIES {
        let entries = fs::read_dir(root.join(directory)).unwrap();
        let files = entries.map(|entry| entry.unwrap().path());
        paths.extend(files.filter(|path| path.extension().is_some_and(|extension| extension == "md")));
    }
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        (path, text)
    };
    paths.into_iter().map(read).collect()
}

/// Splits a text into lines; those that open or close a fence are left out.
pub(crate) fn lines(text: &str) -> Vec<Line<'_>> {
    let mut fence = None;
    let mut lines = Vec::new();
    for (index, text) in text.lines().enumerate() {
        match (text.trim_start().strip_prefix("```"), fence) {
            (Some(_), Some(_)) => fence = None,
            (Some(language), None) => fence = Some(language.trim()),
            (None, _) => lines.push(Line {
                number: index + 1,
                text,
                fence,
            }),
        }
    }
    lines
}

/// Returns the anchors of a text, as GitHub derives them from its headings.
pub(crate) fn anchors(text: &str) -> Vec<String> {
    let mut anchors: Vec<String> = Vec::new();
    for line in lines(text).iter().filter(|line| line.fence.is_none()) {
        let title = line.text.trim_start_matches('#');
        if title.len() == line.text.len() || !title.starts_with(' ') {
            continue;
        }
        let slug = slug(title.trim());
        let earlier = anchors.iter().filter(|anchor| **anchor == slug).count();
        anchors.push(slug.clone());
        if earlier > 0 {
            anchors.push(format!("{slug}-{earlier}"));
        }
    }
    anchors
}

fn slug(title: &str) -> String {
    let is_kept = |letter: &char| letter.is_alphanumeric() || matches!(letter, ' ' | '-' | '_');
    let lower = title.to_lowercase();
    lower
        .chars()
        .filter(is_kept)
        .map(|letter| if letter == ' ' { '-' } else { letter })
        .collect()
}
