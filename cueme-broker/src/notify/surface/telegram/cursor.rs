//! The read cursor of a bot's updates.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// After a week without an update, the API numbers updates from an arbitrary value. Everything older was confirmed by
/// then, and unconfirmed updates are kept for a day only, so the bot asks for all available updates.
const NUMBERS_HOLD: Duration = Duration::from_secs(6 * 24 * 60 * 60);

/// The cursor, and its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cursor {
    next: i64,
    at: SystemTime,
}

impl Cursor {
    /// Returns the cursor after an update.
    pub(super) fn after(update: i64, now: SystemTime) -> Self {
        Self {
            next: update.saturating_add(1),
            at: now,
        }
    }

    /// Parses the cursor of this bot; another bot's is ignored, and reading begins with the available updates.
    pub(super) fn parse(kept: &str, bot: &str) -> Self {
        let read = || {
            let mut parts = kept.split(' ');
            let next = parts
                .next()
                .filter(|of| *of == bot)
                .and(parts.next())?
                .parse()
                .ok()?;
            let at = UNIX_EPOCH.checked_add(Duration::from_secs(parts.next()?.parse().ok()?))?;
            Some(Self { next, at })
        };
        read().unwrap_or(Self {
            next: 0,
            at: UNIX_EPOCH,
        })
    }

    /// Formats the cursor.
    pub(super) fn encode(self, bot: &str) -> String {
        let at = self.at.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        format!("{bot} {} {at}", self.next)
    }

    /// Returns the first update to ask for.
    pub(super) fn next(self, now: SystemTime) -> i64 {
        let is_old = now.duration_since(self.at).is_ok_and(|age| age >= NUMBERS_HOLD);
        if is_old { 0 } else { self.next }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_kept_for_its_bot_alone() {
        let now = UNIX_EPOCH + Duration::from_secs(1_800_000_000);
        let kept = Cursor::after(41, now).encode("110");
        assert_eq!(Cursor::parse(&kept, "110").next(now), 42);
        assert_eq!(Cursor::parse(&kept, "11").next(now), 0);
        for damaged in ["", "42", "110", "110 x 1", "110 42", "110 42 x"] {
            assert_eq!(Cursor::parse(damaged, "110").next(now), 0, "{damaged}");
        }
    }

    #[test]
    fn after_a_week_of_silence_any_number_is_heard() {
        let now = UNIX_EPOCH + Duration::from_secs(1_800_000_000);
        let cursor = Cursor::after(900, now);
        let day = Duration::from_secs(24 * 60 * 60);
        assert_eq!(cursor.next(now + 5 * day), 901);
        assert_eq!(cursor.next(now + 7 * day), 0);
        assert_eq!(cursor.next(now - day), 901, "a clock that was set back");
    }
}
