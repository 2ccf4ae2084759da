//! Wakes and ends the wait for a run.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tokio::sync::{Notify, watch};

/// Knows who waits for which agent, so that a webhook can wake them.
#[derive(Debug, Clone, Default)]
pub struct RunSignals {
    waiting: Arc<Mutex<HashMap<String, Weak<Notify>>>>,
}

impl RunSignals {
    /// Wakes the waiter of this agent. Returns whether there was one.
    pub fn wake(&self, agent_id: &str) -> bool {
        let waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        match waiting.get(agent_id).and_then(Weak::upgrade) {
            Some(notify) => {
                // The permit is kept if nobody is waiting at this very moment.
                notify.notify_one();
                true
            }
            None => false,
        }
    }

    /// Wakes all waiters, for a caller that knows only that something changed.
    pub fn wake_all(&self) {
        let waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting
            .values()
            .filter_map(Weak::upgrade)
            .for_each(|notify| notify.notify_one());
    }

    /// Starts to wait for an agent.
    pub fn listen(&self, agent_id: &str) -> RunSignal {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.retain(|_, notify| notify.strong_count() > 0);
        let notify = waiting.get(agent_id).and_then(Weak::upgrade).unwrap_or_default();
        waiting.insert(agent_id.to_owned(), Arc::downgrade(&notify));
        RunSignal { notify }
    }
}

/// The wait for one agent.
#[derive(Debug)]
pub struct RunSignal {
    notify: Arc<Notify>,
}

impl RunSignal {
    /// Waits until someone calls [`RunSignals::wake`].
    pub async fn woken(&self) {
        self.notify.notified().await;
    }
}

/// Ends a run from outside.
#[derive(Debug, Clone)]
pub struct CancelHandle {
    sender: Arc<watch::Sender<bool>>,
}

/// Tells a run that it was ended from outside.
#[derive(Debug, Clone)]
pub struct Cancellation {
    receiver: watch::Receiver<bool>,
}

/// Makes both ends of a cancellation. Dropping the handle cancels nothing.
pub fn cancellation() -> (CancelHandle, Cancellation) {
    let (sender, receiver) = watch::channel(false);
    (
        CancelHandle {
            sender: Arc::new(sender),
        },
        Cancellation { receiver },
    )
}

impl CancelHandle {
    /// Ends the run. May be called any number of times.
    pub fn cancel(&self) {
        self.sender.send_replace(true);
    }
}

impl Cancellation {
    /// Waits until the run is cancelled, which may be never.
    pub async fn cancelled(&self) {
        let mut receiver = self.receiver.clone();
        if receiver.wait_for(|is_cancelled| *is_cancelled).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::Future;
    use std::pin::pin;
    use std::task::{Context, Waker};
    use std::time::Duration;

    #[tokio::test]
    async fn a_wake_before_the_wait_is_not_lost() {
        let signals = RunSignals::default();
        assert!(!signals.wake("bc-1"), "nobody waits yet");
        let signal = signals.listen("bc-1");
        assert!(signals.wake("bc-1"));
        tokio::time::timeout(Duration::from_secs(5), signal.woken())
            .await
            .unwrap();
        drop(signal);
        assert!(!signals.wake("bc-1"));
    }

    #[tokio::test]
    async fn dropping_the_handle_cancels_nothing() {
        let (handle, cancellation) = cancellation();
        let second = handle.clone();
        drop(handle);
        second.cancel();
        cancellation.cancelled().await;
        let (handle, cancellation) = super::cancellation();
        drop(handle);
        let mut wait = pin!(cancellation.cancelled());
        assert!(
            wait.as_mut()
                .poll(&mut Context::from_waker(Waker::noop()))
                .is_pending()
        );
    }
}
