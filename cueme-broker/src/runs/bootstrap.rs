//! One-time tokens, and the tokens of runs they are exchanged for.

use crate::callback::{
    BOOTSTRAP_TTL, Claims, ExchangeError, ExchangeReply, ExchangeRequest, JwtError, MintError, SigningKey,
    exchange, mint_bootstrap, verify_token,
};
use protocol_spec::id::{AgentId, RunId};
use protocol_spec::message::{BootstrapMade, ErrorCode, Failure, MintBootstrap, RunEvent};
use protocol_spec::time::Timestamp;

use super::signing::signing_key;
use crate::broker::{Broker, wall_clock};
use crate::engine::storage_failure;
use crate::store::{Records, StoreError};

/// The reason why a one-time token is not exchanged.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// It is refused, for this reason.
    Token(String),
    /// The broker could not check it.
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

    /// Exchanges a one-time token for the token of its run. The token is invalid afterwards, whatever the result.
    pub(crate) async fn exchange(&self, request: ExchangeRequest) -> Result<ExchangeReply, Refusal> {
        let key = self.signing_key()?;
        let exchanged = self
            .keep(move |store, now| exchange_in(store, now, &key, &request))
            .await?;
        self.followers().announce();
        exchanged.map_err(Refusal::Token)
    }

    /// Checks the token of a run and returns its claims, for as long as that run goes on.
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

type Minted = Result<BootstrapMade, String>;

fn mint_in(store: &dyn Records, now: Timestamp, mint: &MintBootstrap) -> Result<Option<Minted>, StoreError> {
    if !store.has_agent(&mint.agent_id)? {
        return Ok(None);
    }
    let (agent, run) = (mint.agent_id.as_str(), mint.run_id.to_string());
    match mint_bootstrap(store, agent, &run, now) {
        Ok(token) => Ok(Some(Ok(BootstrapMade {
            token: token.expose().to_owned(),
            expires_at: now.plus(BOOTSTRAP_TTL),
        }))),
        Err(MintError::Store(error)) => Err(error),
        Err(error @ MintError::Random(_)) => Ok(Some(Err(error.to_string()))),
    }
}

/// A refusal does not fail the transaction, because the removal of the token has to be committed.
fn exchange_in(
    store: &dyn Records,
    now: Timestamp,
    key: &SigningKey,
    request: &ExchangeRequest,
) -> Result<Result<ExchangeReply, String>, StoreError> {
    match exchange(store, key, request, now) {
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
