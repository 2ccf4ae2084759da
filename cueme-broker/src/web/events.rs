//! The stream of events: missed ones first, then new ones, without a gap between them.

use std::collections::VecDeque;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use bytes::{Bytes, BytesMut};
use futures_util::stream;
use protocol_spec::version;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};

use super::cursor::{Cursor, History};
use super::door::{Visitor, Who};
use super::error::ApiError;
use super::extract::Asked;
use super::page_events::{Frame, event_name, frame};
use super::state::{Shared, Web};
use crate::broker::wall_clock;

/// The past events that are read at once.
const PAGE: u32 = 500;
/// The most missed events that are sent one by one; beyond that, reloading the state is cheaper.
const CATCH_UP_MAX: i64 = 5000;
/// The bytes of events in one write.
const CHUNK_BYTES: usize = 16 * 1024;

/// The position to begin at.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct EventsQuery {
    /// Begin after this event, for programs that cannot send `Last-Event-ID`.
    #[schemars(with = "Option<String>", regex(pattern = r"^[0-9]+(-[0-9a-f]{8})?$"))]
    after: Option<Cursor>,
}

/// Streams events.
pub(super) async fn events(
    State(web): State<Shared>,
    visitor: Visitor,
    headers: HeaderMap,
    Asked(query): Asked<EventsQuery>,
) -> Result<Response, ApiError> {
    let last_seen = headers
        .get("last-event-id")
        .and_then(|id| id.to_str().ok()?.trim().parse().ok());
    let after: Option<Cursor> = last_seen.or(query.after);
    if after.as_ref().is_some_and(|after| after.event < 0) {
        return Err(ApiError::bad_request(
            "events are counted from 1; 0 is before all",
        ));
    }
    let listener = Listener {
        // The subscription begins before the past is read, so that nothing falls in between.
        live: web.page_events.listen(),
        web,
        visitor,
        last: 0,
        history: History::default(),
        phase: Phase::Begin { after },
        ready: VecDeque::new(),
        has_missed: false,
        has_to_check: false,
    };
    let body = Body::from_stream(stream::unfold(listener, |mut listener| async {
        listener
            .next()
            .await
            .map(|bytes| (Ok::<_, std::io::Error>(bytes), listener))
    }));
    let mut response = body.into_response();
    response.headers_mut().insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("text/event-stream"),
    );
    // Proxies must not buffer events.
    response
        .headers_mut()
        .insert("x-accel-buffering", HeaderValue::from_static("no"));
    Ok(response)
}

/// One listening page. It is polled for bytes only when the last ones were taken, so it queues nothing itself.
struct Listener {
    web: Arc<Web>,
    visitor: Visitor,
    live: Receiver<Frame>,
    /// The newest event of the log that was sent.
    last: i64,
    /// The history of the events that are sent.
    history: History,
    phase: Phase,
    ready: VecDeque<Bytes>,
    /// Whether events were lost because this page was too slow.
    has_missed: bool,
    /// Whether the visitor's access may have been revoked.
    has_to_check: bool,
}

enum Phase {
    Begin { after: Option<Cursor> },
    Past,
    Live,
}

impl Listener {
    /// Returns the next bytes, or `None` when the stream ends.
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if let Some(bytes) = self.ready.pop_front() {
                return Some(bytes);
            }
            match &mut self.phase {
                Phase::Begin { after } => {
                    let after = after.take();
                    self.begin(after).await?;
                }
                Phase::Past => self.read_past().await?,
                Phase::Live => return self.live().await,
            }
        }
    }

    async fn begin(&mut self, after: Option<Cursor>) -> Option<()> {
        let (history, newest) = self.web.history().await.ok()?;
        let is_known = after.as_ref().is_none_or(|after| history.has(after));
        self.history = history;
        self.ready.push_back(Bytes::from_static(b"retry: 1000\n\n"));
        match after.map(|after| after.event) {
            Some(after) if is_known && after <= newest && newest - after <= CATCH_UP_MAX => {
                self.last = after;
                self.phase = Phase::Past;
            }
            // An id of another history, or beyond the newest, belongs to a database that was replaced.
            Some(_) => {
                self.last = newest;
                self.resync(newest);
                self.be_ready();
            }
            None => {
                self.last = newest;
                self.be_ready();
            }
        }
        Some(())
    }

    async fn read_past(&mut self) -> Option<()> {
        let last = self.last;
        let page = self
            .web
            .read(move |reader| reader.events_after(last, PAGE))
            .await
            .ok()?;
        if page.is_empty() {
            self.be_ready();
            return Some(());
        }
        let mut bytes = BytesMut::new();
        for event in &page {
            bytes.extend_from_slice(&frame(
                event.id.map(|id| self.history.id_of(id)),
                event_name(event),
                event,
            ));
            self.last = event.id.unwrap_or(self.last);
        }
        self.ready.push_back(bytes.freeze());
        Some(())
    }

    async fn live(&mut self) -> Option<Bytes> {
        loop {
            if std::mem::take(&mut self.has_to_check) && !self.is_welcome() {
                return None;
            }
            if std::mem::take(&mut self.has_missed) {
                return self.start_over().await;
            }
            let frame = match self.live.recv().await {
                Ok(frame) => frame,
                Err(RecvError::Closed) => return None,
                Err(RecvError::Lagged(_)) => return self.start_over().await,
            };
            if let Some(first) = self.take(frame) {
                return Some(self.gather(first));
            }
        }
    }

    /// Adds all pending frames, so that many events cost one write.
    fn gather(&mut self, first: Bytes) -> Bytes {
        if self.live.is_empty() {
            return first;
        }
        let mut bytes = BytesMut::from(first);
        while bytes.len() < CHUNK_BYTES {
            match self.live.try_recv() {
                Ok(frame) => bytes.extend(self.take(frame)),
                Err(TryRecvError::Lagged(_)) => {
                    self.has_missed = true;
                    break;
                }
                Err(TryRecvError::Empty | TryRecvError::Closed) => break,
            }
        }
        bytes.freeze()
    }

    /// Returns the new part of a frame; events of the log that were sent from the past are skipped.
    fn take(&mut self, frame: Frame) -> Option<Bytes> {
        self.has_to_check |= frame.has_to_check;
        // The ids that were sent may belong to a database that was replaced.
        self.has_missed |= frame.is_restart;
        match frame.id {
            _ if frame.is_restart => None,
            Some(id) if id <= self.last => None,
            Some(id) => {
                self.last = id;
                Some(frame.bytes)
            }
            None => Some(frame.bytes),
        }
    }

    async fn start_over(&mut self) -> Option<Bytes> {
        self.live = self.web.page_events.listen();
        let (history, newest) = self.web.history().await.ok()?;
        (self.history, self.last) = (history, newest);
        self.resync(newest);
        self.ready.pop_front()
    }

    fn resync(&mut self, newest: i64) {
        self.ready.push_back(frame(
            Some(self.history.id_of(newest)),
            "resync",
            &json!({ "newest": newest }),
        ));
    }

    fn be_ready(&mut self) {
        let ready = json!({ "newest": self.last, "epoch": self.web.page_events.epoch(), "version": version::PROGRAM });
        let id = self.history.id_of(self.last);
        self.ready.push_back(frame(Some(id), "ready", &ready));
        self.phase = Phase::Live;
    }

    /// Says whether the visitor still has access.
    fn is_welcome(&self) -> bool {
        match &self.visitor.0 {
            Who::Device(device) => self.web.keys.device(&device.hash, wall_clock()).is_some(),
            Who::Human(token) | Who::Agent(token) => self.web.has_token(token),
            // A run's token does not open the events.
            Who::Run(_) => false,
        }
    }
}
