//! Hours of the day in local time, such as `22:00-07:00`.

use protocol_spec::time::Timestamp;
use protocol_spec::visible::quoted;
use serde::{Deserialize, Deserializer, de};

/// The minutes of a day.
const DAY: u16 = 24 * 60;

/// A part of every day; it may span midnight. The same time twice is the whole day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hours {
    from: u16,
    to: u16,
}

impl Hours {
    /// Reads `HH:MM-HH:MM`.
    pub fn parse(text: &str) -> Option<Self> {
        let (from, to) = text.split_once('-')?;
        Some(Self {
            from: minute(from)?,
            to: minute(to)?,
        })
    }

    /// Says whether a minute of the day is in it.
    pub fn contains(self, minute_of_day: u16) -> bool {
        if self.from < self.to {
            (self.from..self.to).contains(&minute_of_day)
        } else {
            minute_of_day >= self.from || minute_of_day < self.to
        }
    }
}

impl std::fmt::Display for Hours {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (from, to) = (self.from, self.to);
        write!(
            formatter,
            "{:02}:{:02}-{:02}:{:02}",
            from / 60,
            from % 60,
            to / 60,
            to % 60
        )
    }
}

impl<'de> Deserialize<'de> for Hours {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| {
            de::Error::custom(format!(
                "{} is not a time range; write for example \"22:00-07:00\"",
                quoted(&text)
            ))
        })
    }
}

/// Returns the minute of the day it is now, in local time.
pub fn minute_now() -> u16 {
    minute_of(&jiff::Zoned::now())
}

/// Returns the minute of the day it was at a time, in local time.
pub fn minute_at(at: Timestamp) -> u16 {
    let at = jiff::Timestamp::from_millisecond(at.as_millis()).unwrap_or_default();
    minute_of(&at.to_zoned(jiff::tz::TimeZone::system()))
}

fn minute_of(time: &jiff::Zoned) -> u16 {
    u16::from(time.hour().unsigned_abs()) * 60 + u16::from(time.minute().unsigned_abs())
}

fn minute(text: &str) -> Option<u16> {
    let (hour, minute) = text.trim().split_once(':')?;
    let is_clock = |part: &str| part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_digit());
    if !is_clock(hour) || !is_clock(minute) {
        return None;
    }
    let (hour, minute): (u16, u16) = (hour.parse().ok()?, minute.parse().ok()?);
    let total = hour * 60 + minute;
    (minute < 60 && total < DAY).then_some(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hours_may_span_midnight() {
        let night = Hours::parse("22:00-07:00").unwrap();
        assert!(night.contains(23 * 60) && night.contains(0) && night.contains(6 * 60 + 59));
        assert!(!night.contains(7 * 60) && !night.contains(12 * 60));
        let day = Hours::parse("09:00 - 17:30").unwrap();
        assert!(day.contains(9 * 60) && !day.contains(17 * 60 + 30));
        assert!(Hours::parse("08:00-08:00").unwrap().contains(0));
    }

    #[test]
    fn what_is_no_time_is_refused() {
        for text in [
            "",
            "9-17",
            "24:00-25:00",
            "09:60-10:00",
            "9:00-10:00",
            "a:b-c:d",
            "09:00",
        ] {
            assert_eq!(Hours::parse(text), None, "{text}");
        }
    }
}
