//! The key that signs the tokens of runs.
//!
//! It is stored beside the database and not in it: a backup must not enable anyone to impersonate agents.

use std::fs::OpenOptions;
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use crate::callback::SigningKey;

use crate::store::StoreError;

const FILE: &str = "run-token.key";
const KEY_BYTES: usize = 32;

/// Reads the key, or generates one.
pub(super) fn signing_key(directory: &Path) -> Result<SigningKey, StoreError> {
    let path = directory.join(FILE);
    let failed = |doing| {
        let path = path.clone();
        move |source| StoreError::Io { doing, path, source }
    };
    let mut key = [0; KEY_BYTES];
    match OpenOptions::new().read(true).open(&path) {
        Ok(mut file) => file.read_exact(&mut key).map_err(failed("read the key"))?,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            getrandom::fill(&mut key)
                .map_err(|error| std::io::Error::other(error.to_string()))
                .map_err(failed("make the key"))?;
            let mut options = OpenOptions::new();
            options.write(true).create_new(true).mode(0o600);
            let mut file = options.open(&path).map_err(failed("create the key"))?;
            file.write_all(&key)
                .and_then(|()| file.sync_all())
                .map_err(failed("write the key"))?;
        }
        Err(error) => return Err(failed("read the key")(error)),
    }
    Ok(SigningKey::new(key))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn the_key_is_made_once_and_nobody_else_can_read_it() {
        let directory = tempfile::tempdir().unwrap();
        signing_key(directory.path()).unwrap();
        let path = directory.path().join(FILE);
        let first = std::fs::read(&path).unwrap();
        assert_eq!(first.len(), KEY_BYTES);
        assert_eq!(
            std::fs::metadata(&path).unwrap().permissions().mode() & 0o777,
            0o600
        );
        signing_key(directory.path()).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), first);
        std::fs::write(&path, b"short").unwrap();
        assert!(
            signing_key(directory.path()).is_err(),
            "a damaged key is not replaced silently"
        );
    }
}
