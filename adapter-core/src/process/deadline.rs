//! The deadline of a turn. A human's time is not the agent's: it does not run while one of the turn's questions is open.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tokio::time::{Instant, sleep};

/// The shortest time between two looks at how long a human has taken.
const LOOK_PAUSE_MIN: Duration = Duration::from_secs(1);

/// Knows how long questions were open.
pub trait HumanTime: Send + Sync + fmt::Debug {
    /// Returns how much of the time since then at least one question of the agent was open, up to now.
    fn waited(&self, since: SystemTime) -> Pin<Box<dyn Future<Output = Duration> + Send + '_>>;
}

/// Waits until the agent itself has taken as long as `limit`.
pub(crate) async fn deadline(limit: Duration, human: Option<Arc<dyn HumanTime>>) {
    let (started, since) = (Instant::now(), SystemTime::now());
    sleep(limit).await;
    let Some(human) = human else { return };
    while let Some(left) = time_left(limit, started.elapsed(), human.waited(since).await) {
        sleep(left).await;
    }
}

/// Returns how long the deadline cannot pass; none when it has passed.
///
/// While a question is open, what is left of the limit stays the same. So a look each time that the deadline could have
/// passed is never late by more than the shortest pause.
fn time_left(limit: Duration, elapsed: Duration, waited: Duration) -> Option<Duration> {
    let worked = elapsed.saturating_sub(waited);
    let left = limit.checked_sub(worked).filter(|left| !left.is_zero())?;
    Some(left.max(LOOK_PAUSE_MIN))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_a_human_does_not_count() {
        let left = |elapsed, waited| {
            let seconds = Duration::from_secs;
            time_left(seconds(600), seconds(elapsed), seconds(waited)).map(|left| left.as_secs())
        };
        assert_eq!(left(600, 0), None);
        assert_eq!(left(600, 570), Some(570), "asked after 30 s and still open");
        assert_eq!(
            left(1170, 1140),
            Some(570),
            "still open: as much is left as before"
        );
        assert_eq!(left(1170, 670), Some(100));
        assert_eq!(left(1270, 670), None);
    }

    #[test]
    fn a_question_asked_at_the_last_moment_is_not_looked_at_all_the_time() {
        let limit = Duration::from_secs(600);
        let left = time_left(limit, limit, Duration::from_millis(1));
        assert_eq!(left, Some(LOOK_PAUSE_MIN));
    }
}
