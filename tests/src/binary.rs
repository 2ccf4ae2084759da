//! The program under test, as cargo builds it.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// Names a binary to be tested instead of the one of this workspace.
const VARIABLE: &str = "CUEME_BIN";

/// Returns the `cueme` binary of the profile these tests were built with, building it first.
///
/// # Panics
///
/// Panics when it cannot be built.
pub fn cueme() -> &'static Path {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| match std::env::var_os(VARIABLE) {
        Some(path) => PathBuf::from(path),
        None => build(),
    })
}

/// Asks cargo every time: it is quick when nothing changed, and a stale binary would prove nothing.
fn build() -> PathBuf {
    let directory = profile_directory();
    let name = directory.file_name().and_then(|name| name.to_str());
    let profile = match name {
        None | Some("debug") => "dev",
        Some(profile) => profile,
    };
    let status = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--package", "cueme", "--bin", "cueme"])
        .args(["--profile", profile, "--target-dir"])
        .arg(directory.parent().unwrap_or(&directory))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .status()
        .unwrap_or_else(|error| panic!("could not run cargo: {error}"));
    assert!(status.success(), "cargo could not build cueme");
    directory.join("cueme")
}

/// Test executables lie in `target/<profile>/deps`.
fn profile_directory() -> PathBuf {
    let executable = std::env::current_exe().unwrap_or_else(|error| panic!("no executable: {error}"));
    let deps = executable.parent().unwrap_or(&executable);
    deps.parent().unwrap_or(deps).to_owned()
}
