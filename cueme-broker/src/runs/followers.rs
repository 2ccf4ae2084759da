//! Who drives which run right now.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cloud_settings::Secret;
use protocol_spec::id::RunId;
use protocol_spec::message::RunWoken;
use tokio::sync::{broadcast, mpsc};

/// How many wake-ups may wait for one follower; one that is behind looks anyway.
const WAKES_WAITING_MAX: usize = 16;
/// How many changes a listener may fall behind; each only says that there was one.
const CHANGES_KEPT: usize = 64;

/// Everybody who drives a run right now.
#[derive(Debug)]
pub(crate) struct Followers {
    known: Mutex<HashMap<u64, Follower>>,
    next: AtomicU64,
    changes: broadcast::Sender<()>,
}

#[derive(Debug)]
struct Follower {
    run: RunId,
    wake: mpsc::Sender<RunWoken>,
    secret: Option<Secret>,
}

/// One who drives a run; forgotten when it is dropped.
#[derive(Debug)]
pub(crate) struct Following {
    followers: Arc<Followers>,
    key: u64,
    pub(crate) wakes: mpsc::Receiver<RunWoken>,
}

impl Default for Followers {
    fn default() -> Self {
        Self {
            known: Mutex::default(),
            next: AtomicU64::new(0),
            changes: broadcast::channel(CHANGES_KEPT).0,
        }
    }
}

impl Followers {
    /// Notes somebody who drives a run. The first thing they hear is to look: what came before is not told again.
    pub(crate) fn follow(self: &Arc<Self>, run: RunId, secret: Option<Secret>) -> Following {
        let (wake, wakes) = mpsc::channel(WAKES_WAITING_MAX);
        let key = self.next.fetch_add(1, Ordering::Relaxed);
        // The channel is empty, so there is room.
        let _ = wake.try_send(RunWoken {
            run_id: run,
            stop: false,
        });
        self.lock().insert(key, Follower { run, wake, secret });
        self.announce();
        Following {
            followers: Arc::clone(self),
            key,
            wakes,
        }
    }

    /// Tells whoever drives a run to look again, or to stop it; returns whether anybody does.
    pub(crate) fn wake(&self, run: RunId, stop: bool) -> bool {
        let known = self.lock();
        let mut any = false;
        for follower in known.values().filter(|follower| follower.run == run) {
            any = true;
            // One whose channel is full has been told to look often enough; a wish to stop is repeated by the human.
            let _ = follower.wake.try_send(RunWoken { run_id: run, stop });
        }
        any
    }

    /// Says whether anybody drives a run.
    pub(crate) fn has(&self, run: RunId) -> bool {
        self.lock().values().any(|follower| follower.run == run)
    }

    /// Returns everything webhooks may be signed with at the moment, each once.
    pub(crate) fn secrets(&self) -> Vec<Secret> {
        let mut secrets: Vec<Secret> = Vec::new();
        for secret in self
            .lock()
            .values()
            .filter_map(|follower| follower.secret.as_ref())
        {
            if !secrets.contains(secret) {
                secrets.push(secret.clone());
            }
        }
        secrets
    }

    /// Hears of every change of any run.
    pub(crate) fn changes(&self) -> broadcast::Receiver<()> {
        self.changes.subscribe()
    }

    /// Tells that a run has changed.
    pub(crate) fn announce(&self) {
        // Nobody needs to listen.
        let _ = self.changes.send(());
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<u64, Follower>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Following {
    fn drop(&mut self) {
        self.followers.lock().remove(&self.key);
        self.followers.announce();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    #[tokio::test]
    async fn whoever_drives_a_run_is_told_to_look_and_is_forgotten_when_they_leave() {
        let followers = Arc::new(Followers::default());
        let run = RunId(Uuid::from_u128(1));
        assert!(!followers.wake(run, false), "nobody drives it yet");
        let mut following = followers.follow(run, Some(Secret::new("s")));
        assert_eq!(following.wakes.recv().await.map(|woken| woken.stop), Some(false));
        assert!(followers.wake(run, true) && followers.has(run));
        assert_eq!(following.wakes.recv().await.map(|woken| woken.stop), Some(true));
        assert_eq!(followers.secrets().len(), 1);
        drop(following);
        assert!(!followers.has(run) && followers.secrets().is_empty());
    }
}
