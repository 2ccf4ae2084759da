//! The state that all requests share.

use std::net::SocketAddr;
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use axum::Router;
use protocol_spec::hex::hex;
use protocol_spec::id::RequestId;
use protocol_spec::message::Reply;
use protocol_spec::time::Timestamp;
use sha2::{Digest, Sha256};
use tokio::sync::watch;

use super::cursor::History;
use super::door::{Keys, PeerUsers, Site, Visitor};
use super::error::ApiError;
use super::page::Page;
use super::page_events::{PageEvents, beat, pass_on, pass_on_ends, pass_on_runs};
use super::settings::SettingsKeeper;
use super::{api, public};
use crate::attachments::prepare;
use crate::broker::{Broker, blocking, wall_clock};
use crate::engine::{Work, Write};
use crate::policy::read_rules;
use crate::store::{Reader, Records, StoreError, Token};

/// The page's side of the broker.
#[derive(Debug)]
pub(crate) struct Web {
    pub(super) broker: Arc<Broker>,
    pub(super) keys: Arc<Keys>,
    pub(super) page_events: Arc<PageEvents>,
    pub(super) site: Site,
    pub(super) peer_users: PeerUsers,
    pub(super) settings: SettingsKeeper,
    /// Serializes changes of the rules, so that none is lost between reading and writing.
    pub(super) rules: tokio::sync::Mutex<()>,
    /// Held while the configuration is changed.
    pub(super) configuring: tokio::sync::Mutex<()>,
    router: OnceLock<Router>,
    /// The router for agents elsewhere.
    public_router: OnceLock<Router>,
}

/// The debounce time after a change by another broker.
const FOREIGN_PAUSE: Duration = Duration::from_millis(500);

/// The shared reference of handlers.
pub(super) type Shared = Arc<Web>;

impl Web {
    /// Loads the page's state and begins to pass events on.
    pub(crate) fn open(broker: Arc<Broker>, address: SocketAddr) -> Result<Arc<Self>, StoreError> {
        prepare(broker.places())?;
        let keys = Arc::new(Keys::load(broker.engine().clone(), broker.shared_reader())?);
        let settings = SettingsKeeper::load(broker.reader())?;
        let page_events = Arc::new(PageEvents::new(History::read(broker.reader())?));
        tokio::spawn(pass_on(broker.engine().clone(), Arc::clone(&page_events)));
        tokio::spawn(beat(Arc::clone(&page_events)));
        tokio::spawn(pass_on_runs(
            Arc::clone(broker.followers()),
            Arc::clone(&page_events),
        ));
        tokio::spawn(pass_on_ends(
            Arc::clone(broker.followers()),
            Arc::clone(&page_events),
        ));
        let foreign_records = broker.engine().foreign_records();
        let web = Arc::new(Self {
            broker,
            keys,
            page_events,
            site: Site { address },
            peer_users: PeerUsers::new(),
            settings,
            rules: tokio::sync::Mutex::default(),
            configuring: tokio::sync::Mutex::default(),
            router: OnceLock::new(),
            public_router: OnceLock::new(),
        });
        tokio::spawn(follow_other_brokers(Arc::downgrade(&web), foreign_records));
        Ok(web)
    }

    /// Returns the broker.
    pub(crate) fn broker(&self) -> &Arc<Broker> {
        &self.broker
    }

    /// Returns the name of the cookie of a browser that signed in.
    ///
    /// Cookies ignore ports; the name keeps two brokers on one machine apart, and `peer_users` refuses other users, whose
    /// servers on other ports may get the cookie. Brokers that share a store may share a host name, and then take turns.
    pub(super) fn cookie_name(&self) -> String {
        use std::os::unix::ffi::OsStrExt;
        let digest = match self.keys.shared_identity() {
            Some(identity) => Sha256::digest(identity),
            None => Sha256::digest(self.broker.places().data_dir.as_os_str().as_bytes()),
        };
        format!("cueme_{}", hex(&digest[..4]))
    }

    /// Says whether a token is valid still.
    pub(crate) fn has_token(&self, token: &Token) -> bool {
        self.keys.token(&token.hash, wall_clock()).is_some()
    }

    /// Returns the page as the rest of the broker knows it.
    pub(crate) fn page(&self) -> Page {
        Page {
            keys: Arc::clone(&self.keys),
            page_events: Arc::clone(&self.page_events),
            site: self.site,
        }
    }

    /// Returns the router of the page and its API; built on first use.
    pub(super) fn router(self: &Arc<Self>) -> &Router {
        self.router.get_or_init(|| api::router(Arc::clone(self)))
    }

    /// Returns the router for agents elsewhere; built on first use.
    pub(super) fn public_router(self: &Arc<Self>) -> &Router {
        self.public_router
            .get_or_init(|| public::routes(Arc::clone(self)))
    }

    /// Reads beside the engine.
    pub(super) async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&dyn Reader) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, ApiError> {
        Ok(self.broker.read(read).await?)
    }

    /// Writes records outside the rules.
    pub(super) async fn write<T: Send + 'static>(
        &self,
        write: impl Fn(&dyn Records, Timestamp) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, ApiError> {
        Ok(self.broker.engine().write(write).await??)
    }

    /// Submits work to the engine and returns its one reply.
    pub(super) async fn order(
        &self,
        visitor: &Visitor,
        request: RequestId,
        work: Work,
    ) -> Result<Reply, ApiError> {
        self.order_after(visitor, None, request, work).await
    }

    /// The same with a write that runs before it, in the same commit.
    pub(super) async fn order_after(
        &self,
        visitor: &Visitor,
        write: Option<Write<'static>>,
        request: RequestId,
        work: Work,
    ) -> Result<Reply, ApiError> {
        let engine = self.broker.engine();
        Ok(engine.call(visitor.pass(), write, request, work).await??)
    }

    /// Returns the history of the store, and the newest event's number in it.
    pub(super) async fn history(&self) -> Result<(History, i64), ApiError> {
        self.read(|reader| Ok((History::read(reader)?, reader.newest_event()?)))
            .await
    }

    /// Returns the newest event's id.
    pub(super) async fn newest_event(&self) -> Result<i64, ApiError> {
        self.read(|reader| reader.newest_event()).await
    }
}

/// Updates the page's caches after changes by other brokers, so that access revoked at one of them is revoked at all.
async fn follow_other_brokers(web: Weak<Web>, mut changes: watch::Receiver<()>) {
    while changes.changed().await.is_ok() {
        let Some(web) = web.upgrade() else { return };
        let reading = Arc::clone(&web);
        let reloaded = blocking(move || {
            reading.keys.reload()?;
            reading.settings.reload(reading.broker.reader())?;
            reading
                .page_events
                .set_history(History::read(reading.broker.reader())?);
            reading.broker.set_rules(read_rules(reading.broker.reader())?);
            Ok(())
        });
        match reloaded.await {
            Ok(()) => web.page_events.resync(),
            Err(failure) => {
                tracing::warn!(%failure, "what another broker changed could not be read; trying again");
                changes.mark_changed();
            }
        }
        tokio::time::sleep(FOREIGN_PAUSE).await;
    }
}

/// Reports an unexpected reply of the engine, which is a defect.
pub(super) fn unexpected(reply: &Reply) -> ApiError {
    ApiError::new(
        axum::http::StatusCode::INTERNAL_SERVER_ERROR,
        "internal",
        format!("the engine replied \"{}\"", reply.name()),
    )
}
