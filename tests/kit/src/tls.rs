//! Certificates for servers of a test.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::not_run_without;

/// A certificate that is its own authority, and its key, both as PEM.
#[derive(Debug)]
pub struct Certificate {
    pub certificate: PathBuf,
    pub key: PathBuf,
}

impl Certificate {
    /// Makes one for names such as `DNS:localhost`, in files that begin with a name; without OpenSSL there is none, and a test
    /// ends early.
    ///
    /// # Panics
    ///
    /// Panics when OpenSSL refuses.
    pub fn make(directory: &Path, name: &str, subjects: &str) -> Option<Self> {
        let made = Self {
            certificate: directory.join(format!("{name}.crt")),
            key: directory.join(format!("{name}.key")),
        };
        let ran = Command::new("openssl")
            .args(["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"])
            .args(["-subj", "/CN=cueme test"])
            .args(["-addext", &format!("subjectAltName={subjects}")])
            .args(["-addext", "basicConstraints=critical,CA:FALSE"])
            .arg("-keyout")
            .arg(&made.key)
            .arg("-out")
            .arg(&made.certificate)
            .output();
        let Ok(ran) = ran else {
            not_run_without("openssl");
            return None;
        };
        assert!(ran.status.success(), "{ran:?}");
        Some(made)
    }
}
