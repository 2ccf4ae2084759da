//! The changelog has the form of *Keep a Changelog*: releases with dates, newest first, below at most one section of unreleased changes.

use std::collections::BTreeSet;
use std::fs;

use crate::markdown::root;

const UNRELEASED: &str = "[Unreleased]";
/// The headings that a version may have, in their order.
const KINDS: [&str; 6] = ["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"];

/// Returns what is wrong with a changelog, of which this version is the next or the latest.
fn faults(text: &str, version: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let mut dates: Vec<&str> = Vec::new();
    let mut seen = BTreeSet::new();
    for (index, section) in text.split("\n## ").skip(1).enumerate() {
        let heading = section.lines().next().unwrap_or_default();
        match heading.split_once(" - ") {
            None if heading == UNRELEASED && index == 0 => {}
            Some((name, date)) if is_version(name) && is_date(date) => dates.push(date),
            _ => faults.push(format!(
                "{heading:?} is neither {UNRELEASED} on top nor [X.Y.Z] - YYYY-MM-DD"
            )),
        }
        if !seen.insert(heading.split(" - ").next().unwrap_or_default()) {
            faults.push(format!("{heading:?} is there twice"));
        }
        let kinds: Vec<&str> = section
            .lines()
            .filter_map(|line| line.strip_prefix("### "))
            .collect();
        let places: Vec<_> = kinds
            .iter()
            .map(|kind| KINDS.iter().position(|known| known == kind))
            .collect();
        if kinds.is_empty() || places.contains(&None) || !places.is_sorted_by(|one, next| one < next) {
            faults.push(format!(
                "{heading:?} has {kinds:?}: each of {KINDS:?} at most once, in this order"
            ));
        }
    }
    if !dates.is_sorted_by(|newer, older| newer >= older) {
        faults.push(format!("the newest version is not the first: {dates:?}"));
    }
    if !seen.contains(UNRELEASED) && !seen.contains(format!("[{version}]").as_str()) {
        faults.push(format!("{version} is missing"));
    }
    faults
}

fn is_version(name: &str) -> bool {
    let numbers = name.strip_prefix('[').and_then(|name| name.strip_suffix(']'));
    numbers.is_some_and(|numbers| {
        let numbers: Vec<_> = numbers.split('.').map(str::parse::<u32>).collect();
        numbers.len() == 3 && numbers.iter().all(Result::is_ok)
    })
}

fn is_date(date: &str) -> bool {
    let places: String = date
        .chars()
        .map(|letter| if letter.is_ascii_digit() { '0' } else { letter })
        .collect();
    places == "0000-00-00"
}

#[test]
fn the_changelog_has_the_usual_form() {
    let text = fs::read_to_string(root().join("CHANGELOG.md")).unwrap();
    let found = faults(&text, env!("CARGO_PKG_VERSION"));
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn a_changelog_of_another_form_is_found() {
    let of = |text: &str| faults(text, "1.1.0").len();
    let right =
        "# Changelog\n\n## [Unreleased]\n\n### Added\n\n## [1.0.0] - 2026-11-20\n\n### Added\n\n### Fixed\n";
    assert_eq!(of(right), 0);
    assert_eq!(of(&right.replace("[Unreleased]", "[1.1.0] - 2026-11-21")), 0);
    for (part, wrong) in [
        ("[Unreleased]", "[1.1.0] - unreleased"),
        ("[Unreleased]", "[1.1.0]"),
        ("[Unreleased]", "[1.1.0] - 2026-11-19"),
        ("[Unreleased]", "[1.0.1] - 2026-11-21"),
        ("[1.0.0] - 2026-11-20", "[Unreleased]"),
        ("### Fixed", "### Added"),
        ("### Fixed", "### Mended"),
    ] {
        assert!(of(&right.replace(part, wrong)) > 0, "{wrong}");
    }
}
