//! Checks the owner of a path or the peer of a socket: this user, or the system.
//!
//! A client that talks to a planted socket shows every question to a stranger, and one that runs a planted program runs
//! it as this user. So everything it relies on is checked before it is used: each component of a directory, the owner of
//! a file that names a program, the process at the other end of a connection.

use std::fs::{self, Metadata, Permissions};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use crate::environment;
use crate::error::CliError;

const ROOT: u32 = 0;
/// The group `admin` of macOS, to which Homebrew's `/opt/homebrew` is open. Its members may become root.
const MACOS_ADMIN: u32 = 80;
const WRITABLE_BY_GROUP: u32 = 0o020;
const WRITABLE_BY_ALL: u32 = 0o002;
const OPEN_TO_OTHERS: u32 = 0o077;
const OWNER: u32 = 0o700;
/// Only the owner of an entry may rename or delete it.
const STICKY: u32 = 0o1000;

/// Refuses a directory that somebody else owns or can replace, and closes one of ours that others can enter.
///
/// A directory that does not exist yet is judged by those above it.
pub(super) fn check_directory(directory: &Path) -> Result<(), CliError> {
    check_links(directory)?;
    let Some(existing) = directory.ancestors().find(|path| path.exists()) else {
        return Ok(());
    };
    let real = fs::canonicalize(existing).map_err(|error| CliError::io("look at", existing, &error))?;
    for above in real.ancestors().skip(usize::from(existing == directory)) {
        check_above(above)?;
    }
    if existing == directory {
        check_own(directory, &real)?;
    }
    Ok(())
}

/// Refuses a file or a link of somebody else; a missing one is fine.
pub(super) fn check_file(path: &Path) -> Result<(), CliError> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.uid() != environment::uid() => Err(foreign(path, &found, "the file")),
        Ok(_) | Err(_) => Ok(()),
    }
}

/// Refuses a file with a secret that others can read or write; a missing one is fine.
pub(super) fn check_secret_file(path: &Path) -> Result<(), CliError> {
    check_file(path)?;
    let Ok(found) = fs::metadata(path) else {
        return Ok(());
    };
    if found.mode() & OPEN_TO_OTHERS == 0 {
        return Ok(());
    }
    Err(CliError::no_broker(format!(
        "others can read or write {}, which holds a token (mode {:o})",
        path.display(),
        found.mode() & 0o7777
    ))
    .with_hint(format!(
        "run `chmod 600 {}`; if another user may have read it, run `cueme token revoke` at the broker and link again",
        path.display()
    )))
}

/// Says whether a file is one that only this user could have written.
pub(super) fn is_own_file(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| {
        found.is_file()
            && found.uid() == environment::uid()
            && found.mode() & (WRITABLE_BY_GROUP | WRITABLE_BY_ALL) == 0
    })
}

/// Says whether a program is one that only this user or the system could have put there.
pub(super) fn is_safe_program(path: &Path) -> bool {
    fs::canonicalize(path).is_ok_and(|real| {
        fs::metadata(&real).is_ok_and(|found| {
            found.is_file() && is_ours_or_system(&found) && found.mode() & WRITABLE_BY_ALL == 0
        }) && real.ancestors().skip(1).all(|above| check_above(above).is_ok())
    })
}

/// Refuses a broker that runs as somebody else.
pub(super) fn check_peer(stream: impl AsFd, socket: &Path) -> Result<(), CliError> {
    let peer = peer_uid(stream).map_err(|error| {
        CliError::no_broker(format!(
            "could not find out who listens on {}: {error}",
            socket.display()
        ))
    })?;
    if peer == environment::uid() {
        return Ok(());
    }
    Err(CliError::no_broker(format!(
        "the broker at {} runs as another user (uid {peer})",
        socket.display()
    ))
    .with_hint("delete that socket, or set CUEME_HOME to a directory of your own"))
}

#[cfg(target_os = "linux")]
fn peer_uid(stream: impl AsFd) -> io::Result<u32> {
    Ok(rustix::net::sockopt::socket_peercred(stream)?.uid.as_raw())
}

#[cfg(not(target_os = "linux"))]
fn peer_uid(stream: impl AsFd) -> io::Result<u32> {
    Ok(nix::unistd::getpeereid(stream)?.0.as_raw())
}

/// A link of ours, or of the system, is a choice; one that somebody else placed is a trap.
fn check_links(directory: &Path) -> Result<(), CliError> {
    for path in directory.ancestors() {
        match fs::symlink_metadata(path) {
            Ok(found) if found.is_symlink() && !is_ours_or_system(&found) => {
                return Err(foreign(path, &found, "the link"));
            }
            // A path that cannot be looked at is reported by the call that needs it next.
            Ok(_) | Err(_) => {}
        }
    }
    Ok(())
}

/// Checks a directory above ours: its owner, and everybody who may write there, can replace ours by another.
fn check_above(above: &Path) -> Result<(), CliError> {
    let found = fs::metadata(above).map_err(|error| CliError::io("look at", above, &error))?;
    if !is_ours_or_system(&found) {
        return Err(foreign(above, &found, "the directory"));
    }
    let mode = found.mode();
    let is_open = mode & WRITABLE_BY_ALL != 0 || (mode & WRITABLE_BY_GROUP != 0 && !is_trusted_group(&found));
    if is_open && mode & STICKY == 0 {
        return Err(CliError::no_broker(format!(
            "others can write to {} (mode {:o}), so they can replace what is in it",
            above.display(),
            mode & 0o7777
        ))
        .with_hint(format!(
            "run `chmod go-w {}`, or set CUEME_HOME to a directory of your own",
            above.display()
        )));
    }
    Ok(())
}

fn check_own(named: &Path, real: &Path) -> Result<(), CliError> {
    let found = fs::metadata(real).map_err(|error| CliError::io("look at", named, &error))?;
    if found.uid() != environment::uid() {
        return Err(foreign(named, &found, "the directory"));
    }
    if found.is_dir() && found.mode() & OPEN_TO_OTHERS != 0 {
        // The owner's own rights stay: a directory that was made read-only stays so.
        fs::set_permissions(real, Permissions::from_mode(found.mode() & OWNER))
            .map_err(|error| CliError::io("close to others", named, &error))?;
    }
    Ok(())
}

fn foreign(path: &Path, found: &Metadata, what: &str) -> CliError {
    CliError::no_broker(format!(
        "{what} {} belongs to another user (uid {})",
        path.display(),
        found.uid()
    ))
    .with_hint("set CUEME_HOME to a directory of your own")
}

fn is_ours_or_system(found: &Metadata) -> bool {
    let owner = found.uid();
    owner == ROOT || owner == environment::uid() || is_unmapped(owner)
}

/// Says whether a group may write above our directory: the user's own, or one of administrators.
///
/// Many systems give each user a group of their own, with the same number, and let it write.
fn is_trusted_group(found: &Metadata) -> bool {
    let group = found.gid();
    group == environment::uid() || group == ROOT || (cfg!(target_os = "macos") && group == MACOS_ADMIN)
}

/// Says whether a user namespace hides the owner, as sandboxes do: there the system's own directories belong to the
/// overflow user.
fn is_unmapped(owner: u32) -> bool {
    let number = |path: &str| fs::read_to_string(path).ok()?.trim().parse::<u32>().ok();
    if number("/proc/sys/kernel/overflowuid") != Some(owner) {
        return false;
    }
    let Ok(map) = fs::read_to_string("/proc/self/uid_map") else {
        return false;
    };
    !map.lines().any(|line| is_in_range(line, owner))
}

/// Says whether a line of a user map, `inside outside count`, covers a user.
fn is_in_range(line: &str, user: u32) -> bool {
    let mut numbers = line.split_whitespace().map(str::parse::<u64>);
    match (numbers.next(), numbers.next(), numbers.next()) {
        (Some(Ok(first)), _, Some(Ok(count))) => {
            (first..first.saturating_add(count)).contains(&u64::from(user))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_of_this_namespace_is_told_from_one_it_hides() {
        assert!(is_in_range("         0          0 4294967295", 65534));
        assert!(!is_in_range("      1000       1000          1", 65534));
        assert!(is_in_range("1000 1000 1", 1000));
        assert!(!is_in_range("", 0));
    }

    #[test]
    fn a_directory_of_ours_is_closed_and_one_that_is_missing_is_judged_from_above() {
        let home = tempfile::tempdir().unwrap();
        let own = home.path().join("own");
        check_directory(&own.join("later/still")).unwrap();
        fs::create_dir(&own).unwrap();
        fs::set_permissions(&own, Permissions::from_mode(0o777)).unwrap();
        let refused = check_directory(&own.join("later")).unwrap_err().to_string();
        assert!(refused.contains("others can write to"), "{refused}");
        check_directory(&own).unwrap();
        assert_eq!(fs::metadata(&own).unwrap().mode() & 0o777, 0o700);
        check_directory(&own.join("later")).unwrap();
    }

    #[test]
    fn a_file_that_others_can_write_or_a_link_is_not_our_own() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("broker.json");
        fs::write(&file, "{}").unwrap();
        fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
        assert!(is_own_file(&file));
        fs::set_permissions(&file, Permissions::from_mode(0o620)).unwrap();
        assert!(!is_own_file(&file));
        let link = home.path().join("link.json");
        std::os::unix::fs::symlink(&file, &link).unwrap();
        assert!(!is_own_file(&link) && !is_own_file(&home.path().join("missing")));
    }
}
