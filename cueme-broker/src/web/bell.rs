//! Tells open pages what happened: one frame is written once and shared by everyone who listens.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use protocol_spec::id::{AgentId, CueId};
use protocol_spec::message::EventView;
use serde::Serialize;
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

use super::door::random_name;
use crate::engine::EngineHandle;
use crate::runs::Followers;

/// How many frames a page may fall behind; a frame has about two hundred bytes.
const FRAMES_KEPT: usize = 1024;

/// How often pages are told that the line is alive, whether there are events or not.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// How long pages are left alone after a change of a run.
const RUNS_PAUSE: Duration = Duration::from_millis(200);

/// What pages are told.
#[derive(Debug)]
pub(super) struct Bell {
    frames: broadcast::Sender<Frame>,
    boot: String,
    notices: AtomicU64,
}

/// One server-sent event, ready to be written.
#[derive(Debug, Clone)]
pub(super) struct Frame {
    /// Its place in the log, if it has one.
    pub(super) id: Option<i64>,
    /// The event as it is written.
    pub(super) bytes: Bytes,
    /// Whether whoever listens may have been locked out and has to be looked at again.
    pub(super) has_to_check: bool,
    /// Whether whoever listens starts over, at the newest event that there is now.
    pub(super) is_restart: bool,
}

/// Something that changed beside the log: it is told to those who listen now, and nobody else.
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

impl Bell {
    pub(super) fn new() -> Self {
        Self {
            frames: broadcast::channel(FRAMES_KEPT).0,
            boot: random_name(),
            notices: AtomicU64::new(0),
        }
    }

    /// Listens from now on.
    pub(super) fn listen(&self) -> broadcast::Receiver<Frame> {
        self.frames.subscribe()
    }

    /// Names everything that was told so far and is not in the log; another name means that something was missed.
    pub(super) fn epoch(&self) -> String {
        self.epoch_at(self.notices.load(Ordering::Acquire))
    }

    /// Tells everyone who listens now.
    pub(super) fn notice(&self, notice: Notice) {
        #[derive(Serialize)]
        struct Told {
            #[serde(flatten)]
            notice: Notice,
            epoch: String,
        }
        let epoch = self.epoch_at(self.count());
        let has_to_check = notice.what == "devices";
        self.ring(None, "notice", &Told { notice, epoch }, has_to_check);
    }

    /// Has everyone who listens read everything anew, and follow from the newest event that there is then.
    pub(super) fn resync(&self) {
        self.count();
        self.send(Frame {
            id: None,
            bytes: Bytes::new(),
            has_to_check: true,
            is_restart: true,
        });
    }

    /// Counts something that is not in the log.
    fn count(&self) -> u64 {
        self.notices.fetch_add(1, Ordering::AcqRel) + 1
    }

    fn epoch_at(&self, notices: u64) -> String {
        format!("{}-{notices}", self.boot)
    }

    fn ring(&self, id: Option<i64>, event: &str, data: &impl Serialize, has_to_check: bool) {
        if self.frames.receiver_count() == 0 {
            return;
        }
        self.send(Frame {
            id,
            bytes: frame(id, event, data),
            has_to_check,
            is_restart: false,
        });
    }

    fn send(&self, frame: Frame) {
        // The last one who listened may have left just now.
        let _ = self.frames.send(frame);
    }
}

/// Passes on what the engine says, for as long as it speaks.
pub(super) async fn pass_on(engine: EngineHandle, bell: Arc<Bell>) {
    let mut events = engine.events();
    loop {
        match events.recv().await {
            Ok(events) => {
                for event in &*events {
                    if event.id.is_none() {
                        bell.count();
                    }
                    bell.ring(event.id, event_name(event), event, false);
                }
            }
            Err(RecvError::Lagged(_)) => {
                // Filling the gap from the log is up to each page.
                bell.resync();
            }
            Err(RecvError::Closed) => return,
        }
    }
}

/// Tells that runs have changed, and not more often than a page can read them anew.
pub(super) async fn pass_on_runs(followers: Arc<Followers>, bell: Arc<Bell>) {
    let mut changes = followers.changes();
    loop {
        match changes.recv().await {
            Ok(()) | Err(RecvError::Lagged(_)) => bell.notice(Notice::runs()),
            Err(RecvError::Closed) => return,
        }
        tokio::time::sleep(RUNS_PAUSE).await;
        // Whatever happened meanwhile is one more change, not many.
        while changes.len() > 1 && changes.try_recv().is_ok() {}
    }
}

/// Tells that an agent whose run has ended does not work any more, which is not in the log.
pub(super) async fn pass_on_ends(followers: Arc<Followers>, bell: Arc<Bell>) {
    let mut ends = followers.ends();
    loop {
        match ends.recv().await {
            Ok(agent) => bell.notice(Notice::agent(agent)),
            Err(RecvError::Lagged(_)) => bell.resync(),
            Err(RecvError::Closed) => return,
        }
    }
}

/// Shows everyone who listens that the line is alive. One clock does it for all, so that telling an event sets none.
pub(super) async fn beat(bell: Arc<Bell>) {
    loop {
        tokio::time::sleep(HEARTBEAT).await;
        bell.send(Frame {
            id: None,
            bytes: Bytes::from_static(b": alive\n\n"),
            has_to_check: true,
            is_restart: false,
        });
    }
}

/// Returns the name of the server-sent event that tells this.
pub(super) fn event_name(event: &EventView) -> &'static str {
    if event.id.is_some() { "change" } else { "presence" }
}

/// Writes a server-sent event.
pub(super) fn frame(id: Option<i64>, event: &str, data: &impl Serialize) -> Bytes {
    // The data is ours and has no maps with odd keys; if it cannot be written the page learns to read anew.
    let data = serde_json::to_string(data).unwrap_or_else(|_| "{}".to_owned());
    match id {
        Some(id) => format!("id: {id}\nevent: {event}\ndata: {data}\n\n"),
        None => format!("event: {event}\ndata: {data}\n\n"),
    }
    .into()
}
