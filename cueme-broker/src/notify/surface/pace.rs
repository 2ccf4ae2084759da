//! The rate limit of a surface: a token bucket, and the pause that its server asked for.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// The first backoff after a failure.
const BACKOFF_MIN: Duration = Duration::from_millis(500);
/// The longest one, unless the server asks for more.
const BACKOFF_MAX: Duration = Duration::from_secs(60);
/// The longest pause that a server can ask for.
const RETRY_AFTER_MAX: Duration = Duration::from_secs(60 * 60);

/// A rate limit.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limit {
    /// The number of messages that may be sent at once.
    pub(super) burst: u32,
    /// The time until one more message may be sent.
    pub(super) refill: Duration,
}

/// The rate limiter of one surface.
#[derive(Debug)]
pub(super) struct Pace {
    limit: Limit,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// The time up to which sends are accounted for: each one moves it by `refill`.
    spent_until: Instant,
    /// Nothing is sent before.
    blocked_until: Instant,
    failures: u32,
}

impl Pace {
    pub(super) fn new(limit: Limit) -> Self {
        let now = Instant::now();
        Self {
            limit,
            state: Mutex::new(State {
                spent_until: now,
                blocked_until: now,
                failures: 0,
            }),
        }
    }

    /// Waits until a new message may be sent, and takes a token for it.
    pub(super) async fn next_message(&self) {
        let at = self.reserve(Instant::now());
        tokio::time::sleep_until(at).await;
        self.unblocked().await;
    }

    /// Waits out the pause that the server asked for. Edits and withdrawals are subject to no other limit.
    pub(super) async fn unblocked(&self) {
        loop {
            let until = self.state().blocked_until;
            if until <= Instant::now() {
                return;
            }
            tokio::time::sleep_until(until).await;
        }
    }

    /// Records a success.
    pub(super) fn succeeded(&self) {
        self.state().failures = 0;
    }

    /// Records a failure: the surface pauses for as long as the server asked, or with an exponential backoff.
    pub(super) fn failed(&self, retry_after: Option<Duration>) {
        let mut state = self.state();
        let doubled = BACKOFF_MIN.saturating_mul(1 << state.failures.min(16));
        let pause = match retry_after {
            Some(asked) => asked.min(RETRY_AFTER_MAX),
            None => doubled.min(BACKOFF_MAX),
        };
        state.failures = state.failures.saturating_add(1);
        state.blocked_until = state.blocked_until.max(Instant::now() + pause);
    }

    /// Takes the next token of the bucket; returns when it is available.
    fn reserve(&self, now: Instant) -> Instant {
        let mut state = self.state();
        let full = self.limit.refill * self.limit.burst;
        let spent = state.spent_until.max(now) + self.limit.refill;
        state.spent_until = spent;
        now.max(spent.checked_sub(full).unwrap_or(now))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pace() -> Pace {
        Pace::new(Limit {
            burst: 3,
            refill: Duration::from_secs(1),
        })
    }

    #[test]
    fn a_burst_goes_at_once_and_the_rest_one_by_one() {
        let (pace, now) = (pace(), Instant::now() + Duration::from_secs(1));
        let waits: Vec<u64> = (0..5).map(|_| (pace.reserve(now) - now).as_secs()).collect();
        assert_eq!(waits, [0, 0, 0, 1, 2]);
        let later = now + Duration::from_secs(60);
        assert_eq!(pace.reserve(later), later, "the bucket fills again");
    }

    #[test]
    fn a_servers_own_pause_counts_and_failures_double_theirs() {
        let pace = pace();
        let blocked = || pace.state().blocked_until - Instant::now();
        pace.failed(None);
        assert!(blocked() <= BACKOFF_MIN);
        pace.failed(None);
        assert!(blocked() > BACKOFF_MIN && blocked() <= BACKOFF_MIN * 2);
        pace.failed(Some(Duration::from_secs(7)));
        assert!(blocked() > Duration::from_secs(6));
        for _ in 0..40 {
            pace.failed(None);
        }
        assert!(blocked() <= BACKOFF_MAX);
        pace.succeeded();
        assert_eq!(pace.state().failures, 0);
    }
}
