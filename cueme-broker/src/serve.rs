//! The broker's life: from taking the lock to leaving everything in order.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use cueme_store_postgres::PostgresStorage;
use cueme_store_sqlite::{SCHEMA, SqliteStorage, Synchronous};
use notify::{RecursiveMode, Watcher};
use protocol_spec::endpoint::Places;
use protocol_spec::version;
use thiserror::Error;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::Notify;

use crate::broker::{Broker, StopReason, forget_when_old, leave_when_idle, while_leading};
use crate::chats::ChatReader;
use crate::config::{Config, Listen};
use crate::engine::Engine;
use crate::guide::Guide;
use crate::lifecycle::{self, CleanMark, LifecycleError, Lock, Record};
use crate::log;
use crate::place::{PlaceError, shared_store};
use crate::policy;
use crate::runs::{keep_leads, look_after_left_runs};
use crate::socket::{self, Listener};
use crate::store::{Storage, StoreError};
use crate::web::{self, Entrance, Web, WebListener};

/// How often the broker makes sure that its engine lives and that its directory is there.
const HEARTBEAT: Duration = Duration::from_secs(1);

/// How long a broker that ends says so to the probes of balancers, while others can take its place.
const DRAIN: Duration = Duration::from_secs(3);

/// How long the configuration must be left alone after a change before it is read.
const CONFIG_QUIET: Duration = Duration::from_millis(100);

/// How a broker is run.
#[derive(Debug, Clone)]
pub struct ServeOptions {
    /// Where everything is.
    pub places: Places,
    /// Whether a client started it, so that it logs to its file and leaves the client's session.
    pub is_background: bool,
    /// Reads the chats of runtimes.
    pub chats: Arc<dyn ChatReader>,
    /// Tells how runtimes are connected.
    pub guide: Guide,
}

/// Why the broker could not run.
#[derive(Debug, Error)]
pub enum ServeError {
    /// Another broker, or a directory that cannot be used.
    #[error(transparent)]
    Lifecycle(#[from] LifecycleError),
    /// It is not known where the state is.
    #[error(transparent)]
    Place(#[from] PlaceError),
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The socket, or the process itself.
    #[error("could not {doing} {}: {source}", path.display())]
    Io {
        /// What was being attempted.
        doing: &'static str,
        /// On what.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Somebody moved or deleted the data directory.
    #[error("the data directory {} was moved, deleted or replaced while the broker used it", data_dir.display())]
    Displaced {
        /// Where it was.
        data_dir: PathBuf,
    },
    /// A defect.
    #[error("the engine ended unexpectedly; the log says why")]
    EngineLost,
}

impl ServeError {
    /// Says what a person can do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Store(error) => error.hint(),
            Self::Lifecycle(LifecycleError::AlreadyRunning { .. }) => {
                Some("`cueme broker status` describes it, `cueme broker stop` ends it".into())
            }
            Self::Place(_) => {
                Some("the broker opens no other inbox meanwhile; mend it and run the command again".into())
            }
            Self::Lifecycle(_) | Self::Io { .. } | Self::Displaced { .. } | Self::EngineLost => None,
        }
    }
}

/// Runs a broker until it is asked to stop.
pub fn serve(options: &ServeOptions) -> Result<(), ServeError> {
    let places = &options.places;
    // Whatever this process creates, now or later, is nobody else's.
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o077));
    lifecycle::prepare(places)?;
    if options.is_background {
        // Fails only for a process that leads its group already, which then has no terminal to lose.
        let _ = rustix::process::setsid();
    }
    log::start(&places.log(), options.is_background).map_err(failed("open the log", &places.log()))?;
    let lock = Lock::take(places)?;
    let is_new = !places.database().exists();
    raise_descriptor_limit();
    let executable = std::env::current_exe().unwrap_or_default();
    let (mark, was_clean) = CleanMark::lift(places);
    let storage = storage(places)?;
    let (reader, location) = (storage.reader(), storage.location());
    let engine = Engine::start(storage, was_clean || is_new)?;
    Record {
        version: version::PROGRAM.into(),
        executable: executable.clone(),
        schema: SCHEMA,
    }
    .write(places)?;
    // One worker beside the engine's thread: nothing here computes for long, and a second one would only be woken to find
    // that there is nothing to steal.
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .map_err(failed("start the runtime of", &executable))?;
    let broker = Arc::new(Broker::new(
        places.clone(),
        engine.handle(),
        reader,
        location,
        executable,
        Arc::clone(&options.chats),
        options.guide,
    ));
    let reason = runtime.block_on(run(options, &broker, &engine, &lock));
    // Connections end here: clients notice, and wait at the next broker.
    runtime.shutdown_timeout(Duration::from_secs(2));
    let reason = reason?;
    tracing::info!(?reason, "the broker stops");
    if reason == StopReason::EngineLost {
        return Err(ServeError::EngineLost);
    }
    engine.stop();
    if reason == StopReason::Displaced {
        // Whatever is there now is not ours to mark as orderly.
        return Err(ServeError::Displaced {
            data_dir: places.data_dir.clone(),
        });
    }
    mark.set();
    drop(lock);
    Ok(())
}

/// Returns where the state is: in a file, unless the configuration names a database that brokers share.
fn storage(places: &Places) -> Result<Box<dyn Storage>, ServeError> {
    Ok(match shared_store(&places.config)? {
        None => Box::new(SqliteStorage::at(&places.database(), Synchronous::Full)),
        Some(url) => Box::new(PostgresStorage::at(url.expose())?),
    })
}

async fn run(
    options: &ServeOptions,
    broker: &Arc<Broker>,
    engine: &Engine,
    lock: &Lock,
) -> Result<StopReason, ServeError> {
    let places = &options.places;
    let listener = Listener::bind(&places.socket()).map_err(failed("listen on", &places.socket()))?;
    let listener = Arc::new(listener);
    load_config(broker, &places.config).await;
    let _watcher = watch_config(broker, &places.config);
    let page = serve_page(broker).await;
    let _public = serve_public(broker, page.as_ref()).await;
    tokio::spawn(while_leading(Arc::clone(broker), policy::watch));
    tokio::spawn(while_leading(Arc::clone(broker), crate::notify::watch));
    tokio::spawn(while_leading(Arc::clone(broker), forget_when_old));
    tokio::spawn(leave_when_idle(Arc::clone(broker)));
    // Who drives a run is known to the broker that its driver speaks to, and to no other.
    if !broker.engine().is_shared() {
        tokio::spawn(look_after_left_runs(Arc::clone(broker)));
    }
    tokio::spawn(keep_leads(Arc::clone(broker)));
    tracing::info!(version = version::PROGRAM, socket = %places.socket().display(), "the broker is ready");
    say_ready(places, options.is_background);
    let mut terminate =
        signal(SignalKind::terminate()).map_err(failed("handle signals for", &places.socket()))?;
    let mut interrupt =
        signal(SignalKind::interrupt()).map_err(failed("handle signals for", &places.socket()))?;
    // A task of its own, because this one runs beside the worker: a connection would pass from thread to thread.
    let mut accepting = tokio::spawn(socket::accept(Arc::clone(&listener), Arc::clone(broker)));
    let reason = tokio::select! {
        biased;
        reason = broker.stopped() => reason,
        () = drained(broker, &mut terminate) => StopReason::Signal,
        _ = interrupt.recv() => StopReason::Signal,
        () = engine_lost(engine) => StopReason::EngineLost,
        () = displaced(lock) => StopReason::Displaced,
        _ = &mut accepting => StopReason::EngineLost,
    };
    // Nobody is let in any more, not even while the reply to whoever asked is on its way.
    accepting.abort();
    tokio::time::sleep(Duration::from_millis(20)).await;
    // The socket goes away with the listener.
    drop(listener);
    Ok(reason)
}

/// Waits for the signal to end; where others share the inbox, balancers get time to send new calls to them first.
async fn drained(broker: &Broker, terminate: &mut Signal) {
    terminate.recv().await;
    if broker.engine().is_shared() {
        broker.drain();
        tracing::info!("new calls go to other brokers from now on");
        tokio::time::sleep(DRAIN).await;
    }
}

/// Serves the page; without it the broker still does everything else.
async fn serve_page(broker: &Arc<Broker>) -> Option<Arc<Web>> {
    let wanted = match listen_at(broker) {
        Listen::Off => return None,
        Listen::Here => None,
        Listen::At(address) => Some(address),
    };
    let listener = WebListener::bind(broker.places(), wanted)
        .await
        .inspect_err(|error| tracing::error!(%error, ?wanted, "the page cannot be served"))
        .ok()?;
    let web = Web::open(Arc::clone(broker), listener.address())
        .inspect_err(|error| tracing::error!(%error, "the page cannot be served"))
        .ok()?;
    let page = web.page();
    tracing::info!(url = page.local_url(), "the page is served");
    broker.set_page(page);
    tokio::spawn(web::accept(listener, Arc::clone(&web), Entrance::Page));
    Some(web)
}

/// Serves agents elsewhere, if the configuration says so; the page has no part in it.
async fn serve_public(broker: &Arc<Broker>, page: Option<&Arc<Web>>) -> Option<Arc<Web>> {
    let address = broker.config().public_listen?;
    let listener = WebListener::bind_public(address)
        .await
        .inspect_err(|error| tracing::error!(%error, %address, "agents elsewhere cannot be served"))
        .ok()?;
    let web = match page {
        Some(page) => Arc::clone(page),
        None => Web::open(Arc::clone(broker), listener.address())
            .inspect_err(|error| tracing::error!(%error, "agents elsewhere cannot be served"))
            .ok()?,
    };
    broker.set_public(listener.address());
    tracing::info!(address = %listener.address(), "agents elsewhere are served");
    tokio::spawn(web::accept(listener, Arc::clone(&web), Entrance::Public));
    Some(web)
}

/// The environment comes before the configuration, so that one start can differ.
fn listen_at(broker: &Broker) -> Listen {
    let variable = std::env::var("CUEME_LISTEN")
        .ok()
        .filter(|text| !text.trim().is_empty());
    match variable.as_deref().map(|text| (text, Listen::parse(text))) {
        Some((_, Some(listen))) => listen,
        Some((text, None)) => {
            tracing::error!(text, "CUEME_LISTEN is not an address; the configuration is used");
            broker.config().listen
        }
        None => broker.config().listen,
    }
}

async fn engine_lost(engine: &Engine) {
    while !engine.is_finished() {
        tokio::time::sleep(HEARTBEAT).await;
    }
}

/// Waits until the data directory is not where it was: whoever waits here would never be answered.
async fn displaced(lock: &Lock) {
    while lock.is_in_place() {
        tokio::time::sleep(HEARTBEAT).await;
    }
}

/// Tells whoever started the broker that it accepts connections.
fn say_ready(places: &Places, is_background: bool) {
    let mut stdout = io::stdout();
    // Whoever started us may be gone; then there is nobody to tell.
    let _ = writeln!(stdout, "ready socket={}", places.socket().display()).and_then(|()| stdout.flush());
    if is_background && let Ok(null) = std::fs::OpenOptions::new().write(true).open("/dev/null") {
        // The starter waits for the end of our output, not only for the line.
        let _ = rustix::stdio::dup2_stdout(&null);
    }
}

async fn load_config(broker: &Broker, path: &Path) {
    let loaded = Config::load(path);
    if let Err(error) = &loaded {
        tracing::error!(%error, "the configuration is not used; the last good one stays in force");
    }
    let reminder = loaded
        .as_ref()
        .ok()
        .map(|config| config.reminder.as_deref().map(Arc::from));
    broker.set_config(loaded.map_err(|error| error.to_string()));
    if let Some(reminder) = reminder {
        // A stopping engine needs no reminder.
        let _ = broker
            .engine()
            .look(move |core| core.set_reminder(reminder))
            .await;
    }
}

/// Reads the configuration again whenever it changes. Editors replace files, so the directory is watched.
fn watch_config(broker: &Arc<Broker>, path: &Path) -> Option<notify::RecommendedWatcher> {
    let directory = path.parent()?.to_owned();
    if !directory.exists() {
        return None;
    }
    let changed = Arc::new(Notify::new());
    tokio::spawn(reload_when_changed(
        Arc::clone(broker),
        path.to_owned(),
        Arc::clone(&changed),
    ));
    let watched = path.to_owned();
    let handle = move |event: notify::Result<notify::Event>| {
        let Ok(event) = event else { return };
        let is_change = !matches!(event.kind, notify::EventKind::Access(_));
        if is_change
            && event
                .paths
                .iter()
                .any(|changed| changed.file_name() == watched.file_name())
        {
            changed.notify_one();
        }
    };
    let watcher = notify::recommended_watcher(handle).and_then(|mut watcher| {
        watcher
            .watch(&directory, RecursiveMode::NonRecursive)
            .map(|()| watcher)
    });
    watcher
        .inspect_err(
            |error| tracing::warn!(%error, "the configuration is not watched; changes need a restart"),
        )
        .ok()
}

/// Reads the configuration once it has been left alone for a moment.
///
/// A file is often emptied first and written then, and an empty one is valid: read in between, it would put the
/// defaults in the place of the last good configuration.
async fn reload_when_changed(broker: Arc<Broker>, path: PathBuf, changed: Arc<Notify>) {
    loop {
        changed.notified().await;
        while tokio::time::timeout(CONFIG_QUIET, changed.notified())
            .await
            .is_ok()
        {}
        load_config(&broker, &path).await;
    }
}

/// Thousands of agents may wait at once; each needs a descriptor.
fn raise_descriptor_limit() {
    use rustix::process::{Resource, getrlimit, setrlimit};
    /// macOS names no maximum, and refuses to set more than its `OPEN_MAX`.
    const MACOS_OPEN_MAX: u64 = 10_240;
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = if cfg!(target_os = "macos") {
        limit
            .maximum
            .or(Some(MACOS_OPEN_MAX))
            .map(|most| most.min(MACOS_OPEN_MAX))
    } else {
        limit.maximum
    };
    if let Err(error) = setrlimit(Resource::Nofile, limit) {
        tracing::warn!(%error, "could not raise the limit of open files");
    }
}

fn failed<'a>(doing: &'static str, path: &'a Path) -> impl Fn(io::Error) -> ServeError + use<'a> {
    let path = path.to_owned();
    move |source| ServeError::Io {
        doing,
        path: path.clone(),
        source,
    }
}
