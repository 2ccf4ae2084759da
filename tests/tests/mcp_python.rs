//! `cueme mcp` with the official Python SDK as its client.
//!
//! The SDK is installed into a virtual environment under the target folder. Where that is impossible (no Python, no
//! network) the test says that it did not run.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail their test")]

mod support;

use std::path::{Path, PathBuf};
use std::process::Command;

use support::{Home, binary};

#[test]
fn the_official_python_sdk_runs_the_four_tools() {
    let Some(python) = python_with_sdk() else {
        println!("not run: the Python SDK `mcp` could not be installed here");
        return;
    };
    let home = Home::new();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("python/mcp_client.py");
    let output = Command::new(python)
        .arg(script)
        .arg(binary())
        .env("CUEME_HOME", home.path())
        .env("NO_COLOR", "1")
        .env_remove("CUEME_WAIT")
        .env_remove("CUEME_SESSION")
        .output()
        .unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && stdout.ends_with("ok\n"),
        "{stdout}\n{stderr}"
    );
    println!("{stdout}");
}

/// Returns a Python that has the SDK, installing it once.
fn python_with_sdk() -> Option<PathBuf> {
    let test = std::env::current_exe().ok()?;
    let target = test.ancestors().nth(3)?;
    let environment = target.join("python-mcp/venv");
    let python = environment.join("bin/python");
    let succeeds = |command: &mut Command| command.output().is_ok_and(|output| output.status.success());
    if succeeds(Command::new(&python).args(["-c", "import mcp"])) {
        return Some(python);
    }
    let made = succeeds(Command::new("python3").arg("-m").arg("venv").arg(&environment))
        && succeeds(Command::new(&python).args(["-m", "pip", "install", "--quiet", "mcp>=2,<3"]));
    made.then_some(python)
}
