//! One-time tokens, and the tokens of runs they are exchanged for.

use crate::callback::{
    BOOTSTRAP_TTL, BootstrapStore, Claims, ExchangeError, ExchangeReply, ExchangeRequest, JwtError,
    MintError, SigningKey, exchange, mint_bootstrap, verify_token,
};
use protocol_spec::id::{AgentId, RunId};
use protocol_spec::message::{BootstrapMade, ErrorCode, Failure, MintBootstrap, RunEvent};
use protocol_spec::time::Timestamp;

use super::signing::signing_key;
use crate::broker::{Broker, wall_clock};
use crate::engine::storage_failure;
use crate::store::{BootstrapRecord, Records, StoreError};

/// Why a one-time token is not exchanged.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// It must be refused; says why.
    Token(String),
    /// The broker cannot say.
    Failure(Failure),
}

impl From<Failure> for Refusal {
    fn from(failure: Failure) -> Self {
        Self::Failure(failure)
    }
}

impl Broker {
    /// Makes a one-time token for an agent's run.
    pub(crate) async fn mint_bootstrap(&self, mint: MintBootstrap) -> Result<BootstrapMade, Failure> {
        if !self.is_public() {
            return Err(Failure::new(
                ErrorCode::NotFound,
                "this broker cannot be reached by agents elsewhere",
            )
            .with_hint("set `public_listen` in the configuration, and restart the broker"));
        }
        let agent = mint.agent_id.clone();
        let minted = self
            .keep(move |store, now| mint_in(store, now, &mint))
            .await?
            .ok_or_else(|| Failure::new(ErrorCode::UnknownAgent, format!("no agent {agent} has joined")))?;
        minted.map_err(|reason| Failure::new(ErrorCode::Internal, reason))
    }

    /// Exchanges a one-time token for the token of its run. Whatever the outcome, it is worth nothing afterwards.
    pub(crate) async fn exchange(&self, request: ExchangeRequest) -> Result<ExchangeReply, Refusal> {
        let key = self.signing_key()?;
        let exchanged = self
            .keep(move |store, now| exchange_in(store, now, &key, &request))
            .await?;
        self.followers().announce();
        exchanged.map_err(Refusal::Token)
    }

    /// Checks the token of a run and returns whom it is for, for as long as that run goes on.
    pub(crate) fn claims_of(&self, token: &str) -> Result<Claims, JwtError> {
        let key = self.signing_key().map_err(|_| JwtError::Invalid)?;
        verify_token(&key, token, wall_clock().as_millis().div_euclid(1_000))
    }

    /// Says whether a run goes on, and is this agent's.
    pub(crate) fn is_run_open(&self, run: &str, agent: &AgentId) -> Result<bool, StoreError> {
        let Ok(run) = run.parse::<RunId>() else {
            return Ok(false);
        };
        let row = self.reader().one_run(run)?;
        Ok(row.is_some_and(|row| row.run.end.is_none() && row.run.agent_id.as_ref() == Some(agent)))
    }

    fn signing_key(&self) -> Result<SigningKey, Failure> {
        if let Some(key) = self.key_cell().get() {
            return Ok(key.clone());
        }
        let key = signing_key(&self.places().data_dir).map_err(|error| storage_failure(&error))?;
        Ok(self.key_cell().get_or_init(|| key).clone())
    }
}

/// The one-time tokens of a store, as the exchange sees them.
struct Bootstraps<'a> {
    store: &'a dyn Records,
    now: Timestamp,
}

impl BootstrapStore for Bootstraps<'_> {
    type Error = StoreError;

    fn insert(&self, record: &BootstrapRecord) -> Result<(), StoreError> {
        self.store.add_bootstrap(record, self.now)
    }

    fn take(&self, token_hash: &[u8; 32]) -> Result<Option<BootstrapRecord>, StoreError> {
        self.store.take_bootstrap(token_hash)
    }
}

type Minted = Result<BootstrapMade, String>;

fn mint_in(store: &dyn Records, now: Timestamp, mint: &MintBootstrap) -> Result<Option<Minted>, StoreError> {
    if !store.has_agent(&mint.agent_id)? {
        return Ok(None);
    }
    let bootstraps = Bootstraps { store, now };
    let (agent, run) = (mint.agent_id.as_str(), mint.run_id.to_string());
    match mint_bootstrap(&bootstraps, agent, &run, now.as_millis()) {
        Ok(token) => {
            let life = i64::try_from(BOOTSTRAP_TTL.as_millis()).unwrap_or(i64::MAX);
            Ok(Some(Ok(BootstrapMade {
                token: token.expose().to_owned(),
                expires_at: Timestamp::from_millis(now.as_millis().saturating_add(life)),
            })))
        }
        Err(MintError::Store(error)) => Err(error),
        Err(error @ MintError::Random(_)) => Ok(Some(Err(error.to_string()))),
    }
}

/// A refusal is no failure of the transaction: that the token is gone has to stay.
fn exchange_in(
    store: &dyn Records,
    now: Timestamp,
    key: &SigningKey,
    request: &ExchangeRequest,
) -> Result<Result<ExchangeReply, String>, StoreError> {
    match exchange(&Bootstraps { store, now }, key, request, now.as_millis()) {
        Ok(reply) => {
            if let Ok(run) = reply.run_id.parse() {
                let event = RunEvent {
                    at: now,
                    what: "exchange".to_owned(),
                    text: "the agent can ask from where it runs".to_owned(),
                };
                store.note_run_event(run, &event)?;
            }
            Ok(Ok(reply))
        }
        Err(ExchangeError::Store(error)) => Err(error),
        Err(error) => Ok(Err(error.to_string())),
    }
}
