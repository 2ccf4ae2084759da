//! Random tokens, and the hashes that are kept of them.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};

use crate::random::random;
use crate::store::TokenHash;

/// The longest token that is checked, in bytes.
const TOKEN_BYTES_MAX: usize = 128;

/// A secret: 256 random bits as text.
#[derive(Clone)]
pub(in crate::web) struct Secret(String);

impl Secret {
    /// Generates a new secret.
    pub(in crate::web) fn draw() -> Self {
        Self(URL_SAFE_NO_PAD.encode(random::<32>()))
    }

    /// Returns the secret, to be shown to its owner.
    pub(in crate::web) fn expose(&self) -> &str {
        &self.0
    }

    /// Returns the hash to store.
    pub(in crate::web) fn hash(&self) -> TokenHash {
        Sha256::digest(self.0.as_bytes()).into()
    }

    /// Wraps the secret that a visitor presents; a longer one is not ours.
    pub(in crate::web) fn presented(text: &str) -> Option<Self> {
        (text.len() <= TOKEN_BYTES_MAX).then(|| Self(text.to_owned()))
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Secret(…)")
    }
}
