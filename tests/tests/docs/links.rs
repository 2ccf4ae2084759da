//! Relative links lead to files that exist, and their anchors to headings.

use std::fs;
use std::path::{Path, PathBuf};

use crate::markdown::{anchors, documents, lines, root};

/// Returns what is wrong with the links of one document.
fn broken_links(path: &Path, text: &str) -> Vec<String> {
    let mut broken = Vec::new();
    for line in lines(text).iter().filter(|line| line.fence.is_none()) {
        for target in targets(line.text) {
            if let Err(why) = follow(path, text, target) {
                broken.push(format!("{}:{}: {target}: {why}", path.display(), line.number));
            }
        }
    }
    broken
}

/// Returns the targets of the links in a line. A target in a code span is no link.
fn targets(line: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = line;
    while let Some((before, after)) = rest.split_once("](") {
        let Some((target, behind)) = after.split_once(')') else {
            break;
        };
        // A link's text may be code, a link inside of code is none: its backticks do not pair up before it.
        let opens_code = before.matches('`').count() % 2 == 1;
        if !opens_code {
            found.push(target);
        }
        rest = behind;
    }
    found
}

fn follow(path: &Path, text: &str, target: &str) -> Result<(), String> {
    if target.contains("://") || target.starts_with("mailto:") {
        return Ok(());
    }
    let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
    let linked = path.parent().unwrap().join(file);
    if !file.is_empty() && !linked.exists() {
        return Err("there is no such file".to_owned());
    }
    if anchor.is_empty() {
        return Ok(());
    }
    let anchors = if file.is_empty() {
        anchors(text)
    } else {
        anchors(&fs::read_to_string(&linked).map_err(|error| error.to_string())?)
    };
    if anchors.iter().any(|known| known == anchor) {
        Ok(())
    } else {
        Err(format!("there is no such heading among {anchors:?}"))
    }
}

#[test]
fn every_relative_link_and_anchor_leads_somewhere() {
    let broken: Vec<String> = documents()
        .iter()
        .flat_map(|(path, text)| broken_links(path, text))
        .collect();
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

/// Returns the source files that a document names in code spans, each with its folder.
fn named_sources(text: &str) -> impl Iterator<Item = &str> {
    let spans = text.lines().flat_map(|line| line.split('`').skip(1).step_by(2));
    spans.filter(|span| span.ends_with(".rs") && span.contains('/') && !span.contains(['*', '{', ' ', '<']))
}

fn collect_sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        if path.is_dir()
            && !["target", "node_modules", ".git"]
                .iter()
                .any(|skipped| name == *skipped)
        {
            collect_sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn every_source_file_that_a_page_names_exists() {
    let mut sources = Vec::new();
    collect_sources(&root(), &mut sources);
    // A page may leave out the folders that its reader knows already.
    let exists = |named: &str| sources.iter().any(|source| source.ends_with(named));
    let missing: Vec<String> = documents()
        .iter()
        .flat_map(|(path, text)| named_sources(text).map(move |named| (path, named)))
        .filter(|(_, named)| !exists(named))
        .map(|(path, named)| format!("{}: {named}", path.display()))
        .collect();
    assert!(missing.is_empty(), "{}", missing.join("\n"));
    assert_eq!(
        named_sources("see `a/b.rs`, `c.rs` and `d/*.rs`").collect::<Vec<_>>(),
        ["a/b.rs"]
    );
}

#[test]
fn a_broken_link_and_a_broken_anchor_are_found() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("page.md");
    fs::write(directory.path().join("other.md"), "# A `cueme` title: one\n").unwrap();
    let of = |text: &str| broken_links(&path, text).len();
    assert_eq!(
        of("[a](other.md) [`b`](other.md#a-cueme-title-one) [c](https://x.y/z)"),
        0
    );
    assert_eq!(of("# Here\n[a](#here)"), 0);
    assert_eq!(of("[a](missing.md) [b](other.md#no) [c](#no)"), 3);
    assert_eq!(of("`[a](missing.md)`\n```sh\n[a](missing.md)\n```"), 0);
}

#[test]
fn the_readme_stays_a_front_door() {
    let (_, readme) = documents().into_iter().next().unwrap();
    assert!(readme.lines().count() <= 150, "{} lines", readme.lines().count());
}
