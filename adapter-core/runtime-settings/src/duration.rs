//! Durations as people write them.

use std::time::Duration;

use serde::{Deserialize, Deserializer, de};

/// Parses a duration: `90` (seconds), `90s`, `5m`, `12h`, `30d`.
pub fn parse_duration(text: &str) -> Option<Duration> {
    let text = text.trim();
    let split = text
        .find(|letter: char| !letter.is_ascii_digit())
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let factor = match unit.trim() {
        "ms" => return number.parse().ok().map(Duration::from_millis),
        "" | "s" => 1,
        "m" | "min" => 60,
        "h" => 60 * 60,
        "d" => 24 * 60 * 60,
        _ => return None,
    };
    number
        .parse::<u64>()
        .ok()?
        .checked_mul(factor)
        .map(Duration::from_secs)
}

/// Deserializes a duration: text with a unit, or a number of seconds.
pub fn optional_duration<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum DurationValue {
        Text(String),
        Seconds(u64),
    }
    match DurationValue::deserialize(deserializer)? {
        DurationValue::Text(text) => parse_duration(&text).map(Some).ok_or_else(|| {
            de::Error::custom(format!(
                "\"{text}\" is not a duration; write for example \"90s\", \"5m\", \"12h\" or \"30d\""
            ))
        }),
        DurationValue::Seconds(seconds) => Ok(Some(Duration::from_secs(seconds))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_with_and_without_a_unit() {
        for (text, seconds) in [
            ("90", 90),
            ("90s", 90),
            ("5m", 300),
            ("2 h", 7200),
            ("1d", 86_400),
            ("0", 0),
        ] {
            assert_eq!(parse_duration(text), Some(Duration::from_secs(seconds)), "{text}");
        }
        for text in ["", "x", "5 weeks", "-1", "1.5h", "99999999999999999999d"] {
            assert_eq!(parse_duration(text), None, "{text}");
        }
    }
}
