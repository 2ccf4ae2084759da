//! Receives the status changes that Cursor sends, as pure decisions for the owner of the listener.
//!
//! A delivery is accepted only after its signature over the raw bytes was verified, and even then it is a hint: it does
//! not contain the time of signing, so it can be replayed. The driver that it wakes reads the status itself.

use cloud_settings::Secret;
use hmac::{Hmac, KeyInit, Mac};
use protocol_spec::hex::hex;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::Sha256;
use subtle::ConstantTimeEq;
use thiserror::Error;

/// The header that carries the signature.
pub const SIGNATURE_HEADER: &str = "x-webhook-signature";
/// The header that names the delivery.
pub const DELIVERY_ID_HEADER: &str = "x-webhook-id";
/// The header that names the event.
pub const EVENT_HEADER: &str = "x-webhook-event";
/// The only event there is.
pub const STATUS_CHANGE: &str = "statusChange";
/// The most bytes of a delivery's body.
pub const WEBHOOK_BYTES_MAX: usize = 1 << 20;

const SIGNATURE_PREFIX: &str = "sha256=";
const DELIVERY_ID_BYTES_MAX: usize = 256;

/// A delivery as received.
#[derive(Debug, Clone, Copy)]
pub struct RawDelivery<'a> {
    /// The value of [`SIGNATURE_HEADER`].
    pub signature: Option<&'a str>,
    /// The value of [`DELIVERY_ID_HEADER`].
    pub delivery_id: Option<&'a str>,
    /// The value of [`EVENT_HEADER`].
    pub event: Option<&'a str>,
    /// The body, byte for byte.
    pub body: &'a [u8],
}

/// A verified delivery.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Delivery {
    /// The id Cursor gave the delivery.
    #[serde(default)]
    pub delivery_id: String,
    /// The event.
    pub event: String,
    /// The cloud agent.
    pub id: String,
    /// The status it has, or had.
    pub status: String,
    /// The time of the event, according to Cursor.
    #[serde(default)]
    pub timestamp: Option<String>,
    /// The agent's summary of its work.
    #[serde(default)]
    pub summary: Option<String>,
    /// All other keys.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// The reason for refusing a delivery.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum WebhookError {
    /// There is no signature.
    #[error("the delivery is not signed")]
    Unsigned,
    /// The signature is not that of the body.
    #[error("the signature is not valid")]
    BadSignature,
    /// The delivery is malformed.
    #[error("the delivery is malformed: {0}")]
    Malformed(String),
}

impl WebhookError {
    /// Returns the HTTP status to answer with.
    pub fn status(&self) -> u16 {
        match self {
            WebhookError::Unsigned | WebhookError::BadSignature => 401,
            WebhookError::Malformed(_) => 400,
        }
    }
}

/// Checks a delivery: first the signature, and only then the content.
///
/// # Errors
///
/// Fails if the delivery must be refused.
pub fn check_delivery(secret: &Secret, raw: RawDelivery<'_>) -> Result<Delivery, WebhookError> {
    verify_signature(secret, raw.signature, raw.body)?;
    let malformed = |reason: &str| WebhookError::Malformed(reason.to_owned());
    let id = raw
        .delivery_id
        .map(str::trim)
        .filter(|id| !id.is_empty() && id.len() <= DELIVERY_ID_BYTES_MAX);
    let id = id.ok_or_else(|| malformed("it has no usable id"))?;
    let mut delivery: Delivery =
        serde_json::from_slice(raw.body).map_err(|error| WebhookError::Malformed(error.to_string()))?;
    if delivery.event != STATUS_CHANGE || raw.event.is_some_and(|event| event != STATUS_CHANGE) {
        return Err(malformed("it is not a change of status"));
    }
    if delivery.id.is_empty() || delivery.status.is_empty() {
        return Err(malformed("it names no agent or no status"));
    }
    id.clone_into(&mut delivery.delivery_id);
    Ok(delivery)
}

/// Verifies a signature over the raw body in constant time.
///
/// # Errors
///
/// Fails if there is no signature or another one.
pub fn verify_signature(secret: &Secret, signature: Option<&str>, body: &[u8]) -> Result<(), WebhookError> {
    let signature = signature.ok_or(WebhookError::Unsigned)?.trim();
    let given = signature
        .strip_prefix(SIGNATURE_PREFIX)
        .ok_or(WebhookError::BadSignature)?;
    let expected = signature_hex(secret, body);
    let is_equal: bool = given
        .to_ascii_lowercase()
        .as_bytes()
        .ct_eq(expected.as_bytes())
        .into();
    if is_equal {
        Ok(())
    } else {
        Err(WebhookError::BadSignature)
    }
}

/// Signs a body as Cursor does.
pub fn sign(secret: &Secret, body: &[u8]) -> String {
    format!("{SIGNATURE_PREFIX}{}", signature_hex(secret, body))
}

fn signature_hex(secret: &Secret, body: &[u8]) -> String {
    hex(&hmac_sha256(secret.expose().as_bytes(), body))
}

/// Returns the HMAC-SHA256 of a message.
pub(super) fn hmac_sha256(key: &[u8], message: &[u8]) -> [u8; 32] {
    // A key of any length is a key, so making one cannot fail.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key) else {
        return [0; 32];
    };
    mac.update(message);
    mac.finalize().into_bytes().into()
}

#[cfg(test)]
mod tests {
    use cueme_store::Storage;
    use cueme_store_sqlite::{SqliteStorage, Synchronous};
    use protocol_spec::time::Timestamp;

    use super::*;

    const BODY: &[u8] = br#"{"event":"statusChange","timestamp":"2026-10-01T12:00:00Z","id":"bc_1","status":"FINISHED","source":{"repository":"r","ref":"main"},"target":{"branchName":"b"},"summary":"s","more":1}"#;

    fn secret() -> Secret {
        Secret::new("0123456789abcdef0123456789abcdef")
    }

    fn raw<'a>(signature: Option<&'a str>, body: &'a [u8]) -> RawDelivery<'a> {
        RawDelivery {
            signature,
            delivery_id: Some("d-1"),
            event: Some(STATUS_CHANGE),
            body,
        }
    }

    #[test]
    fn the_signature_is_the_one_known_from_the_standard() {
        // Test case 2 of RFC 4231.
        let signature = sign(&Secret::new("Jefe"), b"what do ya want for nothing?");
        assert_eq!(
            signature,
            "sha256=5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        );
    }

    #[test]
    fn webhook_signature_verification_and_dedupe() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("cueme.db");
        let store = SqliteStorage::at(&path, Synchronous::Full).open(true).unwrap();
        store.begin().unwrap();
        let keep = |delivery: &Delivery| {
            let at = Timestamp::from_millis(1);
            store
                .keep_delivery(&delivery.delivery_id, &delivery.id, &delivery.status, at)
                .unwrap()
        };
        let signature = sign(&secret(), BODY);
        let delivery = check_delivery(&secret(), raw(Some(&signature), BODY)).unwrap();
        assert!(keep(&delivery));
        assert_eq!(
            (delivery.id.as_str(), delivery.status.as_str()),
            ("bc_1", "FINISHED")
        );
        assert_eq!(delivery.extra["target"]["branchName"], "b");
        assert_eq!(delivery.extra["more"], 1);
        let again = check_delivery(&secret(), raw(Some(&signature), BODY)).unwrap();
        assert_eq!(again.delivery_id, "d-1");
        assert!(!keep(&again), "it is acted on once");
    }

    #[test]
    fn forged_signatures_are_refused_before_the_body_is_looked_at() {
        let good = sign(&secret(), BODY);
        let other_key = sign(&Secret::new("another secret of enough characters"), BODY);
        let garbage_signed = sign(&secret(), b"{");
        let cases = [
            (None, BODY, WebhookError::Unsigned),
            (Some(""), BODY, WebhookError::BadSignature),
            (Some("sha256="), BODY, WebhookError::BadSignature),
            (Some(&good[7..]), BODY, WebhookError::BadSignature),
            (Some(other_key.as_str()), BODY, WebhookError::BadSignature),
            (Some(good.as_str()), &BODY[1..], WebhookError::BadSignature),
            (Some(good.as_str()), b"{", WebhookError::BadSignature),
        ];
        for (signature, body, expected) in cases {
            let error = check_delivery(&secret(), raw(signature, body)).unwrap_err();
            assert_eq!(error, expected);
            assert_eq!(error.status(), 401);
        }
        let error = check_delivery(&secret(), raw(Some(&garbage_signed), b"{")).unwrap_err();
        assert_eq!(error.status(), 400);
    }

    #[test]
    fn malformed_deliveries_are_refused_though_they_are_signed() {
        let bodies: [&[u8]; 4] = [
            b"[]",
            br#"{"event":"ping","id":"a","status":"b"}"#,
            br#"{"event":"statusChange","id":"","status":"b"}"#,
            br#"{"event":"statusChange","id":"a"}"#,
        ];
        for body in bodies {
            let signature = sign(&secret(), body);
            let error = check_delivery(&secret(), raw(Some(&signature), body)).unwrap_err();
            assert_eq!(error.status(), 400, "{error}");
        }
        let signature = sign(&secret(), BODY);
        for id in [None, Some(" "), Some("x".repeat(300).as_str())] {
            let delivery = RawDelivery {
                delivery_id: id,
                ..raw(Some(&signature), BODY)
            };
            assert_eq!(check_delivery(&secret(), delivery).unwrap_err().status(), 400);
        }
    }
}
