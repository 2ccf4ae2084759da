//! Limits how often the credentials are read again.

use std::time::{Duration, Instant};

use protocol_spec::message::Failure;
use tokio::sync::Mutex;

/// The least time between the starts of two reloads.
const PAUSE: Duration = Duration::from_millis(100);

/// The last reload. The lock is held while one runs.
#[derive(Debug, Default)]
pub(super) struct Refresh(Mutex<Option<Last>>);

#[derive(Debug)]
struct Last {
    started: Instant,
    /// None if its caller left before it ended.
    result: Option<Result<(), Failure>>,
}

impl Refresh {
    /// Reloads, and returns the result. A reload that another call has started since this one serves both.
    pub(super) async fn run<R: Future<Output = Result<(), Failure>>>(
        &self,
        reload: impl FnOnce() -> R,
    ) -> Result<(), Failure> {
        let called = Instant::now();
        let mut last = self.0.lock().await;
        if let Some(last) = &*last {
            match &last.result {
                Some(result) if last.started >= called => return result.clone(),
                _ => tokio::time::sleep_until((last.started + PAUSE).into()).await,
            }
        }
        let started = Instant::now();
        // Noted before it begins: callers that leave must not make the next one begin at once.
        *last = Some(Last {
            started,
            result: None,
        });
        let result = reload().await;
        *last = Some(Last {
            started,
            result: Some(result.clone()),
        });
        result
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use protocol_spec::message::ErrorCode;

    use super::*;

    #[tokio::test]
    async fn calls_at_the_same_time_share_a_reload_and_its_result() {
        let (refresh, reloads) = (Refresh::default(), AtomicU32::new(0));
        let reload = async || {
            reloads.fetch_add(1, Ordering::Relaxed);
            tokio::time::sleep(Duration::from_millis(20)).await;
            Err(Failure::new(ErrorCode::Storage, "away"))
        };
        let started = Instant::now();
        let calls = (0..50).map(|_| refresh.run(reload));
        let results = futures_util::future::join_all(calls).await;
        assert!(results.iter().all(Result::is_err));
        // All calls began before the first reload or while it ran, and the second one serves the latter.
        assert!(reloads.load(Ordering::Relaxed) <= 2);
        // A later call reads again, and not at once.
        assert!(refresh.run(reload).await.is_err());
        let count = reloads.load(Ordering::Relaxed);
        assert!((2..=3).contains(&count), "{count}");
        assert!(started.elapsed() >= PAUSE * (count - 1));
    }

    #[tokio::test]
    async fn a_caller_that_leaves_does_not_let_the_next_one_reload_at_once() {
        let (refresh, reloads) = (Refresh::default(), AtomicU32::new(0));
        let reload = async || {
            reloads.fetch_add(1, Ordering::Relaxed);
            std::future::pending().await
        };
        let started = Instant::now();
        while started.elapsed() < PAUSE * 3 {
            let call = refresh.run(reload);
            let _ = tokio::time::timeout(Duration::from_millis(5), call).await;
        }
        let count = reloads.load(Ordering::Relaxed);
        assert!(PAUSE * (count - 1) <= started.elapsed(), "{count}");
        refresh.run(async || Ok(())).await.unwrap();
    }
}
