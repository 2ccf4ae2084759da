//! Broadcasts events to open pages: each frame is encoded once and shared by all listeners.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use protocol_spec::id::{AgentId, CueId};
use protocol_spec::message::EventView;
use serde::Serialize;
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

use super::cursor::History;
use crate::engine::EngineHandle;
use crate::random::random_name;
use crate::runs::Followers;

/// The number of frames that a page may fall behind; a frame has about two hundred bytes.
const FRAMES_KEPT: usize = 1024;

/// The interval of the heartbeat that pages get, whether there are events or not.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// The debounce time after a change of a run.
const RUNS_PAUSE: Duration = Duration::from_millis(200);

/// The broadcaster of events to pages.
#[derive(Debug)]
pub(super) struct PageEvents {
    frames: broadcast::Sender<Frame>,
    boot: String,
    notices: AtomicU64,
    history: Mutex<History>,
}

/// One server-sent event, ready to be written.
#[derive(Debug, Clone)]
pub(super) struct Frame {
    /// Its place in the log, if it has one.
    pub(super) id: Option<i64>,
    /// The encoded event.
    pub(super) bytes: Bytes,
    /// Whether the access of each listener has to be checked again.
    pub(super) has_to_check: bool,
    /// Whether listeners start over, at the newest event.
    pub(super) is_restart: bool,
}

/// A change that is not in the log; only current listeners get it.
#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct Notice {
    what: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent_id: Option<AgentId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cue_id: Option<CueId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rev: Option<i64>,
}

impl Notice {
    pub(super) fn settings() -> Self {
        Self {
            what: "settings",
            ..Self::default()
        }
    }

    pub(super) fn policies() -> Self {
        Self {
            what: "policies",
            ..Self::default()
        }
    }

    pub(super) fn runs() -> Self {
        Self {
            what: "runs",
            ..Self::default()
        }
    }

    pub(super) fn agent(agent: AgentId) -> Self {
        Self {
            what: "agent",
            agent_id: Some(agent),
            ..Self::default()
        }
    }

    pub(super) fn devices() -> Self {
        Self {
            what: "devices",
            ..Self::default()
        }
    }

    pub(super) fn read(agent: AgentId) -> Self {
        Self {
            what: "read",
            agent_id: Some(agent),
            ..Self::default()
        }
    }

    pub(super) fn draft(agent_id: Option<AgentId>, cue_id: Option<CueId>, rev: i64) -> Self {
        Self {
            what: "draft",
            agent_id,
            cue_id,
            rev: Some(rev),
        }
    }
}

impl PageEvents {
    pub(super) fn new(history: History) -> Self {
        Self {
            frames: broadcast::channel(FRAMES_KEPT).0,
            boot: random_name(),
            notices: AtomicU64::new(0),
            history: Mutex::new(history),
        }
    }

    /// Subscribes from now on.
    pub(super) fn listen(&self) -> broadcast::Receiver<Frame> {
        self.frames.subscribe()
    }

    /// Returns the epoch of the notices that are not in the log; a different epoch means that a listener missed one.
    pub(super) fn epoch(&self) -> String {
        self.epoch_at(self.notices.load(Ordering::Acquire))
    }

    /// Broadcasts a notice to the current listeners.
    pub(super) fn notice(&self, notice: Notice) {
        #[derive(Serialize)]
        struct DeliveredOutcome {
            #[serde(flatten)]
            notice: Notice,
            epoch: String,
        }
        let epoch = self.epoch_at(self.count());
        let has_to_check = notice.what == "devices";
        self.broadcast(None, "notice", &DeliveredOutcome { notice, epoch }, has_to_check);
    }

    /// Sets the history that the next events belong to.
    pub(super) fn set_history(&self, history: History) {
        *self.history.lock().unwrap_or_else(PoisonError::into_inner) = history;
    }

    /// Makes all listeners reload everything, and follow from the newest event at that time.
    pub(super) fn resync(&self) {
        self.count();
        self.send(Frame {
            id: None,
            bytes: Bytes::new(),
            has_to_check: true,
            is_restart: true,
        });
    }

    /// Counts a notice that is not in the log.
    fn count(&self) -> u64 {
        self.notices.fetch_add(1, Ordering::AcqRel) + 1
    }

    fn epoch_at(&self, notices: u64) -> String {
        format!("{}-{notices}", self.boot)
    }

    fn broadcast(&self, id: Option<i64>, event: &str, data: &impl Serialize, has_to_check: bool) {
        if self.frames.receiver_count() == 0 {
            return;
        }
        let history = self
            .history
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        self.send(Frame {
            id,
            bytes: frame(id.map(|id| history.id_of(id)), event, data),
            has_to_check,
            is_restart: false,
        });
    }

    fn send(&self, frame: Frame) {
        // The last listener may have left just now.
        let _ = self.frames.send(frame);
    }
}

/// Passes on the engine's events, until the engine ends.
pub(super) async fn pass_on(engine: EngineHandle, page_events: Arc<PageEvents>) {
    let mut events = engine.events();
    loop {
        match events.recv().await {
            Ok(events) => {
                for event in &*events {
                    if event.id.is_none() {
                        page_events.count();
                    }
                    page_events.broadcast(event.id, event_name(event), event, false);
                }
            }
            Err(RecvError::Lagged(_)) => {
                // Each page fills the gap from the log itself.
                page_events.resync();
            }
            Err(RecvError::Closed) => return,
        }
    }
}

/// Announces that runs have changed, not more often than a page can reload them.
pub(super) async fn pass_on_runs(followers: Arc<Followers>, page_events: Arc<PageEvents>) {
    let mut changes = followers.changes();
    loop {
        match changes.recv().await {
            Ok(()) | Err(RecvError::Lagged(_)) => page_events.notice(Notice::runs()),
            Err(RecvError::Closed) => return,
        }
        tokio::time::sleep(RUNS_PAUSE).await;
        // All changes meanwhile are announced as one.
        while changes.len() > 1 && changes.try_recv().is_ok() {}
    }
}

/// Announces that the run of an agent has ended, which is not in the log.
pub(super) async fn pass_on_ends(followers: Arc<Followers>, page_events: Arc<PageEvents>) {
    let mut ends = followers.ends();
    loop {
        match ends.recv().await {
            Ok(agent) => page_events.notice(Notice::agent(agent)),
            Err(RecvError::Lagged(_)) => page_events.resync(),
            Err(RecvError::Closed) => return,
        }
    }
}

/// Sends a heartbeat to all listeners. One timer serves all, so that an event sets none.
pub(super) async fn beat(page_events: Arc<PageEvents>) {
    loop {
        tokio::time::sleep(HEARTBEAT).await;
        page_events.send(Frame {
            id: None,
            bytes: Bytes::from_static(b": alive\n\n"),
            has_to_check: true,
            is_restart: false,
        });
    }
}

/// Returns the name of the server-sent event for a kind of event.
pub(super) fn event_name(event: &EventView) -> &'static str {
    if event.id.is_some() { "change" } else { "presence" }
}

/// Encodes a server-sent event.
pub(super) fn frame(id: Option<String>, event: &str, data: &impl Serialize) -> Bytes {
    // The data is ours and always encodable; if it were not, the page would reload.
    let data = serde_json::to_string(data).unwrap_or_else(|_| "{}".to_owned());
    match id {
        Some(id) => format!("id: {id}\nevent: {event}\ndata: {data}\n\n"),
        None => format!("event: {event}\ndata: {data}\n\n"),
    }
    .into()
}
