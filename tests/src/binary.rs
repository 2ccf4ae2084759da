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
    let executable = std::env::current_exe().unwrap_or_else(|error| panic!("no executable: {error}"));
    let Built { target, profile } = Built::of(&executable);
    let status = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--package", "cueme", "--bin", "cueme"])
        .args(["--profile", profile_name(profile), "--target-dir"])
        .arg(target)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .status()
        .unwrap_or_else(|error| panic!("could not run cargo: {error}"));
    assert!(status.success(), "cargo could not build cueme");
    target.join(profile).join("cueme")
}

/// The place of a program that cargo has built.
#[derive(Debug, PartialEq, Eq)]
struct Built<'a> {
    /// The directory of all profiles.
    target: &'a Path,
    /// The directory of the program's profile in it.
    profile: &'a str,
}

impl<'a> Built<'a> {
    /// Finds it by the place of an executable: programs lie in `target/<profile>`, tests in `deps` below it.
    fn of(executable: &'a Path) -> Self {
        let folder = executable.parent().unwrap_or(executable);
        let directory = match folder.file_name().and_then(|name| name.to_str()) {
            Some("deps" | "examples") => folder.parent().unwrap_or(folder),
            _ => folder,
        };
        Self {
            target: directory.parent().unwrap_or(directory),
            profile: directory
                .file_name()
                .and_then(|name| name.to_str())
                .unwrap_or("debug"),
        }
    }
}

/// Returns cargo's name for the profile with this directory; only one is called otherwise than it.
fn profile_name(directory: &str) -> &str {
    if directory == "debug" { "dev" } else { directory }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_profile_is_found_for_programs_and_for_tests() {
        for (executable, target, profile, name) in [
            ("/w/target/release/prove", "/w/target", "release", "release"),
            ("/w/target/debug/prove", "/w/target", "debug", "dev"),
            ("/w/target/debug/deps/wire-0123", "/w/target", "debug", "dev"),
            (
                "/w/target/release/deps/page-0123",
                "/w/target",
                "release",
                "release",
            ),
            ("/w/target/dist/examples/x", "/w/target", "dist", "dist"),
            (
                "/w/target/arch/release/prove",
                "/w/target/arch",
                "release",
                "release",
            ),
        ] {
            let built = Built::of(Path::new(executable));
            let expected = Built {
                target: Path::new(target),
                profile,
            };
            assert_eq!(built, expected, "{executable}");
            assert_eq!(profile_name(built.profile), name);
        }
    }
}
