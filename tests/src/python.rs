//! Programs from PyPI, in environments of their own.

use std::path::PathBuf;
use std::process::Command;

/// Returns a Python that has a package, installing it once under the target folder; nothing where that is impossible.
pub fn python_with(module: &str, requirement: &str) -> Option<PathBuf> {
    let test = std::env::current_exe().ok()?;
    let environment = test.ancestors().nth(3)?.join(format!("python-{module}/venv"));
    let python = environment.join("bin/python");
    let succeeds = |command: &mut Command| command.output().is_ok_and(|output| output.status.success());
    let has_package =
        |python: &PathBuf| succeeds(Command::new(python).args(["-c", &format!("import {module}")]));
    if has_package(&python) {
        return Some(python);
    }
    let is_made = succeeds(Command::new("python3").arg("-m").arg("venv").arg(&environment))
        && succeeds(Command::new(&python).args(["-m", "pip", "install", "--quiet", requirement]))
        && has_package(&python);
    is_made.then_some(python)
}
