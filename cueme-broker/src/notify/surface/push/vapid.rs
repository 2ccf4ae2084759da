//! Authenticates the broker to a push service: RFC 8292, a token that is signed with a key of this broker.
//!
//! A browser binds its subscription to the public key, so the key is made once. It is stored beside the database, as
//! the other key is.

use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair};
use serde_json::json;
use url::Url;

use crate::store::StoreError;

const FILE: &str = "push.key";
/// The lifetime of a token; push services refuse more than 24 hours.
const TOKEN_LIFE: Duration = Duration::from_secs(12 * 60 * 60);

/// The key pair of this broker.
#[derive(Debug)]
pub(super) struct VapidKey(EcdsaKeyPair);

impl VapidKey {
    /// Reads the key, or generates one. A damaged key is an error: with another one, no device would get a push again.
    pub(super) fn load(directory: &Path) -> Result<Self, StoreError> {
        let path = directory.join(FILE);
        let failed = |doing| {
            let path = path.clone();
            move |source| StoreError::Io { doing, path, source }
        };
        let damaged = |_| std::io::Error::new(std::io::ErrorKind::InvalidData, "the key is damaged");
        let random = SystemRandom::new();
        let document = match std::fs::read(&path) {
            Ok(document) => document,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                let made = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random);
                let made = made
                    .map_err(|_| std::io::Error::other("no random bytes"))
                    .map_err(failed("make the key"))?;
                let mut options = OpenOptions::new();
                options.write(true).create_new(true).mode(0o600);
                let mut file = options.open(&path).map_err(failed("create the key"))?;
                file.write_all(made.as_ref())
                    .and_then(|()| file.sync_all())
                    .map_err(failed("write the key"))?;
                made.as_ref().to_vec()
            }
            Err(error) => return Err(failed("read the key")(error)),
        };
        let key = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &document, &random);
        key.map(Self).map_err(damaged).map_err(failed("read the key"))
    }

    /// Returns the public key, as browsers take it.
    pub(super) fn public(&self) -> String {
        BASE64_URL_SAFE_NO_PAD.encode(self.0.public_key())
    }

    /// Returns the `Authorization` of a request to this endpoint; `None` when there are no random bytes.
    pub(super) fn authorize(&self, endpoint: &Url, contact: &str, now: SystemTime) -> Option<String> {
        let expires = now.duration_since(UNIX_EPOCH).unwrap_or_default() + TOKEN_LIFE;
        let header = json!({ "typ": "JWT", "alg": "ES256" });
        let claims = json!({
            "aud": endpoint.origin().ascii_serialization(),
            "exp": expires.as_secs(),
            "sub": contact,
        });
        let [header, claims] = [header, claims].map(|part| BASE64_URL_SAFE_NO_PAD.encode(part.to_string()));
        let signed = format!("{header}.{claims}");
        let signature = self.0.sign(&SystemRandom::new(), signed.as_bytes()).ok()?;
        let signature = BASE64_URL_SAFE_NO_PAD.encode(signature);
        Some(format!("vapid t={signed}.{signature}, k={}", self.public()))
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use ring::signature::{ECDSA_P256_SHA256_FIXED, UnparsedPublicKey};

    use super::*;

    #[test]
    fn the_key_is_made_once_and_nobody_else_can_read_it() {
        let directory = tempfile::tempdir().unwrap();
        let first = VapidKey::load(directory.path()).unwrap().public();
        let path = directory.path().join(FILE);
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(VapidKey::load(directory.path()).unwrap().public(), first);
        std::fs::write(&path, b"short").unwrap();
        assert!(
            VapidKey::load(directory.path()).is_err(),
            "a damaged key is not replaced silently"
        );
    }

    #[test]
    fn a_token_names_the_service_and_can_be_verified_with_the_public_key() {
        let directory = tempfile::tempdir().unwrap();
        let key = VapidKey::load(directory.path()).unwrap();
        let endpoint = Url::parse("https://push.example.org/send/abc?x=1").unwrap();
        let written = key.authorize(&endpoint, "mailto:a@b.c", UNIX_EPOCH).unwrap();
        let token = written
            .strip_prefix("vapid t=")
            .unwrap()
            .split(',')
            .next()
            .unwrap();
        let parts: Vec<&str> = token.split('.').collect();
        let decode = |part: &str| BASE64_URL_SAFE_NO_PAD.decode(part).unwrap();
        let claims: serde_json::Value = serde_json::from_slice(&decode(parts[1])).unwrap();
        let expected =
            json!({ "aud": "https://push.example.org", "exp": TOKEN_LIFE.as_secs(), "sub": "mailto:a@b.c" });
        assert_eq!(claims, expected);
        let signed = format!("{}.{}", parts[0], parts[1]);
        UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, decode(&key.public()))
            .verify(signed.as_bytes(), &decode(parts[2]))
            .unwrap();
    }
}
