//! All credentials: signed-in devices, programs' tokens, one-time links.
//!
//! The database is authoritative; a copy in memory answers each request. Both change together, here. On a shared store, another
//! broker may have changed the database, so a key that the copy does not have is looked up there.

use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::{Duration, Instant};

use protocol_spec::id::AgentId;
use protocol_spec::message::{ErrorCode, Failure, TokenScope};
use protocol_spec::time::Timestamp;

use super::failures::Failures;
use super::refresh::Refresh;
use super::secret::Secret;
use crate::broker::blocking;
use crate::engine::{EngineHandle, storage_failure};
use crate::notify::setting_name;
use crate::random::random_name;
use crate::store::{Device, Reader, Records, StoreError, Token, TokenHash};

/// The lifetime of a link.
const LINK_LIFE: Duration = Duration::from_secs(10 * 60);
/// The most devices that may be signed in.
const DEVICES_MAX: usize = 256;
/// The most tokens.
const TOKENS_MAX: usize = 1024;
/// The precision of the times when a device was last seen and a token last used, in milliseconds.
const SEEN_EVERY_MS: u64 = 60_000;
/// The longest name of a device or token.
const NAME_BYTES_MAX: usize = 200;
/// The shortest and the longest life of a token that expires.
const TOKEN_LIFE: RangeInclusive<Duration> =
    Duration::from_secs(60)..=Duration::from_secs(10 * 366 * 24 * 3600);

/// All credentials.
#[derive(Debug)]
pub(in crate::web) struct Keys {
    engine: EngineHandle,
    reader: Arc<dyn Reader>,
    devices: RwLock<HashMap<TokenHash, Device>>,
    tokens: RwLock<HashMap<TokenHash, Token>>,
    /// The identity of the shared store; it changes when a backup is restored.
    identity: RwLock<Option<String>>,
    refresh: Refresh,
    /// Counts the changes made here, so that a copy that was read before one is not put in place after it.
    changes: AtomicU64,
    failures: Failures,
}

impl Keys {
    /// Loads all credentials.
    pub(in crate::web) fn load(engine: EngineHandle, reader: Arc<dyn Reader>) -> Result<Self, StoreError> {
        let keys = Self {
            engine,
            reader,
            devices: RwLock::default(),
            tokens: RwLock::default(),
            identity: RwLock::default(),
            refresh: Refresh::default(),
            changes: AtomicU64::new(0),
            failures: Failures::default(),
        };
        keys.reload()?;
        Ok(keys)
    }

    /// Reloads the credentials that other brokers may have changed.
    pub(in crate::web) fn reload(&self) -> Result<(), StoreError> {
        let identity = self.reader.shared_identity()?;
        *self.identity.write().unwrap_or_else(PoisonError::into_inner) = identity;
        loop {
            let changes = self.changes.load(Ordering::Acquire);
            let read_devices = self.reader.devices()?.into_iter();
            let read_devices = read_devices.map(|device| (device.hash, device));
            let read_tokens = self.reader.tokens()?.into_iter().map(|token| (token.hash, token));
            let (mut devices, mut tokens) = (self.write_devices(), self.write_tokens());
            if self.changes.load(Ordering::Acquire) == changes {
                *devices = read_devices.collect();
                *tokens = read_tokens.collect();
                return Ok(());
            }
        }
    }

    /// Makes the copy in memory as new as this call: another broker may have made or revoked credentials.
    ///
    /// Calls at the same time share a reload, so that wrong keys cannot keep the store busy.
    pub(in crate::web) async fn refresh(self: &Arc<Self>) -> Result<(), Failure> {
        if !self.engine.is_shared() {
            return Ok(());
        }
        let reload = || {
            let keys = Arc::clone(self);
            blocking(move || keys.reload())
        };
        self.refresh.run(reload).await
    }

    /// Returns the identity of the shared store, if it is one.
    pub(in crate::web) fn shared_identity(&self) -> Option<String> {
        let identity = self.identity.read().unwrap_or_else(PoisonError::into_inner);
        identity.clone()
    }

    /// Makes a link's token.
    pub(in crate::web) async fn make_link(
        &self,
        name: Option<String>,
    ) -> Result<(Secret, Timestamp), Failure> {
        check_name(name.as_deref())?;
        let secret = Secret::draw();
        let hash = secret.hash();
        let expires_at = self
            .write(move |store, now| {
                let expires_at = now.plus(LINK_LIFE);
                store.add_link(&hash, name.as_deref(), expires_at)?;
                Ok(expires_at)
            })
            .await?;
        Ok((secret, expires_at))
    }

    /// Uses a link up and signs a device in; returns the content of its cookie, or nothing when the link is invalid.
    pub(in crate::web) async fn sign_in(
        &self,
        link: &Secret,
        browser: String,
    ) -> Result<Option<Secret>, Failure> {
        let cookie = Secret::draw();
        let (link, hash) = (link.hash(), cookie.hash());
        let is_full = self.read_devices().len() >= DEVICES_MAX;
        let device = self
            .write(move |store, now| {
                let Some(name) = store.use_link(&link, now)? else {
                    return Ok(None);
                };
                let device = Device {
                    device_id: random_name(),
                    hash,
                    name: name.unwrap_or_else(|| browser.clone()),
                    created_at: now,
                    seen_at: now,
                };
                if !is_full {
                    store.add_device(&device)?;
                }
                Ok(Some(device))
            })
            .await?;
        let Some(device) = device else { return Ok(None) };
        if is_full {
            return Err(
                Failure::new(ErrorCode::Busy, format!("{DEVICES_MAX} devices are signed in"))
                    .with_hint("revoke one on the page"),
            );
        }
        self.change_devices().insert(hash, device);
        Ok(Some(cookie))
    }

    /// Uses a link up without signing a device in; returns whether it was valid.
    pub(in crate::web) async fn use_link_up(&self, link: &Secret) -> Result<bool, Failure> {
        let hash = link.hash();
        self.write(move |store, now| Ok(store.use_link(&hash, now)?.is_some()))
            .await
    }

    /// Finds the device with this cookie, also one that has just signed in at another broker.
    pub(super) async fn find_device(
        self: &Arc<Self>,
        hash: &TokenHash,
        now: Timestamp,
    ) -> Result<Option<Device>, Failure> {
        if !self.read_devices().contains_key(hash) {
            self.refresh().await?;
        }
        Ok(self.device(hash, now))
    }

    /// Looks a token up that another broker may have made just now.
    pub(super) async fn learn_token(self: &Arc<Self>, hash: &TokenHash) -> Result<(), Failure> {
        if self.read_tokens().contains_key(hash) {
            return Ok(());
        }
        self.refresh().await
    }

    /// Finds the device with this cookie, and records that it was seen.
    pub(in crate::web) fn device(&self, hash: &TokenHash, now: Timestamp) -> Option<Device> {
        let device = self.read_devices().get(hash).cloned()?;
        if now.millis_since(device.seen_at) >= SEEN_EVERY_MS {
            if let Some(known) = self.write_devices().get_mut(hash) {
                known.seen_at = now;
            }
            let (engine, device_id) = (self.engine.clone(), device.device_id.clone());
            tokio::spawn(async move {
                // A failure to store when a device was last seen is ignored.
                let _ = engine
                    .write_even_if_full(move |store, now| store.touch_device(&device_id, now))
                    .await;
            });
        }
        Some(device)
    }

    /// Finds a token that has not expired, and records that it was used.
    pub(in crate::web) fn token(&self, hash: &TokenHash, now: Timestamp) -> Option<Token> {
        let token = self.read_tokens().get(hash).cloned()?;
        if token.has_expired(now) {
            return None;
        }
        // The first minute counts as its making, so that one command that makes and uses a token writes once.
        if now.millis_since(token.used_at.unwrap_or(token.created_at)) >= SEEN_EVERY_MS {
            if let Some(known) = self.write_tokens().get_mut(hash) {
                known.used_at = Some(now);
            }
            let (engine, token_id) = (self.engine.clone(), token.token_id.clone());
            tokio::spawn(async move {
                // When a token was last used is worth no error.
                let _ = engine
                    .write_even_if_full(move |store, _| store.touch_token(&token_id, now))
                    .await;
            });
        }
        Some(token)
    }

    /// Says whether this is a token that has expired.
    pub(in crate::web) fn has_expired(&self, hash: &TokenHash, now: Timestamp) -> bool {
        self.read_tokens()
            .get(hash)
            .is_some_and(|token| token.has_expired(now))
    }

    /// Lists the devices, the first to sign in first.
    pub(in crate::web) fn devices(&self) -> Vec<Device> {
        let mut devices: Vec<Device> = self.read_devices().values().cloned().collect();
        devices.sort_by(|a, b| (a.created_at, &a.device_id).cmp(&(b.created_at, &b.device_id)));
        devices
    }

    /// Lists the tokens, the oldest first.
    pub(in crate::web) fn tokens(&self) -> Vec<Token> {
        let mut tokens: Vec<Token> = self.read_tokens().values().cloned().collect();
        tokens.sort_by(|a, b| (a.created_at, &a.token_id).cmp(&(b.created_at, &b.token_id)));
        tokens
    }

    /// Names a device; returns it, if there is such a device.
    pub(in crate::web) async fn rename_device(
        &self,
        device_id: &str,
        name: String,
    ) -> Result<Option<Device>, Failure> {
        check_name(Some(&name))?;
        let Some(hash) = self.hash_of_device(device_id) else {
            return Ok(None);
        };
        let (id, new_name) = (device_id.to_owned(), name.clone());
        self.write(move |store, _| store.rename_device(&id, &new_name))
            .await?;
        let mut devices = self.change_devices();
        Ok(devices.get_mut(&hash).map(|device| {
            device.name = name;
            device.clone()
        }))
    }

    /// Revokes a device's access; returns whether there was one.
    pub(in crate::web) async fn revoke_device(&self, device_id: &str) -> Result<bool, Failure> {
        let Some(hash) = self.hash_of_device(device_id) else {
            return Ok(false);
        };
        let id = device_id.to_owned();
        // Its push subscription ends with it.
        self.write(move |store, _| {
            store.drop_device(&id)?;
            store.set(&setting_name(&id), "null")
        })
        .await?;
        Ok(self.change_devices().remove(&hash).is_some())
    }

    /// Makes a token.
    pub(in crate::web) async fn mint(
        &self,
        scope: TokenScope,
        agent: Option<AgentId>,
        name: Option<String>,
        life: Option<Duration>,
    ) -> Result<(Token, Secret), Failure> {
        check_name(name.as_deref())?;
        if life.is_some_and(|life| !TOKEN_LIFE.contains(&life)) {
            return Err(Failure::new(
                ErrorCode::BadRequest,
                "a token expires after a minute at the earliest and ten years at the latest",
            ));
        }
        if (scope == TokenScope::Agent) != agent.is_some() {
            return Err(Failure::new(
                ErrorCode::BadRequest,
                "scope `agent` needs an agent; other scopes refuse one",
            ));
        }
        if self.tokens().len() >= TOKENS_MAX {
            return Err(
                Failure::new(ErrorCode::Busy, format!("there are {TOKENS_MAX} tokens already"))
                    .with_hint("revoke some on the page"),
            );
        }
        let secret = Secret::draw();
        let hash = secret.hash();
        let token = self
            .write(move |store, now| {
                let token = Token {
                    token_id: random_name(),
                    hash,
                    scope,
                    agent: agent.clone(),
                    name: name.clone(),
                    created_at: now,
                    expires_at: life.map(|life| now.plus(life)),
                    used_at: None,
                };
                store.add_token(&token)?;
                Ok(token)
            })
            .await?;
        self.change_tokens().insert(hash, token.clone());
        Ok((token, secret))
    }

    /// Revokes a token; returns whether there was one.
    pub(in crate::web) async fn revoke_token(&self, token_id: &str) -> Result<bool, Failure> {
        let Some(token) = self.tokens().into_iter().find(|token| token.token_id == token_id) else {
            return Ok(false);
        };
        let id = token.token_id;
        self.write(move |store, _| store.drop_token(&id)).await?;
        Ok(self.change_tokens().remove(&token.hash).is_some())
    }

    /// Counts a wrong token; returns the seconds to wait, when there were too many.
    pub(super) fn count_failure(&self, address: std::net::IpAddr) -> Option<u32> {
        self.failures.count(address, Instant::now())
    }

    fn hash_of_device(&self, device_id: &str) -> Option<TokenHash> {
        let devices = self.read_devices();
        devices
            .values()
            .find(|device| device.device_id == device_id)
            .map(|device| device.hash)
    }

    async fn write<T: Send + 'static>(
        &self,
        write: impl Fn(&dyn Records, Timestamp) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, Failure> {
        self.engine
            .write_even_if_full(write)
            .await
            .map_err(|error| Failure::new(ErrorCode::Busy, error.to_string()))?
            .map_err(|error| storage_failure(&error))
    }

    fn read_devices(&self) -> RwLockReadGuard<'_, HashMap<TokenHash, Device>> {
        self.devices.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write_devices(&self) -> RwLockWriteGuard<'_, HashMap<TokenHash, Device>> {
        self.devices.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn read_tokens(&self) -> RwLockReadGuard<'_, HashMap<TokenHash, Token>> {
        self.tokens.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write_tokens(&self) -> RwLockWriteGuard<'_, HashMap<TokenHash, Token>> {
        self.tokens.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// The same after a change that is in the database.
    fn change_devices(&self) -> RwLockWriteGuard<'_, HashMap<TokenHash, Device>> {
        let devices = self.write_devices();
        self.changes.fetch_add(1, Ordering::AcqRel);
        devices
    }

    fn change_tokens(&self) -> RwLockWriteGuard<'_, HashMap<TokenHash, Token>> {
        let tokens = self.write_tokens();
        self.changes.fetch_add(1, Ordering::AcqRel);
        tokens
    }
}

/// Names are shown as authors of answers, so none may look like one of the broker's own.
fn check_name(name: Option<&str>) -> Result<(), Failure> {
    let Some(name) = name else { return Ok(()) };
    let problem = if name.trim().is_empty() {
        "the name is empty"
    } else if name.len() > NAME_BYTES_MAX {
        "the name is too long"
    } else if name.trim().starts_with(crate::store::POLICY_PREFIX) || name.chars().any(char::is_control) {
        "the name cannot be used"
    } else {
        return Ok(());
    };
    Err(Failure::new(ErrorCode::BadRequest, problem))
}
