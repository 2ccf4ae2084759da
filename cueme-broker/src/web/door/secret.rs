//! Random names and tokens, and the hashes that are kept of them.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};

use crate::store::TokenHash;

/// The longest token that is looked at, in bytes.
const TOKEN_BYTES_MAX: usize = 128;

/// Something only its owner knows: 256 random bits as text.
#[derive(Clone)]
pub(in crate::web) struct Secret(String);

impl Secret {
    /// Draws a new secret.
    pub(in crate::web) fn draw() -> Self {
        Self(URL_SAFE_NO_PAD.encode(random::<32>()))
    }

    /// Returns the secret, to be shown to its owner.
    pub(in crate::web) fn expose(&self) -> &str {
        &self.0
    }

    /// Returns what is kept of it.
    pub(in crate::web) fn hash(&self) -> TokenHash {
        Sha256::digest(self.0.as_bytes()).into()
    }

    /// Takes what a visitor presents; nothing that long is one of ours.
    pub(in crate::web) fn presented(text: &str) -> Option<Self> {
        (text.len() <= TOKEN_BYTES_MAX).then(|| Self(text.to_owned()))
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Secret(…)")
    }
}

/// Draws a name that nobody can guess and that is safe in a path and in a file name.
pub(in crate::web) fn random_name() -> String {
    random::<12>().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    // Without randomness from the system no token is safe; there is nothing to fall back to.
    getrandom::fill(&mut bytes).unwrap_or_else(|error| panic!("the system gives no random bytes: {error}"));
    bytes
}
