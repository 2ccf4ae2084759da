//! Counts refused connections of other users, and logs them as a summary: a flood must not fill the log.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Duration;

use tokio::time::Instant;

/// The time that refusals are counted before they are logged.
const SUMMARY_EVERY: Duration = Duration::from_secs(60);
/// The most users that are counted separately; the others are counted together.
const USERS_MAX: usize = 16;

/// Refused connections since the last summary.
#[derive(Debug, Default)]
pub(super) struct Refusals {
    /// By user; `None` stands for users that the system does not report.
    by_user: BTreeMap<Option<u32>, u64>,
    others: u64,
    due: Option<Instant>,
}

impl Refusals {
    /// Counts a connection; the first one after a quiet minute is logged at once.
    pub(super) fn note(&mut self, user: Option<u32>) {
        if self.due.is_none() {
            self.due = Some(Instant::now() + SUMMARY_EVERY);
            return tracing::warn!(uid = user, "refused a connection of another user");
        }
        if self.by_user.len() < USERS_MAX || self.by_user.contains_key(&user) {
            *self.by_user.entry(user).or_default() += 1;
        } else {
            self.others += 1;
        }
    }

    /// Waits until a summary is due; forever while nothing was refused.
    pub(super) async fn due(&self) {
        match self.due {
            Some(due) => tokio::time::sleep_until(due).await,
            None => std::future::pending().await,
        }
    }

    /// Logs the counts, and resets them.
    pub(super) fn report(&mut self) {
        drop(std::mem::take(self));
    }

    fn summary(&self) -> Option<String> {
        let mut summary = String::new();
        for (user, count) in &self.by_user {
            let comma = if summary.is_empty() { "" } else { ", " };
            // Writing to a string cannot fail.
            let _ = match user {
                Some(user) => write!(summary, "{comma}{count} of uid {user}"),
                None => write!(summary, "{comma}{count} of unknown users"),
            };
        }
        if self.others > 0 {
            let _ = write!(summary, ", {} of further users", self.others);
        }
        (!summary.is_empty()).then_some(summary)
    }
}

/// The task that counts may be ended at any of its waits; its counts are logged then, too.
impl Drop for Refusals {
    fn drop(&mut self) {
        if let Some(summary) = self.summary() {
            tracing::warn!("refused more connections of other users: {summary}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_are_counted_by_user_and_the_first_is_logged_alone() {
        let mut refusals = Refusals::default();
        for _ in 0..1000 {
            refusals.note(Some(65534));
        }
        refusals.note(Some(1001));
        refusals.note(None);
        let summary = refusals.summary();
        assert_eq!(
            summary.as_deref(),
            Some("1 of unknown users, 1 of uid 1001, 999 of uid 65534")
        );
        refusals.report();
        assert_eq!((refusals.summary(), refusals.due), (None, None));
    }

    #[test]
    fn a_flood_of_users_takes_a_bounded_line() {
        let mut refusals = Refusals::default();
        for user in 0..100_000 {
            refusals.note(Some(user));
        }
        let summary = refusals.summary().unwrap_or_default();
        assert!(
            summary.len() < 1000 && summary.ends_with("of further users"),
            "{summary}"
        );
    }
}
