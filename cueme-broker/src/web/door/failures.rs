//! Rate limit for guessing tokens.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The most wrong tokens of one address in a window.
const FAILURES_MAX: u32 = 20;
/// The window.
const WINDOW: Duration = Duration::from_secs(60);
/// The most addresses that are remembered.
const ADDRESSES_MAX: usize = 1024;

/// Counts wrong tokens by address. Correct ones are never refused, so no user can be locked out by a neighbour.
#[derive(Debug, Default)]
pub(super) struct Failures {
    counts: Mutex<HashMap<IpAddr, (u32, Instant)>>,
}

impl Failures {
    /// Counts a failure; returns the seconds to wait, when there were too many.
    pub(super) fn count(&self, address: IpAddr, now: Instant) -> Option<u32> {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        counts.retain(|_, (_, since)| now.duration_since(*since) < WINDOW);
        if counts.len() >= ADDRESSES_MAX && !counts.contains_key(&address) {
            return Some(u32::try_from(WINDOW.as_secs()).unwrap_or(u32::MAX));
        }
        let (count, since) = counts.entry(address).or_insert((0, now));
        *count += 1;
        (*count > FAILURES_MAX).then(|| {
            let rest = WINDOW.saturating_sub(now.duration_since(*since));
            u32::try_from(rest.as_secs()).unwrap_or(u32::MAX).max(1)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_many_failures_are_refused_until_the_window_is_over() {
        let failures = Failures::default();
        let (address, now) = (IpAddr::from([127, 0, 0, 1]), Instant::now());
        for _ in 0..FAILURES_MAX {
            assert_eq!(failures.count(address, now), None);
        }
        assert!(failures.count(address, now).is_some());
        assert_eq!(failures.count(IpAddr::from([10, 0, 0, 1]), now), None);
        assert_eq!(failures.count(address, now + WINDOW), None);
    }
}
