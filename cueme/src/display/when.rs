//! Times as people say them.

use std::time::{SystemTime, UNIX_EPOCH};

use jiff::tz::TimeZone;
use protocol_spec::time::{Timestamp, format_span};

/// Returns the present.
pub(crate) fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

/// Returns how much time passed between two points, in the largest unit that says something.
pub(crate) fn ago(now: Timestamp, then: Timestamp) -> String {
    format_span(now.millis_since(then))
}

/// Returns a point in time on this person's clock.
pub(crate) fn at(time: Timestamp) -> String {
    in_zone(time, TimeZone::system())
}

fn in_zone(time: Timestamp, zone: TimeZone) -> String {
    match jiff::Timestamp::from_millisecond(time.as_millis()) {
        Ok(instant) => instant.to_zoned(zone).strftime("%Y-%m-%d %H:%M:%S").to_string(),
        Err(_) => time.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_told_in_the_unit_that_fits() {
        let start = Timestamp::from_millis(0);
        for (millis, words) in [
            (0, "0 s"),
            (59_999, "59 s"),
            (3 * 60_000, "3 min"),
            (2 * 3_600_000, "2 h"),
            (72 * 3_600_000, "3 days"),
        ] {
            assert_eq!(ago(Timestamp::from_millis(millis), start), words);
        }
        assert_eq!(ago(start, Timestamp::from_millis(5000)), "0 s");
    }

    #[test]
    fn a_time_is_shown_in_the_zone_of_the_reader() {
        let time = Timestamp::from_millis(1_790_000_000_000);
        assert_eq!(in_zone(time, TimeZone::UTC), "2026-09-21 14:13:20");
        let shanghai = TimeZone::fixed(jiff::tz::offset(8));
        assert_eq!(in_zone(time, shanghai), "2026-09-21 22:13:20");
    }
}
