//! `cueme mcp` with the official Python SDK as its client.
//!
//! The SDK is installed into a virtual environment under the target folder.

use std::path::Path;
use std::process::Command;

use crate::support::Home;

#[test]
fn the_official_python_sdk_runs_the_four_tools() {
    let Some(python) = cueme_tests::python_with("mcp", "mcp>=2,<3") else {
        return cueme_tests::not_run_without("the Python SDK (pip)");
    };
    let home = Home::new();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("python/mcp_client.py");
    home.run_mcp_client(Command::new(python).arg(script));
}
