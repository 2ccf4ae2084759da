//! The broker's life cycle: from taking the lock to an orderly shutdown.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use cueme_store_copy::back_up;
use cueme_store_postgres::PostgresStorage;
use cueme_store_sqlite::{SqliteStorage, Synchronous};
use notify::{RecursiveMode, Watcher};
use protocol_spec::endpoint::Places;
use protocol_spec::version;
use thiserror::Error;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::Notify;

use crate::broker::{Broker, StopReason};
use crate::chats::ChatReader;
use crate::config::{Config, Listen};
use crate::engine::Engine;
use crate::guide::Guide;
use crate::lifecycle::{self, CleanMark, LifecycleError, Lock, Record};
use crate::log;
use crate::maintenance::{forget_when_old, leave_when_idle, while_leading};
use crate::place::{PlaceError, shared_store};
use crate::policy;
use crate::runs::{keep_leads, watch_orphaned_runs};
use crate::socket::{self, Listener};
use crate::store::{Storage, StoreError};
use crate::web::{self, Entrance, Web, WebListener};

/// The interval of checking that the engine and the directory still exist.
const HEARTBEAT: Duration = Duration::from_secs(1);

/// The time that a stopping broker fails the probes of balancers, while others can take over.
const DRAIN: Duration = Duration::from_secs(3);

/// The time without a change before the configuration is read.
const CONFIG_QUIET: Duration = Duration::from_millis(100);

/// The options of a broker.
#[derive(Debug, Clone)]
pub struct ServeOptions {
    /// The paths of the installation.
    pub places: Places,
    /// Whether a client started it, so that it logs to its file and leaves the client's session.
    pub is_background: bool,
    /// Reads the chats of runtimes.
    pub chats: Arc<dyn ChatReader>,
    /// Tells how runtimes are connected.
    pub guide: Guide,
}

/// The reason why the broker could not run.
#[derive(Debug, Error)]
pub enum ServeError {
    /// Another broker, or a directory that cannot be used.
    #[error(transparent)]
    Lifecycle(#[from] LifecycleError),
    /// The location of the state is unknown.
    #[error(transparent)]
    Place(#[from] PlaceError),
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The socket, or the process itself.
    #[error("could not {doing} {}: {source}", path.display())]
    Io {
        /// The attempted operation.
        doing: &'static str,
        /// The path.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The data directory was moved or deleted.
    #[error("the data directory {} was moved, deleted or replaced while the broker used it", data_dir.display())]
    Displaced {
        /// Its path.
        data_dir: PathBuf,
    },
    /// A defect.
    #[error("the engine ended unexpectedly")]
    EngineLost,
}

impl ServeError {
    /// Returns the remedy for the user.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Store(error) => error.hint(),
            Self::Lifecycle(LifecycleError::AlreadyRunning { .. }) => {
                Some("`cueme broker status` describes it, `cueme broker stop` ends it".into())
            }
            Self::Place(_) => Some(
                "correct it, then run the command again; until then, the broker opens no other inbox".into(),
            ),
            Self::EngineLost => Some("`cueme broker logs` shows why".into()),
            Self::Lifecycle(_) | Self::Io { .. } | Self::Displaced { .. } => None,
        }
    }
}

/// Runs a broker until it is asked to stop.
pub fn serve(options: &ServeOptions) -> Result<(), ServeError> {
    let places = &options.places;
    // All files that this process creates, now or later, are private to its user.
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
    let (reader, location, schema) = (storage.reader(), storage.location(), storage.schema());
    let engine = Engine::start(storage, was_clean || is_new)?;
    let record = Record {
        version: version::PROGRAM.into(),
        executable: executable.clone(),
        schema,
    };
    record.write(places)?;
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
        record,
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
        // The files there now belong to another broker, so they get no mark of an orderly stop.
        return Err(ServeError::Displaced {
            data_dir: places.data_dir.clone(),
        });
    }
    mark.set();
    drop(lock);
    Ok(())
}

/// Returns the location of the state: a file, unless the configuration names a database that brokers share.
fn storage(places: &Places) -> Result<Box<dyn Storage>, ServeError> {
    Ok(match shared_store(&places.config)? {
        None => Box::new(SqliteStorage::at(&places.database(), Synchronous::Full)),
        Some(url) => Box::new(PostgresStorage::at(url.expose(), back_up)?.instead_of(places.database())),
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
    if broker.engine().is_shared() {
        tokio::spawn(crate::attachments::sweep(Arc::clone(broker)));
    } else {
        // Only the broker that a driver is connected to knows that it drives a run.
        tokio::spawn(watch_orphaned_runs(Arc::clone(broker)));
    }
    tokio::spawn(keep_leads(Arc::clone(broker)));
    tracing::info!(version = version::PROGRAM, socket = %places.socket().display(), "the broker is ready");
    say_ready(places, options.is_background);
    let mut terminate =
        signal(SignalKind::terminate()).map_err(failed("handle signals for", &places.socket()))?;
    let mut interrupt =
        signal(SignalKind::interrupt()).map_err(failed("handle signals for", &places.socket()))?;
    // A separate task, because this one does not run on the worker: a connection would move between threads.
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
    // Accepts no new connections, not even while the reply to the stop request is being written.
    accepting.abort();
    tokio::time::sleep(Duration::from_millis(20)).await;
    // The listener removes the socket when it is dropped.
    drop(listener);
    Ok(reason)
}

/// Waits for the stop signal; with shared brokers, balancers get time to route new calls to the others first.
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

/// Serves agents elsewhere, if the configuration says so; independent of the page.
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

/// The environment overrides the configuration, so that a single start can differ.
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

/// Waits until the data directory was moved or replaced: clients of this broker would never get an answer.
async fn displaced(lock: &Lock) {
    while lock.is_in_place() {
        tokio::time::sleep(HEARTBEAT).await;
    }
}

/// Tells the process that started the broker that it accepts connections.
fn say_ready(places: &Places, is_background: bool) {
    let mut stdout = io::stdout();
    // A write error is ignored: the process that started this one may be gone.
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
            .run_on_engine(move |core| core.set_reminder(reminder))
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
