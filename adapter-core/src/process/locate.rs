//! Finds the CLI, under either of its names.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// The names the CLI is installed under, the current one first.
pub const CLI_NAMES: [&str; 2] = ["agent", "cursor-agent"];

/// Finds the program for a configured command.
///
/// A path is taken as it is. A name is looked up; each of the CLI's two names stands for the other as well.
pub fn locate(command: &str, path: Option<&OsStr>) -> Option<PathBuf> {
    if command.contains('/') {
        return Some(PathBuf::from(command));
    }
    let others = CLI_NAMES
        .iter()
        .copied()
        .filter(|name| CLI_NAMES.contains(&command) && *name != command);
    std::iter::once(command)
        .chain(others)
        .find_map(|name| find_in_path(name, path?))
}

fn find_in_path(name: &str, path: &OsStr) -> Option<PathBuf> {
    std::env::split_paths(path)
        .map(|folder| folder.join(name))
        .find(|file| is_executable(file))
}

fn is_executable(file: &Path) -> bool {
    file.is_file() && rustix::fs::access(file, rustix::fs::Access::EXEC_OK).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn either_name_finds_the_other_and_strangers_do_not() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("cursor-agent");
        std::fs::write(&file, "").unwrap();
        let path = Some(folder.path().as_os_str());
        assert_eq!(
            locate("agent", path),
            None,
            "a file that cannot be run is not found"
        );
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(locate("agent", path), Some(file.clone()));
        assert_eq!(locate("cursor-agent", path), Some(file));
        assert_eq!(locate("my-cli", path), None);
        assert_eq!(locate("/opt/agent", path), Some("/opt/agent".into()));
    }
}
