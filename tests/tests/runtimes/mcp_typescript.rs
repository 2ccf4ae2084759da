//! `cueme mcp` with the official TypeScript SDK as its client.
//!
//! The SDK is installed by npm into a folder under the target folder. Where that is impossible (no npm, no network) the
//! test says that it did not run.

use std::path::{Path, PathBuf};
use std::process::Command;

use cueme_tests::Home;

use crate::mcp::run_mcp_client;

/// The SDK, at the generation that this test speaks.
const SDK: &str = "@modelcontextprotocol/sdk@^1.25";

#[test]
fn the_official_typescript_sdk_runs_the_four_tools() {
    let Some(sdk) = folder_with_sdk() else {
        return cueme_tests::not_run_without("the TypeScript SDK (npm)");
    };
    let home = Home::created();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("typescript/mcp_client.mjs");
    run_mcp_client(&home, Command::new("node").arg(script).arg(sdk));
}

/// Returns a folder in which the SDK is installed, installing it once.
fn folder_with_sdk() -> Option<PathBuf> {
    let test = std::env::current_exe().ok()?;
    let folder = test.ancestors().nth(3)?.join("typescript-mcp");
    if folder
        .join("node_modules/@modelcontextprotocol/sdk/package.json")
        .exists()
    {
        return Some(folder);
    }
    std::fs::create_dir_all(&folder).ok()?;
    std::fs::write(folder.join("package.json"), "{\"private\":true}\n").ok()?;
    let installed = Command::new("npm")
        .args(["install", "--no-audit", "--no-fund", "--ignore-scripts", SDK])
        .current_dir(&folder)
        .output();
    installed
        .is_ok_and(|output| output.status.success())
        .then_some(folder)
}
