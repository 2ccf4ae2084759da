//! A push service and the browsers behind it: RFC 8030 with the signatures of RFC 8292, decrypted as RFC 8291 says.
//!
//! The cryptography is RustCrypto's; the broker uses another implementation.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use aes_gcm::aead::{Aead, KeyInit};
use aes_gcm::{Aes128Gcm, Nonce};
use axum::Router;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use hkdf::Hkdf;
use p256::ecdsa::signature::Verifier;
use p256::ecdsa::{Signature, VerifyingKey};
use p256::elliptic_curve::sec1::ToSec1Point;
use p256::{PublicKey, SecretKey};
use serde_json::{Value, json};
use sha2::Sha256;

use super::faults::Faults;
use super::server::Server;
use crate::eventually;

/// The largest message that services take.
const BODY_BYTES_MAX: usize = 4096;
/// The longest that a signature may be valid.
const TOKEN_SECONDS_MAX: u64 = 24 * 60 * 60;

/// A push service.
#[derive(Debug)]
pub struct Push {
    server: Server,
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    browsers: Mutex<HashMap<String, Kept>>,
    faults: Faults,
}

/// A subscription as the service and its browser know it.
#[derive(Debug)]
struct Kept {
    secret: SecretKey,
    auth: [u8; 16],
    /// The key of the sender that it is bound to.
    sender: String,
    origin: String,
    has_ended: bool,
    /// The delivered messages, decrypted.
    messages: Vec<Value>,
}

/// A subscription, as a browser describes it to the page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PushBrowser {
    id: String,
    /// The address to send to.
    pub endpoint: String,
    /// Its public key.
    pub p256dh: String,
    /// Its secret.
    pub auth: String,
}

impl PushBrowser {
    /// Returns what the page sends to the broker, with these choices.
    pub fn subscription(&self, choices: Value) -> Value {
        let mut body = json!({ "endpoint": self.endpoint, "p256dh": self.p256dh, "auth": self.auth });
        if let (Some(body), Value::Object(choices)) = (body.as_object_mut(), choices) {
            body.extend(choices);
        }
        body
    }
}

impl Default for Push {
    fn default() -> Self {
        Self::start()
    }
}

impl Push {
    /// Starts it.
    pub fn start() -> Self {
        let shared = Arc::<Shared>::default();
        let routes = Router::new()
            .route("/send/{id}", post(take))
            .with_state(Arc::clone(&shared));
        Self {
            server: Server::start(routes),
            shared,
        }
    }

    /// Returns the section of the configuration that lets the broker use it.
    pub fn section(&self) -> String {
        format!("[push]\nprivate_services = [\"{}\"]\n", self.server.url())
    }

    /// Subscribes a browser, bound to a sender's public key.
    pub fn subscribe(&self, sender: &str) -> PushBrowser {
        let random = || *uuid::Uuid::new_v4().as_bytes();
        let secret = SecretKey::from_slice(&[random(), random()].concat()).expect("a secret key");
        let (id, auth) = (uuid::Uuid::new_v4().simple().to_string(), random());
        let browser = PushBrowser {
            endpoint: format!("{}/send/{id}", self.server.url()),
            p256dh: encode(secret.public_key().to_sec1_point(false).as_bytes()),
            auth: encode(&auth),
            id: id.clone(),
        };
        let kept = Kept {
            secret,
            auth,
            sender: sender.to_owned(),
            origin: self.server.url(),
            has_ended: false,
            messages: Vec::new(),
        };
        lock(&self.shared).insert(id, kept);
        browser
    }

    /// Returns where failures are prepared: `send`.
    pub fn faults(&self) -> &Faults {
        &self.shared.faults
    }

    /// The browser's owner takes the permission back.
    pub fn end(&self, browser: &PushBrowser) {
        if let Some(kept) = lock(&self.shared).get_mut(&browser.id) {
            kept.has_ended = true;
        }
    }

    /// Returns what a browser got, decrypted.
    pub fn messages(&self, browser: &PushBrowser) -> Vec<Value> {
        let browsers = lock(&self.shared);
        browsers
            .get(&browser.id)
            .map(|kept| kept.messages.clone())
            .unwrap_or_default()
    }

    /// Returns the notifications that stand on a device now: questions that no later message closed.
    pub fn notifications(&self, browser: &PushBrowser) -> Vec<Value> {
        let mut standing: Vec<Value> = Vec::new();
        for message in self.messages(browser) {
            standing.retain(|other| other["cue"] != message["cue"]);
            if message["kind"] == "question" {
                standing.push(message);
            }
        }
        standing
    }

    /// Waits for a notification of a question.
    #[track_caller]
    pub fn wait_for(&self, browser: &PushBrowser, cue: &str) -> Value {
        eventually(&format!("a notification of {cue}"), || {
            self.notifications(browser)
                .into_iter()
                .find(|message| message["cue"] == cue)
        })
    }
}

async fn take(
    State(shared): State<Arc<Shared>>,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    if let Some(fault) = shared.faults.next("send") {
        return fault.into_response();
    }
    let mut browsers = lock(&shared);
    let Some(kept) = browsers.get_mut(&id) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    if kept.has_ended {
        return StatusCode::GONE.into_response();
    }
    match check(kept, &headers, &body) {
        Ok(message) => {
            kept.messages.push(message);
            StatusCode::CREATED.into_response()
        }
        Err((status, why)) => (status, why).into_response(),
    }
}

type Refusal = (StatusCode, String);

fn refuse(status: u16, why: &str) -> Refusal {
    (
        StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_REQUEST),
        why.to_owned(),
    )
}

/// Checks a request as services do, and reads the message as the browser does.
fn check(kept: &Kept, headers: &HeaderMap, body: &[u8]) -> Result<Value, Refusal> {
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let lasts = header("ttl").and_then(|ttl| ttl.parse::<u64>().ok());
    lasts.ok_or_else(|| refuse(400, "no TTL"))?;
    if !matches!(
        header("urgency"),
        None | Some("very-low" | "low" | "normal" | "high")
    ) {
        return Err(refuse(400, "no such urgency"));
    }
    let is_topic = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    if header("topic").is_some_and(|topic| topic.len() > 32 || !topic.bytes().all(is_topic)) {
        return Err(refuse(400, "no such topic"));
    }
    if header("content-encoding") != Some("aes128gcm") {
        return Err(refuse(415, "unknown encoding"));
    }
    if body.len() > BODY_BYTES_MAX {
        return Err(refuse(413, "too large"));
    }
    authorize(kept, header("authorization").unwrap_or_default())?;
    let plain = decrypt(kept, body).ok_or_else(|| refuse(400, "the browser cannot decrypt it"))?;
    serde_json::from_slice(&plain).map_err(|error| refuse(400, &error.to_string()))
}

/// Checks who sends.
fn authorize(kept: &Kept, authorization: &str) -> Result<(), Refusal> {
    let wrong = |why: &str| refuse(403, why);
    let fields = authorization
        .strip_prefix("vapid ")
        .ok_or_else(|| wrong("no VAPID"))?;
    let field = |name: &str| {
        fields
            .split(',')
            .filter_map(|field| field.trim().split_once('='))
            .find(|(key, _)| *key == name)
            .map(|(_, value)| value)
    };
    let (token, key) = field("t").zip(field("k")).ok_or_else(|| wrong("no t and k"))?;
    if key != kept.sender {
        return Err(wrong("the subscription is bound to another key"));
    }
    let parts: Vec<&str> = token.split('.').collect();
    let [header, claims, signature] = parts[..] else {
        return Err(wrong("no JWT"));
    };
    let json = |part: &str| -> Option<Value> { serde_json::from_slice(&decode(part)?).ok() };
    let (header_read, claims_read) = json(header)
        .zip(json(claims))
        .ok_or_else(|| wrong("no JSON in the JWT"))?;
    if header_read["alg"] != "ES256" || claims_read["aud"] != kept.origin.as_str() {
        return Err(wrong("wrong algorithm or audience"));
    }
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default()
        .as_secs();
    let expires = claims_read["exp"].as_u64().unwrap_or_default();
    if expires <= now || expires > now + TOKEN_SECONDS_MAX {
        return Err(wrong("wrong expiry"));
    }
    let contact = claims_read["sub"].as_str().unwrap_or_default();
    if !contact.starts_with("mailto:") && !contact.starts_with("https://") {
        return Err(wrong("no contact"));
    }
    let verifies = || {
        let key = VerifyingKey::from_sec1_bytes(&decode(key)?).ok()?;
        let signature = Signature::from_slice(&decode(signature)?).ok()?;
        key.verify(format!("{header}.{claims}").as_bytes(), &signature)
            .ok()
    };
    verifies().ok_or_else(|| wrong("wrong signature"))
}

/// Decrypts a message of one record.
fn decrypt(kept: &Kept, body: &[u8]) -> Option<Vec<u8>> {
    let (salt, rest) = body.split_at_checked(16)?;
    let (record_size, rest) = rest.split_at_checked(4)?;
    let (id_length, rest) = rest.split_first()?;
    let (sender, ciphertext) = rest.split_at_checked(usize::from(*id_length))?;
    let record_size = u32::from_be_bytes(record_size.try_into().ok()?) as usize;
    if ciphertext.len() > record_size {
        return None;
    }
    let theirs = PublicKey::from_sec1_bytes(sender).ok()?;
    let shared = p256::ecdh::diffie_hellman(kept.secret.to_nonzero_scalar(), theirs.as_affine());
    let expand = |salt: &[u8], material: &[u8], info: &[u8], length: usize| {
        let mut bytes = vec![0; length];
        Hkdf::<Sha256>::new(Some(salt), material)
            .expand(info, &mut bytes)
            .ok()?;
        Some(bytes)
    };
    let ours = kept.secret.public_key().to_sec1_point(false);
    let info = [b"WebPush: info\0", ours.as_bytes(), sender].concat();
    let material = expand(&kept.auth, shared.raw_secret_bytes(), &info, 32)?;
    let key = expand(salt, &material, b"Content-Encoding: aes128gcm\0", 16)?;
    let nonce = expand(salt, &material, b"Content-Encoding: nonce\0", 12)?;
    let cipher = Aes128Gcm::new_from_slice(&key).ok()?;
    let nonce = Nonce::try_from(nonce.as_slice()).ok()?;
    let mut plain = cipher.decrypt(&nonce, ciphertext).ok()?;
    while plain.last() == Some(&0) {
        plain.pop();
    }
    (plain.pop() == Some(2)).then_some(plain)
}

fn encode(bytes: &[u8]) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(bytes)
}

fn decode(text: &str) -> Option<Vec<u8>> {
    BASE64_URL_SAFE_NO_PAD.decode(text).ok()
}

fn lock(shared: &Shared) -> MutexGuard<'_, HashMap<String, Kept>> {
    shared.browsers.lock().unwrap_or_else(PoisonError::into_inner)
}
