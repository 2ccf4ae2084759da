//! Exchanges a one-time token for a run's token.
//!
//! The one-time token travels in a prompt, where others than the agent can read it. It is therefore good for one
//! exchange only, within minutes, for one agent and one run; and only its hash is stored.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use cloud_settings::Secret;
use cueme_store::{BootstrapRecord, BootstrapRecords, StoreError};
use protocol_spec::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use thiserror::Error;
use uuid::Uuid;

use super::jwt::{AUDIENCE, Claims, ISSUER, SCOPE_HAP, SigningKey, sign_token};

/// The lifetime of a one-time token.
pub const BOOTSTRAP_TTL: Duration = Duration::from_secs(10 * 60);
/// The lifetime of a run's token.
pub const RUN_TOKEN_TTL: Duration = Duration::from_secs(24 * 3_600);

const TOKEN_PREFIX: &str = "cmb_";
const TOKEN_BYTES: usize = 32;
const TOKEN_TEXT_BYTES_MAX: usize = 128;

/// The request of an agent.
#[derive(Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ExchangeRequest {
    /// The one-time token.
    pub token: String,
    /// The agent's id of its run.
    pub run_id: Option<String>,
}

impl std::fmt::Debug for ExchangeRequest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ExchangeRequest(run {:?})", self.run_id)
    }
}

/// The reply to an agent.
#[derive(Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExchangeReply {
    /// The run's token, for `Authorization: Bearer`, together with `X-Cueme-Run-Id`.
    pub token: String,
    /// Always `Bearer`.
    pub token_type: &'static str,
    /// The lifetime, in seconds; it ends earlier with the run.
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

/// The reason for refusing an exchange.
#[derive(Debug, Error)]
pub enum ExchangeError {
    /// There is no such token: it never existed, or it was exchanged already.
    #[error("the token is not valid or was used already")]
    Invalid,
    /// It has expired.
    #[error("the token has expired")]
    Expired,
    /// It is for another run.
    #[error("the token is for another run")]
    OtherRun,
    /// The store failed.
    #[error("the token could not be looked up")]
    Store(StoreError),
}

impl ExchangeError {
    /// Returns the HTTP status to answer with.
    pub fn status(&self) -> u16 {
        match self {
            ExchangeError::Store(_) => 500,
            _ => 401,
        }
    }
}

/// The reason why no token could be made.
#[derive(Debug, Error)]
pub enum MintError {
    /// The system has no random numbers.
    #[error("no random bytes: {0}")]
    Random(String),
    /// The store failed.
    #[error("the token could not be stored")]
    Store(StoreError),
}

/// Makes a one-time token for an agent's run.
///
/// # Errors
///
/// Fails if the token could not be made or stored.
pub fn mint_bootstrap(
    store: &(impl BootstrapRecords + ?Sized),
    agent_id: &str,
    run_id: &str,
    now: Timestamp,
) -> Result<Secret, MintError> {
    let mut bytes = [0; TOKEN_BYTES];
    getrandom::fill(&mut bytes).map_err(|error| MintError::Random(error.to_string()))?;
    let token = format!("{TOKEN_PREFIX}{}", URL_SAFE_NO_PAD.encode(bytes));
    let record = BootstrapRecord {
        token_hash: hash(&token),
        agent_id: agent_id.to_owned(),
        run_id: run_id.to_owned(),
        expires_at_ms: now.plus(BOOTSTRAP_TTL).as_millis(),
    };
    store.add_bootstrap(&record, now).map_err(MintError::Store)?;
    Ok(Secret::new(token))
}

/// Exchanges a one-time token. The token is invalid afterwards, whatever the result.
///
/// # Errors
///
/// Fails if the token must be refused.
pub fn exchange(
    store: &(impl BootstrapRecords + ?Sized),
    key: &SigningKey,
    request: &ExchangeRequest,
    now: Timestamp,
) -> Result<ExchangeReply, ExchangeError> {
    let token = request.token.trim();
    if token.len() > TOKEN_TEXT_BYTES_MAX || !token.starts_with(TOKEN_PREFIX) {
        return Err(ExchangeError::Invalid);
    }
    let record = store
        .take_bootstrap(&hash(token))
        .map_err(ExchangeError::Store)?
        .ok_or(ExchangeError::Invalid)?;
    if now.as_millis() >= record.expires_at_ms {
        return Err(ExchangeError::Expired);
    }
    if request.run_id.as_ref().is_some_and(|run| *run != record.run_id) {
        return Err(ExchangeError::OtherRun);
    }
    Ok(reply(key, record, now))
}

fn reply(key: &SigningKey, record: BootstrapRecord, now: Timestamp) -> ExchangeReply {
    let now_sec = now.as_millis().div_euclid(1_000);
    let claims = Claims {
        iss: ISSUER.to_owned(),
        aud: AUDIENCE.to_owned(),
        sub: record.agent_id.clone(),
        run: record.run_id.clone(),
        scope: SCOPE_HAP.to_owned(),
        iat: now_sec,
        exp: now_sec.saturating_add_unsigned(RUN_TOKEN_TTL.as_secs()),
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

#[cfg(test)]
mod tests {
    use cueme_rules::Change;
    use cueme_store::{BatchId, Storage, Store};
    use cueme_store_sqlite::{SqliteStorage, Synchronous};

    use super::super::jwt::verify_token;
    use super::*;
    use crate::engine::Engine;

    const NOW: Timestamp = Timestamp::from_millis(1_790_000_000_000);

    fn storage(directory: &tempfile::TempDir) -> SqliteStorage {
        SqliteStorage::at(&directory.path().join("cueme.db"), Synchronous::Full)
    }

    /// Opens a store with agents, in a transaction.
    fn open(directory: &tempfile::TempDir) -> Box<dyn Store> {
        let store = storage(directory).open(true).unwrap();
        store.begin().unwrap();
        for agent in ["calm-otter", "a"] {
            let change = Change::AddAgent {
                agent: agent.parse().unwrap(),
                runtime: "cloud".parse().unwrap(),
                project_dir: String::new(),
                terminal: "unknown".to_owned(),
                session: None,
            };
            store.apply(NOW, &change).unwrap();
        }
        store
    }

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
        let directory = tempfile::tempdir().unwrap();
        let store = open(&directory);
        let token = mint_bootstrap(&*store, "calm-otter", "run-7", NOW).unwrap();
        let reply = exchange(
            &*store,
            &key(),
            &request(&token),
            NOW.plus(Duration::from_secs(1)),
        )
        .unwrap();
        let claims = verify_token(&key(), &reply.token, NOW.as_millis() / 1_000 + 2).unwrap();
        assert_eq!(
            (claims.sub.as_str(), claims.run.as_str(), claims.scope.as_str()),
            ("calm-otter", "run-7", "hap")
        );
        assert_eq!(claims.exp, NOW.as_millis() / 1_000 + 1 + 86_400);
    }

    #[test]
    fn bootstrap_exchange_expired_or_invalid_token() {
        let directory = tempfile::tempdir().unwrap();
        let store = open(&directory);
        let token = mint_bootstrap(&*store, "a", "r", NOW).unwrap();
        let late = NOW.plus(BOOTSTRAP_TTL);
        assert!(matches!(
            exchange(&*store, &key(), &request(&token), late),
            Err(ExchangeError::Expired)
        ));
        let again = exchange(&*store, &key(), &request(&token), NOW);
        assert!(
            matches!(again, Err(ExchangeError::Invalid)),
            "a token that was tried is gone"
        );
        for text in ["", "cmb_", "cmb_guess", "nonsense", &"cmb_x".repeat(100)] {
            let error = exchange(&*store, &key(), &request(&Secret::new(text)), NOW).unwrap_err();
            assert!(matches!(error, ExchangeError::Invalid));
            assert_eq!(error.status(), 401);
        }
    }

    #[test]
    fn a_token_is_good_once_and_for_its_own_run() {
        let directory = tempfile::tempdir().unwrap();
        let store = open(&directory);
        let token = mint_bootstrap(&*store, "a", "r", NOW).unwrap();
        assert!(exchange(&*store, &key(), &request(&token), NOW).is_ok());
        assert!(matches!(
            exchange(&*store, &key(), &request(&token), NOW),
            Err(ExchangeError::Invalid)
        ));
        let token = mint_bootstrap(&*store, "a", "r", NOW).unwrap();
        let elsewhere = ExchangeRequest {
            run_id: Some("other".to_owned()),
            ..request(&token)
        };
        assert!(matches!(
            exchange(&*store, &key(), &elsewhere, NOW),
            Err(ExchangeError::OtherRun)
        ));
    }

    #[test]
    fn the_store_never_sees_a_token_and_debug_never_shows_one() {
        let directory = tempfile::tempdir().unwrap();
        let store = open(&directory);
        let token = mint_bootstrap(&*store, "a", "r", NOW).unwrap();
        store.commit(BatchId(1)).unwrap();
        for file in std::fs::read_dir(directory.path()).unwrap() {
            let bytes = std::fs::read(file.unwrap().path()).unwrap();
            let secret = token.expose().as_bytes();
            assert!(!bytes.windows(secret.len()).any(|window| window == secret));
        }
        let shown = format!("{:?} {token:?}", request(&token));
        assert!(!shown.contains(token.expose()));
        store.begin().unwrap();
        let reply = exchange(&*store, &key(), &request(&token), NOW).unwrap();
        assert!(!format!("{reply:?} {:?}", key()).contains(&reply.token));
    }

    #[test]
    fn of_many_who_present_one_token_exactly_one_gets_in() {
        const TRIES: usize = 16;
        let directory = tempfile::tempdir().unwrap();
        let store = open(&directory);
        store.commit(BatchId(1)).unwrap();
        drop(store);
        let engine = Engine::start(Box::new(storage(&directory)), true).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let winners = runtime.block_on(async {
            let handle = engine.handle();
            let minted = handle.write(|store, now| Ok(mint_bootstrap(store, "a", "r", now).unwrap()));
            let token = minted.await.unwrap().unwrap();
            let tries = (0..TRIES).map(|_| {
                let request = request(&token);
                handle.write(move |store, now| Ok(exchange(store, &key(), &request, now).is_ok()))
            });
            let tries = futures_util::future::join_all(tries).await;
            tries
                .into_iter()
                .filter(|won| *won.as_ref().unwrap().as_ref().unwrap())
                .count()
        });
        engine.stop();
        assert_eq!(winners, 1);
    }
}
