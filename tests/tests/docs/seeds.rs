//! Tables that name tests: every row of the adapters' contract and of the faults that were found names what guards it, and every
//! test that a table names exists.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

const TABLE: &str = "adapter-core/SEEDS.md";
const FAULTS: &str = "tests/prove/failed-first.md";
/// The folders that hold tests.
const SOURCES: [&str; 5] = ["adapter-core", "cueme", "cueme-broker", "protocol-spec", "tests"];

#[test]
fn every_test_that_the_table_of_the_contract_names_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let table = fs::read_to_string(root.join(TABLE)).unwrap();
    let mut known = BTreeSet::new();
    for folder in SOURCES {
        collect_tests(&root.join(folder), &mut known);
    }
    let rows = table
        .lines()
        .filter(|line| line.starts_with("| ") && *line != "| Sentence | Tests |");
    let mut count = 0;
    for row in rows {
        let tests = row.trim_end_matches(" |").rsplit(" | ").next().unwrap();
        let named: Vec<&str> = tests.split('`').skip(1).step_by(2).collect();
        assert!(
            !named.is_empty() || tests.starts_with("none: "),
            "neither a test nor a reason: {row}"
        );
        if tests.starts_with("none: ") {
            continue;
        }
        count += 1;
        for name in named {
            assert!(known.contains(name), "no test {name}, which is named in: {row}");
        }
    }
    assert!(count > 80, "only {count} rows were found");
}

#[test]
fn every_fault_that_was_found_names_what_guards_it() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut known = BTreeSet::new();
    for folder in SOURCES {
        collect_tests(&root.join(folder), &mut known);
    }
    let faults = fs::read_to_string(root.join(FAULTS)).unwrap();
    let proofs = fs::read_to_string(root.join("tests/src/bin/prove/proofs.rs")).unwrap();
    let benchmarks = fs::read_to_string(root.join("tests/BENCHMARKS.md")).unwrap();
    let is_proof = |name: &str| proofs.contains(&format!("\"{}\"", name.to_lowercase()));
    let is_benchmark = |name: &str| benchmarks.contains(&format!("\n| {name} | "));
    let rows = faults
        .lines()
        .filter(|line| line.starts_with("| ") && !line.starts_with("| found by |"));
    let mut count = 0;
    for row in rows {
        count += 1;
        let guards = row.trim_end_matches(" |").rsplit(" | ").next().unwrap();
        let spans = guards.split('`').skip(1).step_by(2);
        for name in spans.filter(|span| !span.contains('/')) {
            assert!(known.contains(name), "no test {name}, which is named in: {row}");
        }
        let outside = guards
            .split('`')
            .step_by(2)
            .flat_map(|text| text.split([' ', ',', ';', ':']));
        for name in outside.filter(|word| !word.is_empty()) {
            assert!(
                is_proof(name) || is_benchmark(name),
                "{name} is neither a proof nor a benchmark: {row}"
            );
        }
    }
    assert!(count > 50, "only {count} rows were found");
    let figures = fs::read_to_string(root.join("tests/FIGURES.md")).unwrap();
    assert!(figures.ends_with(&faults), "tests/FIGURES.md has other faults");
}

/// Collects the names of the functions that `#[test]`, `#[tokio::test]` or a list of `on_every_store!` marks.
fn collect_tests(folder: &Path, known: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        let name = entry.file_name();
        if path.is_dir() && name != "target" && name != "node_modules" {
            collect_tests(&path, known);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            known.extend(tests_of(&fs::read_to_string(&path).unwrap_or_default()));
        }
    }
}

fn tests_of(source: &str) -> Vec<String> {
    let mut found = Vec::new();
    let (mut is_marked, mut is_in_list) = (false, false);
    for line in source.lines().map(str::trim) {
        if line == "on_every_store!(" {
            is_in_list = true;
        } else if is_in_list {
            is_in_list = line != ");";
            found.extend(Some(line.trim_end_matches(',').to_owned()).filter(|_| is_in_list));
        } else if line.starts_with("#[test]") || line.starts_with("#[tokio::test") {
            is_marked = true;
        } else if let Some(rest) = line
            .strip_prefix("fn ")
            .or_else(|| line.strip_prefix("async fn "))
        {
            if is_marked {
                found.extend(rest.split_once('(').map(|(name, _)| name.to_owned()));
            }
            is_marked = false;
        }
    }
    found
}
