//! The engine's clocks and its random numbers, which the rules get as data.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use cueme_rules::Now;
use protocol_spec::time::Timestamp;

use super::core::{Clock, Random};

/// The two clocks of [`Now`].
#[derive(Debug, Clone, Copy)]
pub(super) struct SystemClock {
    started: Instant,
}

impl Clock for SystemClock {
    fn now(&self) -> Now {
        let wall = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default()
            .as_millis();
        Now {
            wall: Timestamp::from_millis(i64::try_from(wall).unwrap_or(i64::MAX)),
            steady: self.steady(),
        }
    }

    fn pause(&self, time: Duration) -> bool {
        std::thread::sleep(time);
        true
    }
}

impl SystemClock {
    pub(super) fn start() -> Self {
        Self {
            started: Instant::now(),
        }
    }

    fn steady(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    pub(super) fn until(&self, due: u64) -> Duration {
        Duration::from_millis(due.saturating_sub(self.steady()))
    }
}

pub(super) fn system_random() -> Random {
    Box::new(|| {
        // Without random numbers from the system no id is safe; there is no fallback.
        getrandom::u64().unwrap_or_else(|error| panic!("the system gives no random bytes: {error}"))
    })
}
