//! Exchanges a one-time token for a run's token.
//!
//! The one-time token travels in a prompt, where it can be read by more eyes than the agent's. It is therefore
//! worth nothing but one exchange, within minutes, for one agent and one run; and only its hash is stored.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use cloud_settings::Secret;
use cueme_store::BootstrapRecord;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use thiserror::Error;
use uuid::Uuid;

use super::jwt::{AUDIENCE, Claims, ISSUER, SCOPE_HAP, SigningKey, sign_token};

/// How long a one-time token can be exchanged.
pub const BOOTSTRAP_TTL: Duration = Duration::from_secs(10 * 60);
/// How long a run's token is good.
pub const RUN_TOKEN_TTL: Duration = Duration::from_secs(24 * 3_600);

const TOKEN_PREFIX: &str = "cmb_";
const TOKEN_BYTES: usize = 32;
const TOKEN_TEXT_BYTES_MAX: usize = 128;

/// Keeps one-time tokens.
pub trait BootstrapStore {
    /// Why keeping failed.
    type Error;

    /// Stores a token.
    ///
    /// # Errors
    ///
    /// Fails if it could not be stored.
    fn insert(&self, record: &BootstrapRecord) -> Result<(), Self::Error>;

    /// Takes a token out, so that nobody else can: of two callers at most one gets it.
    ///
    /// # Errors
    ///
    /// Fails if the store could not be read.
    fn take(&self, token_hash: &[u8; 32]) -> Result<Option<BootstrapRecord>, Self::Error>;
}

/// What an agent sends.
#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExchangeRequest {
    /// The one-time token.
    pub token: String,
    /// The run the agent believes to be in.
    #[serde(default)]
    pub run_id: Option<String>,
}

impl std::fmt::Debug for ExchangeRequest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ExchangeRequest(run {:?})", self.run_id)
    }
}

/// What an agent gets.
#[derive(Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ExchangeReply {
    /// The run's token, for `Authorization: Bearer`.
    pub token: String,
    /// Always `Bearer`.
    pub token_type: &'static str,
    /// How long it is good, in seconds.
    pub expires_in: u64,
    /// The agent.
    pub agent_id: String,
    /// The run.
    pub run_id: String,
}

impl std::fmt::Debug for ExchangeReply {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ExchangeReply({} in {})", self.agent_id, self.run_id)
    }
}

/// Why an exchange is refused.
#[derive(Debug, Error)]
pub enum ExchangeError<E> {
    /// There is no such token: it never was, or it was exchanged already.
    #[error("the token is not valid or was used already")]
    Invalid,
    /// It is over.
    #[error("the token has expired")]
    Expired,
    /// It is for another run.
    #[error("the token is for another run")]
    OtherRun,
    /// The store failed.
    #[error("the token could not be looked up")]
    Store(E),
}

impl<E> ExchangeError<E> {
    /// Returns the HTTP status to answer with.
    pub fn status(&self) -> u16 {
        match self {
            ExchangeError::Store(_) => 500,
            _ => 401,
        }
    }
}

/// Why no token could be made.
#[derive(Debug, Error)]
pub enum MintError<E> {
    /// The system has no randomness.
    #[error("no random bytes: {0}")]
    Random(String),
    /// The store failed.
    #[error("the token could not be stored")]
    Store(E),
}

/// Makes a one-time token for an agent's run.
///
/// # Errors
///
/// Fails if the token could not be made or stored.
pub fn mint_bootstrap<S: BootstrapStore>(
    store: &S,
    agent_id: &str,
    run_id: &str,
    now_ms: i64,
) -> Result<Secret, MintError<S::Error>> {
    let mut bytes = [0; TOKEN_BYTES];
    getrandom::fill(&mut bytes).map_err(|error| MintError::Random(error.to_string()))?;
    let token = format!("{TOKEN_PREFIX}{}", URL_SAFE_NO_PAD.encode(bytes));
    let record = BootstrapRecord {
        token_hash: hash(&token),
        agent_id: agent_id.to_owned(),
        run_id: run_id.to_owned(),
        expires_at_ms: now_ms.saturating_add(milliseconds(BOOTSTRAP_TTL)),
    };
    store.insert(&record).map_err(MintError::Store)?;
    Ok(Secret::new(token))
}

/// Exchanges a one-time token. Whatever the outcome, the token is worth nothing afterwards.
///
/// # Errors
///
/// Fails if the token must be refused.
pub fn exchange<S: BootstrapStore>(
    store: &S,
    key: &SigningKey,
    request: &ExchangeRequest,
    now_ms: i64,
) -> Result<ExchangeReply, ExchangeError<S::Error>> {
    let token = request.token.trim();
    if token.len() > TOKEN_TEXT_BYTES_MAX || !token.starts_with(TOKEN_PREFIX) {
        return Err(ExchangeError::Invalid);
    }
    let record = store
        .take(&hash(token))
        .map_err(ExchangeError::Store)?
        .ok_or(ExchangeError::Invalid)?;
    if now_ms >= record.expires_at_ms {
        return Err(ExchangeError::Expired);
    }
    if request.run_id.as_ref().is_some_and(|run| *run != record.run_id) {
        return Err(ExchangeError::OtherRun);
    }
    Ok(reply(key, record, now_ms))
}

fn reply(key: &SigningKey, record: BootstrapRecord, now_ms: i64) -> ExchangeReply {
    let now_sec = now_ms.div_euclid(1_000);
    let claims = Claims {
        iss: ISSUER.to_owned(),
        aud: AUDIENCE.to_owned(),
        sub: record.agent_id.clone(),
        run: record.run_id.clone(),
        scope: SCOPE_HAP.to_owned(),
        iat: now_sec,
        exp: now_sec.saturating_add(milliseconds(RUN_TOKEN_TTL) / 1_000),
        jti: Uuid::now_v7().to_string(),
    };
    ExchangeReply {
        token: sign_token(key, &claims),
        token_type: "Bearer",
        expires_in: RUN_TOKEN_TTL.as_secs(),
        agent_id: record.agent_id,
        run_id: record.run_id,
    }
}

fn hash(token: &str) -> [u8; 32] {
    Sha256::digest(token.as_bytes()).into()
}

fn milliseconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

/// Keeps one-time tokens in memory. For tests and for a process that outlives its runs.
#[derive(Debug, Default)]
pub struct MemoryBootstrapStore {
    records: Mutex<HashMap<[u8; 32], BootstrapRecord>>,
}

impl BootstrapStore for MemoryBootstrapStore {
    type Error = Infallible;

    fn insert(&self, record: &BootstrapRecord) -> Result<(), Infallible> {
        let mut records = self.records.lock().unwrap_or_else(PoisonError::into_inner);
        records.insert(record.token_hash, record.clone());
        Ok(())
    }

    fn take(&self, token_hash: &[u8; 32]) -> Result<Option<BootstrapRecord>, Infallible> {
        Ok(self
            .records
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(token_hash))
    }
}

#[cfg(test)]
mod tests {
    use super::super::jwt::verify_token;
    use super::*;

    const NOW: i64 = 1_790_000_000_000;

    fn key() -> SigningKey {
        SigningKey::new([3; 32])
    }

    fn request(token: &Secret) -> ExchangeRequest {
        ExchangeRequest {
            token: token.expose().to_owned(),
            run_id: None,
        }
    }

    #[test]
    fn bootstrap_exchange_happy_path() {
        let store = MemoryBootstrapStore::default();
        let token = mint_bootstrap(&store, "calm-otter", "run-7", NOW).unwrap();
        let reply = exchange(&store, &key(), &request(&token), NOW + 1_000).unwrap();
        let claims = verify_token(&key(), &reply.token, NOW / 1_000 + 2).unwrap();
        assert_eq!(
            (claims.sub.as_str(), claims.run.as_str(), claims.scope.as_str()),
            ("calm-otter", "run-7", "hap")
        );
        assert_eq!(claims.exp, NOW / 1_000 + 1 + 86_400);
    }

    #[test]
    fn bootstrap_exchange_expired_or_invalid_token() {
        let store = MemoryBootstrapStore::default();
        let token = mint_bootstrap(&store, "a", "r", NOW).unwrap();
        let late = NOW + milliseconds(BOOTSTRAP_TTL);
        assert!(matches!(
            exchange(&store, &key(), &request(&token), late),
            Err(ExchangeError::Expired)
        ));
        let again = exchange(&store, &key(), &request(&token), NOW);
        assert!(
            matches!(again, Err(ExchangeError::Invalid)),
            "a token that was tried is gone"
        );
        for text in ["", "cmb_", "cmb_guess", "nonsense", &"cmb_x".repeat(100)] {
            let error = exchange(&store, &key(), &request(&Secret::new(text)), NOW).unwrap_err();
            assert!(matches!(error, ExchangeError::Invalid));
            assert_eq!(error.status(), 401);
        }
    }

    #[test]
    fn a_token_is_good_once_and_for_its_own_run() {
        let store = MemoryBootstrapStore::default();
        let token = mint_bootstrap(&store, "a", "r", NOW).unwrap();
        assert!(exchange(&store, &key(), &request(&token), NOW).is_ok());
        assert!(matches!(
            exchange(&store, &key(), &request(&token), NOW),
            Err(ExchangeError::Invalid)
        ));
        let token = mint_bootstrap(&store, "a", "r", NOW).unwrap();
        let elsewhere = ExchangeRequest {
            run_id: Some("other".to_owned()),
            ..request(&token)
        };
        assert!(matches!(
            exchange(&store, &key(), &elsewhere, NOW),
            Err(ExchangeError::OtherRun)
        ));
    }

    #[test]
    fn the_store_never_sees_a_token_and_debug_never_shows_one() {
        let store = MemoryBootstrapStore::default();
        let token = mint_bootstrap(&store, "a", "r", NOW).unwrap();
        let shown = format!("{store:?} {:?} {token:?}", request(&token));
        assert!(!shown.contains(token.expose()));
        let reply = exchange(&store, &key(), &request(&token), NOW).unwrap();
        assert!(!format!("{reply:?} {:?}", key()).contains(&reply.token));
    }

    #[test]
    fn of_many_who_present_one_token_exactly_one_gets_in() {
        let store = MemoryBootstrapStore::default();
        let token = mint_bootstrap(&store, "a", "r", NOW).unwrap();
        let winners = std::thread::scope(|scope| {
            let tries: Vec<_> = (0..16)
                .map(|_| scope.spawn(|| exchange(&store, &key(), &request(&token), NOW).is_ok()))
                .collect();
            tries
                .into_iter()
                .filter(|_| true)
                .map(|each| each.join().unwrap())
                .filter(|won| *won)
                .count()
        });
        assert_eq!(winners, 1);
    }
}
