//! The state that all connections share: the engine, the reader, the configuration and the stop signal.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use protocol_spec::endpoint::Places;
use protocol_spec::id::RequestId;
use protocol_spec::message::{ErrorCode, Failure, Retire, Status};
use protocol_spec::time::Timestamp;
use protocol_spec::version;
use semver::Version;
use tokio::sync::watch;
use uuid::Uuid;

use crate::callback::SigningKey;
use crate::chats::ChatReader;
use crate::config::Config;
use crate::engine::{EngineError, EngineHandle, Work, storage_failure};
use crate::guide::Guide;
use crate::lifecycle::Record;
use crate::notify::PushSender;
use crate::policy::{Policy, StoredRule, read_rules};
use crate::runs::{Followers, Probes};
use crate::store::{Reader, StoreError};
use crate::web::Page;

/// The reason why the broker stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StopReason {
    /// A person asked for it.
    Asked,
    /// A newer broker takes over.
    Retired,
    /// A signal.
    Signal,
    /// It was idle for too long.
    Idle,
    /// The data directory is not there any more, or is another one.
    Displaced,
    /// The engine ended by itself, which is a defect.
    EngineLost,
}

/// The state that all connections share.
#[derive(Debug)]
pub(crate) struct Broker {
    places: Places,
    uid: u32,
    engine: EngineHandle,
    reader: Arc<dyn Reader>,
    /// The location of the state, for messages to people.
    location: PathBuf,
    /// The program it runs, and the schema of its state.
    record: Record,
    chats: Arc<dyn ChatReader>,
    guide: Guide,
    started_at: Timestamp,
    started: Instant,
    config: Mutex<ConfigState>,
    config_changes: watch::Sender<()>,
    /// Rules that humans made in the page.
    rules: Mutex<Arc<Vec<StoredRule>>>,
    stop: watch::Sender<Option<StopReason>>,
    is_draining: AtomicBool,
    /// The page, once it is served.
    page: OnceLock<Page>,
    /// The address of the listener for agents elsewhere, if there is one.
    public: OnceLock<SocketAddr>,
    push: PushSender,
    probes: Probes,
    followers: Arc<Followers>,
    signing_key: OnceLock<SigningKey>,
    connections: AtomicUsize,
    /// When the last connection was closed, in milliseconds after `started`.
    last_used_ms: AtomicU64,
}

#[derive(Debug, Default)]
struct ConfigState {
    config: Arc<Config>,
    error: Option<String>,
}

impl Broker {
    pub(crate) fn new(
        places: Places,
        engine: EngineHandle,
        reader: Arc<dyn Reader>,
        location: PathBuf,
        record: Record,
        chats: Arc<dyn ChatReader>,
        guide: Guide,
    ) -> Self {
        let rules = read_rules(&*reader).unwrap_or_else(|error| {
            tracing::warn!(%error, "the rules of the page could not be read");
            Vec::new()
        });
        Self {
            reader,
            location,
            places,
            uid: rustix::process::getuid().as_raw(),
            engine,
            record,
            chats,
            guide,
            started_at: wall_clock(),
            started: Instant::now(),
            config: Mutex::default(),
            config_changes: watch::channel(()).0,
            rules: Mutex::new(Arc::new(rules)),
            stop: watch::channel(None).0,
            is_draining: AtomicBool::new(false),
            page: OnceLock::new(),
            public: OnceLock::new(),
            push: PushSender::default(),
            probes: Probes::default(),
            followers: Arc::default(),
            signing_key: OnceLock::new(),
            connections: AtomicUsize::new(0),
            last_used_ms: AtomicU64::new(0),
        }
    }

    /// Returns the engine.
    pub(crate) fn engine(&self) -> &EngineHandle {
        &self.engine
    }

    /// Returns the reader.
    pub(crate) fn reader(&self) -> &dyn Reader {
        &*self.reader
    }

    /// Returns the reader, to be kept.
    pub(crate) fn shared_reader(&self) -> Arc<dyn Reader> {
        Arc::clone(&self.reader)
    }

    /// Reads beside the engine, outside of the async tasks.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&dyn Reader) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, Failure> {
        let reader = self.shared_reader();
        blocking(move || read(&*reader)).await
    }

    /// Returns where everything is.
    pub(crate) fn places(&self) -> &Places {
        &self.places
    }

    /// Returns the program it runs.
    pub(crate) fn executable(&self) -> &std::path::Path {
        &self.record.executable
    }

    /// Returns the source of the instructions to connect runtimes.
    pub(crate) fn guide(&self) -> Guide {
        self.guide
    }

    /// Returns the reader of runtimes' chats.
    pub(crate) fn chats(&self) -> &Arc<dyn ChatReader> {
        &self.chats
    }

    /// Returns when the broker started.
    pub(crate) fn started(&self) -> Instant {
        self.started
    }

    /// Returns the drivers of runs.
    pub(crate) fn followers(&self) -> &Arc<Followers> {
        &self.followers
    }

    /// Returns where the key of runs' tokens is kept once it was read.
    pub(crate) fn key_cell(&self) -> &OnceLock<SigningKey> {
        &self.signing_key
    }

    /// Stores the address of the listener for agents elsewhere.
    pub(crate) fn set_public(&self, address: SocketAddr) {
        // There is one such listener for the life of a broker.
        let _ = self.public.set(address);
    }

    /// Returns the address of the listener for agents elsewhere.
    pub(crate) fn public_address(&self) -> Option<SocketAddr> {
        self.public.get().copied()
    }

    /// Returns the sender of pushes to devices.
    pub(crate) fn push(&self) -> &PushSender {
        &self.push
    }

    /// Returns the probes of addresses.
    pub(crate) fn probes(&self) -> &Probes {
        &self.probes
    }

    /// Submits work of the broker itself to the engine, and waits until it is done.
    pub(crate) async fn submit(&self, work: Work) -> Result<(), Failure> {
        let called = self
            .engine
            .call(None, None, RequestId(Uuid::now_v7()), work)
            .await;
        called?.map(drop)
    }

    /// Says whether agents elsewhere can reach the broker.
    pub(crate) fn is_public(&self) -> bool {
        self.public.get().is_some()
    }

    /// Registers the page.
    pub(crate) fn set_page(&self, page: Page) {
        // There is one page for the life of a broker.
        let _ = self.page.set(page);
    }

    /// Returns the page, if it is served.
    pub(crate) fn page(&self) -> Result<&Page, Failure> {
        self.page.get().ok_or_else(|| {
            Failure::new(ErrorCode::NotFound, "this broker serves no page")
                .with_hint("remove `listen = \"off\"` from the configuration, or see its log for why it could not listen")
        })
    }

    /// Returns the address of the page for humans.
    pub(crate) fn page_url(&self) -> Option<String> {
        Some(self.page.get()?.url(&self.config().web))
    }

    /// Returns the user the broker runs as, the only one it serves.
    pub(crate) fn uid(&self) -> u32 {
        self.uid
    }

    /// Returns the configuration in force.
    pub(crate) fn config(&self) -> Arc<Config> {
        let state = self.config.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&state.config)
    }

    /// Applies a configuration, or keeps the last good one and stores the error.
    pub(crate) fn set_config(&self, loaded: Result<Config, String>) {
        let mut state = self.config.lock().unwrap_or_else(PoisonError::into_inner);
        match loaded {
            Ok(config) => {
                *state = ConfigState {
                    config: Arc::new(config),
                    error: None,
                };
                self.config_changes.send_replace(());
            }
            Err(error) => state.error = Some(error),
        }
    }

    /// Returns the rules that humans made in the page.
    pub(crate) fn rules(&self) -> Arc<Vec<StoredRule>> {
        Arc::clone(&self.rules.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Replaces the rules that humans made in the page, once they are stored.
    pub(crate) fn set_rules(&self, rules: Vec<StoredRule>) {
        *self.rules.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(rules);
    }

    /// Says whether there is any rule.
    pub(crate) fn has_policies(&self) -> bool {
        !self.config().policy.is_empty() || !self.rules().is_empty()
    }

    /// Returns all rules in the order they are tried: those of the configuration, and so its caution, come before those
    /// made in the page.
    pub(crate) fn policies(&self) -> Vec<Policy> {
        let stored = self.rules();
        let made = stored.iter().map(|rule| rule.policy.clone());
        self.config().policy.iter().cloned().chain(made).collect()
    }

    /// Announces that humans changed their notification settings.
    pub(crate) fn telling_changed(&self) {
        self.config_changes.send_replace(());
    }

    /// Follows changes of the configuration.
    pub(crate) fn config_changes(&self) -> watch::Receiver<()> {
        self.config_changes.subscribe()
    }

    /// Makes probes answer from now on that new calls should go elsewhere.
    pub(crate) fn drain(&self) {
        self.is_draining.store(true, Ordering::Relaxed);
    }

    /// Says whether new calls should go elsewhere.
    pub(crate) fn is_draining(&self) -> bool {
        self.is_draining.load(Ordering::Relaxed)
    }

    /// Asks the broker to stop; the first reason counts.
    pub(crate) fn stop(&self, reason: StopReason) {
        self.stop.send_if_modified(|current| {
            let is_first = current.is_none();
            if is_first {
                *current = Some(reason);
            }
            is_first
        });
    }

    /// Waits until the broker is asked to stop.
    pub(crate) async fn stopped(&self) -> StopReason {
        let mut stop = self.stop.subscribe();
        match stop.wait_for(Option::is_some).await.map(|reason| *reason) {
            Ok(Some(reason)) => reason,
            Ok(None) | Err(_) => StopReason::EngineLost,
        }
    }

    /// Retires in favour of a newer broker: records its executable, so that clients start that one next.
    pub(crate) fn retire(&self, retire: &Retire) -> Result<(), Failure> {
        let ours = Version::parse(version::PROGRAM).ok();
        let theirs = Version::parse(&retire.version).ok();
        if theirs <= ours {
            return Err(Failure::new(
                ErrorCode::Forbidden,
                format!(
                    "version {} is not newer than this broker's {}",
                    retire.version,
                    version::PROGRAM
                ),
            ));
        }
        let record = Record {
            version: retire.version.clone(),
            executable: PathBuf::from(&retire.executable),
            schema: self.record.schema,
        };
        record
            .write(&self.places)
            .map_err(|error| Failure::new(ErrorCode::Storage, error.to_string()))
    }

    /// Describes the broker.
    pub(crate) async fn status(&self) -> Result<Status, EngineError> {
        let counts = self.engine.run_on_engine(|core| core.machine().counts()).await?;
        Ok(Status {
            running: true,
            pid: std::process::id(),
            version: version::PROGRAM.to_owned(),
            protocol: version::PROTOCOL,
            socket: self.places.socket().display().to_string(),
            database: self.location.display().to_string(),
            executable: self.record.executable.display().to_string(),
            started_at: self.started_at,
            open_cues: counts.open,
            waiting: counts.waiting,
            undelivered: counts.undelivered,
            agents: counts.agents,
            web: self.page.get().map(Page::local_url),
            storage_error: self.engine.trouble(),
            config_error: self
                .config
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .error
                .clone(),
        })
    }

    pub(crate) fn connection_opened(&self) {
        self.connections.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn connection_closed(&self) {
        let used = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.last_used_ms.store(used, Ordering::Relaxed);
        self.connections.fetch_sub(1, Ordering::Relaxed);
    }

    /// Returns for how long no client has been connected; zero while one is.
    pub(crate) fn idle_for(&self) -> Duration {
        if self.connections.load(Ordering::Relaxed) > 0 {
            return Duration::ZERO;
        }
        let last_used = Duration::from_millis(self.last_used_ms.load(Ordering::Relaxed));
        self.started.elapsed().saturating_sub(last_used)
    }
}

/// Runs a blocking function outside of the async tasks.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
) -> Result<T, Failure> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result.map_err(|error| storage_failure(&error)),
        Err(error) => Err(Failure::new(ErrorCode::Internal, error.to_string())),
    }
}

pub(crate) fn wall_clock() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}
