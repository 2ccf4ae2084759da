//! Points in time as data: milliseconds since 1970 inside, RFC 3339 in UTC on the wire.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A point in time, in milliseconds since the Unix epoch.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

impl Timestamp {
    /// Wraps milliseconds since the Unix epoch.
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// Returns milliseconds since the Unix epoch.
    pub const fn as_millis(self) -> i64 {
        self.0
    }

    /// Returns the point in time that is this much later.
    #[must_use]
    pub fn plus(self, span: std::time::Duration) -> Self {
        let millis = i64::try_from(span.as_millis()).unwrap_or(i64::MAX);
        Self(self.0.saturating_add(millis))
    }

    /// Returns the milliseconds from `earlier` to `self`; zero when the clock went backwards.
    pub const fn millis_since(self, earlier: Self) -> u64 {
        let difference = self.0.saturating_sub(earlier.0);
        if difference < 0 { 0 } else { difference as u64 }
    }
}

/// Formats how long something took, in the largest whole unit.
pub fn format_span(millis: u64) -> String {
    let seconds = millis / 1000;
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min", seconds / 60),
        3600..172_800 => format!("{} h", seconds / 3600),
        _ => format!("{} days", seconds / 86_400),
    }
}

impl fmt::Display for Timestamp {
    /// Writes RFC 3339 in UTC with millisecond precision, so that texts sort as times do.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_millisecond(self.0) {
            Ok(instant) => write!(formatter, "{instant:.3}"),
            // Years beyond 9999 cannot be written as RFC 3339; the number still tells the truth.
            Err(_) => write!(formatter, "{}ms", self.0),
        }
    }
}

impl FromStr for Timestamp {
    type Err = jiff::Error;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse::<jiff::Timestamp>()
            .map(|instant| Self(instant.as_millisecond()))
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timestamp_is_written_with_milliseconds_and_read_back() {
        let time = Timestamp::from_millis(1_790_000_000_120);
        assert_eq!(time.to_string(), "2026-09-21T14:13:20.120Z");
        assert_eq!(time.to_string().parse::<Timestamp>().unwrap(), time);
    }

    #[test]
    fn a_clock_that_went_backwards_counts_as_no_time_passed() {
        assert_eq!(
            Timestamp::from_millis(5).millis_since(Timestamp::from_millis(9)),
            0
        );
    }
}
