//! Finds the password for a database whose URL has none: `PGPASSWORD`, or the file that `PGPASSFILE` names.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tokio_postgres::Config;
use tokio_postgres::config::Host;

/// The default of `PGPASSFILE`, in the home directory.
const FILE: &str = ".pgpass";

/// Returns the password, if there is one for this user, host and database.
pub(crate) fn find_password(
    config: &Config,
    default_port: u16,
    env: &impl Fn(&str) -> Option<String>,
) -> Option<String> {
    if let Some(password) = env("PGPASSWORD").filter(|password| !password.is_empty()) {
        return Some(password);
    }
    let file = env("PGPASSFILE")
        .map(PathBuf::from)
        .or_else(|| env("HOME").map(|home| Path::new(&home).join(FILE)))?;
    let lines = std::fs::read_to_string(&file).ok()?;
    if !is_private(&file) {
        tracing::warn!(file = %file.display(), "ignored: others can read it; `chmod 600` it");
        return None;
    }
    let host = match config.get_hosts().first()? {
        Host::Tcp(host) => host.clone(),
        Host::Unix(_) => "localhost".to_owned(),
    };
    let port = config.get_ports().first().copied().unwrap_or(default_port);
    let wanted = [
        host.as_str(),
        &port.to_string(),
        config.get_dbname().unwrap_or_default(),
        config.get_user().unwrap_or_default(),
    ];
    lines.lines().find_map(|line| password_in(line, wanted))
}

fn is_private(file: &Path) -> bool {
    std::fs::metadata(file).is_ok_and(|found| found.permissions().mode() & 0o077 == 0)
}

/// Returns the password of a line `host:port:database:user:password` that matches; `*` matches all, `\` escapes.
fn password_in(line: &str, wanted: [&str; 4]) -> Option<String> {
    if line.starts_with('#') {
        return None;
    }
    let mut fields = vec![String::new()];
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        let literal = match character {
            ':' if fields.len() <= wanted.len() => {
                fields.push(String::new());
                continue;
            }
            '\\' => characters.next().unwrap_or('\\'),
            other => other,
        };
        fields.last_mut()?.push(literal);
    }
    let matches = fields.len() == wanted.len() + 1
        && fields
            .iter()
            .zip(wanted)
            .all(|(field, wanted)| field == "*" || field == wanted);
    matches.then(|| fields.pop()).flatten()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_others_can_read_is_ignored() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("passwords");
        std::fs::write(&file, "other:*:*:*:no\ndb:5432:inbox:ada:secret\n").unwrap();
        let config: Config = "postgres://ada@db/inbox".parse().unwrap();
        let env = |name: &str| (name == "PGPASSFILE").then(|| file.display().to_string());
        let with_mode = |mode| {
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
            find_password(&config, 5432, &env)
        };
        assert_eq!(with_mode(0o644), None);
        assert_eq!(with_mode(0o600).as_deref(), Some("secret"));
    }

    #[test]
    fn the_first_line_that_fits_has_the_password() {
        let wanted = ["db.example", "5432", "inbox", "ada"];
        let find = |line| password_in(line, wanted);
        assert_eq!(
            find("db.example:5432:inbox:ada:pass:word").as_deref(),
            Some("pass:word")
        );
        assert_eq!(find(r"*:*:*:ada:a\:b\\c").as_deref(), Some(r"a:b\c"));
        assert_eq!(find("#*:*:*:*:no"), None);
        assert_eq!(find("db.example:5433:inbox:ada:no"), None);
        assert_eq!(find("db.example:5432:inbox:ada"), None);
    }
}
