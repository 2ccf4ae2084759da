//! `cueme mcp` with the official Python SDK as its client.
//!
//! The SDK is installed into a virtual environment under the target folder.

use std::path::Path;
use std::process::Command;

use cueme_tests::Home;

use crate::mcp::run_mcp_client;

#[test]
fn the_official_python_sdk_runs_the_four_tools() {
    let Some(python) = cueme_tests::python_with("mcp", "mcp>=2,<3") else {
        return cueme_tests::not_run_without("the Python SDK (pip)");
    };
    let home = Home::created();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("python/mcp_client.py");
    run_mcp_client(&home, Command::new(python).arg(script));
}
