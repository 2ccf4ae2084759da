//! The process that speaks with the human in a run that several processes follow, as the broker reported it last.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use protocol_spec::message::{Lead, RunWoken};

/// The timeout of the broker's first message. Without it the run goes on: an unreachable broker asks no human.
const FIRST_WORD_WAIT_MAX: Duration = Duration::from_secs(3);

/// The last message of the broker.
#[derive(Debug, Clone, Default)]
pub(super) struct LeadWatch {
    told: Arc<(Mutex<Option<LeadState>>, Condvar)>,
}

#[derive(Debug, Clone, Copy)]
struct LeadState {
    lead: Lead,
    ended: bool,
}

impl LeadWatch {
    /// Takes note of what the broker tells.
    pub(super) fn note(&self, woken: RunWoken) {
        let mut told = self.lock();
        let ended = woken.ended || told.is_some_and(|told| told.ended);
        *told = Some(LeadState {
            lead: woken.lead,
            ended,
        });
        self.told.1.notify_all();
    }

    /// Waits until the broker knows this process, within reason.
    pub(super) fn wait_for_broker(&self) {
        let told = self.lock();
        // Whether it came in time does not matter.
        let _ = self
            .told
            .1
            .wait_timeout_while(told, FIRST_WORD_WAIT_MAX, |told| told.is_none());
    }

    /// Says whether another process speaks with the human.
    pub(super) fn is_anothers(&self) -> bool {
        self.lock().is_some_and(|told| told.lead == Lead::Another)
    }

    /// Says whether the run has ended, in another process.
    pub(super) fn has_ended(&self) -> bool {
        self.lock().is_some_and(|told| told.ended)
    }

    fn lock(&self) -> MutexGuard<'_, Option<LeadState>> {
        self.told.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
