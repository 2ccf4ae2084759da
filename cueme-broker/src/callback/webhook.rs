//! Receives the status changes Cursor sends, as pure decisions for whoever owns the listener.
//!
//! A delivery is believed only after its signature over the raw bytes was checked, and even then it is a hint:
//! nothing in it says when it was signed, so an old one can be sent again. Whoever is woken by it reads the
//! status anew.

use std::collections::{HashMap, VecDeque};
use std::convert::Infallible;
use std::sync::{Mutex, PoisonError};

use cloud_settings::Secret;
use hmac::{Hmac, KeyInit, Mac};
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

/// A delivery as it came in.
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

/// A delivery that was checked.
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
    /// When the event happened, as Cursor says.
    #[serde(default)]
    pub timestamp: Option<String>,
    /// What the agent did.
    #[serde(default)]
    pub summary: Option<String>,
    /// Everything else.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// Why a delivery is refused.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum WebhookError {
    /// There is no signature.
    #[error("the delivery is not signed")]
    Unsigned,
    /// The signature is not that of the body.
    #[error("the signature is not valid")]
    BadSignature,
    /// The delivery makes no sense.
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

/// Remembers deliveries, so that each is acted on once.
pub trait DeliveryLog {
    /// Why remembering failed.
    type Error;

    /// Stores a delivery. Returns whether it is new. Must have stored it for good when it returns, because
    /// Cursor is told to forget it then.
    ///
    /// # Errors
    ///
    /// Fails if the delivery could not be stored; Cursor will send it again.
    fn record(&self, delivery: &Delivery) -> Result<bool, Self::Error>;
}

/// What came of a delivery.
#[derive(Debug, Clone, PartialEq)]
pub enum Received {
    /// It is new: wake whoever waits for this agent.
    New(Box<Delivery>),
    /// It was here before: answer as the first time and do nothing.
    Repeated(String),
}

/// Why a delivery was not received.
#[derive(Debug, Error)]
pub enum ReceiveError<E> {
    /// It was refused.
    #[error(transparent)]
    Refused(WebhookError),
    /// It could not be stored.
    #[error("the delivery could not be stored")]
    Log(E),
}

impl<E> ReceiveError<E> {
    /// Returns the HTTP status to answer with.
    pub fn status(&self) -> u16 {
        match self {
            ReceiveError::Refused(error) => error.status(),
            ReceiveError::Log(_) => 500,
        }
    }
}

/// Checks a delivery, stores it, and says whether it is new.
///
/// # Errors
///
/// Fails if the delivery is refused or could not be stored.
pub fn receive<L: DeliveryLog>(
    secret: &Secret,
    raw: RawDelivery<'_>,
    log: &L,
) -> Result<Received, ReceiveError<L::Error>> {
    let delivery = check_delivery(secret, raw).map_err(ReceiveError::Refused)?;
    match log.record(&delivery).map_err(ReceiveError::Log)? {
        true => Ok(Received::New(Box::new(delivery))),
        false => Ok(Received::Repeated(delivery.delivery_id)),
    }
}

/// Checks a delivery: first the signature, and only then what it says.
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

/// Checks a signature over the raw body, in time that does not depend on how wrong it is.
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
    hmac_sha256(secret.expose().as_bytes(), body)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
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

/// Remembers deliveries in memory, up to a number. For tests and for a listener without a store.
#[derive(Debug)]
pub struct MemoryDeliveryLog {
    capacity: usize,
    seen: Mutex<(HashMap<String, Delivery>, VecDeque<String>)>,
}

impl MemoryDeliveryLog {
    /// Remembers at most so many deliveries and forgets the oldest.
    pub fn new(capacity: usize) -> Self {
        MemoryDeliveryLog {
            capacity: capacity.max(1),
            seen: Mutex::default(),
        }
    }
}

impl DeliveryLog for MemoryDeliveryLog {
    type Error = Infallible;

    fn record(&self, delivery: &Delivery) -> Result<bool, Infallible> {
        let mut guard = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let (seen, order) = &mut *guard;
        if seen.contains_key(&delivery.delivery_id) {
            return Ok(false);
        }
        if order.len() >= self.capacity
            && let Some(oldest) = order.pop_front()
        {
            seen.remove(&oldest);
        }
        order.push_back(delivery.delivery_id.clone());
        seen.insert(delivery.delivery_id.clone(), delivery.clone());
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
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
        let log = MemoryDeliveryLog::new(10);
        let signature = sign(&secret(), BODY);
        let Ok(Received::New(delivery)) = receive(&secret(), raw(Some(&signature), BODY), &log) else {
            panic!("not received");
        };
        assert_eq!(
            (delivery.id.as_str(), delivery.status.as_str()),
            ("bc_1", "FINISHED")
        );
        assert_eq!(delivery.extra["target"]["branchName"], "b");
        assert_eq!(delivery.extra["more"], 1);
        let again = receive(&secret(), raw(Some(&signature), BODY), &log).unwrap();
        assert_eq!(again, Received::Repeated("d-1".to_owned()));
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

    #[test]
    fn the_memory_of_deliveries_is_bounded() {
        let log = MemoryDeliveryLog::new(2);
        let mut delivery: Delivery = serde_json::from_slice(BODY).unwrap();
        for id in ["1", "2", "3"] {
            delivery.delivery_id = id.to_owned();
            assert_eq!(log.record(&delivery), Ok(true));
        }
        assert_eq!(log.record(&delivery), Ok(false));
        delivery.delivery_id = "1".to_owned();
        assert_eq!(log.record(&delivery), Ok(true), "the oldest was forgotten");
    }
}
