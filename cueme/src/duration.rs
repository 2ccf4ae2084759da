//! Lengths of time on the command line and in the environment, written as in the configuration.

use std::time::Duration;

use crate::error::CliError;
use protocol_spec::visible::quoted;

/// Parses a length of time; a number without a unit counts seconds.
pub(crate) fn parse_duration(text: &str) -> Result<Duration, CliError> {
    runtime_settings::parse_duration(text).ok_or_else(|| {
        CliError::usage(format!("{} is not a duration", quoted(text)))
            .with_hint("write a number with a unit: 90s, 5m, 12h, 30d")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_of_time_is_read_or_answered_with_examples() {
        assert_eq!(parse_duration("5m").unwrap(), Duration::from_secs(300));
        assert_eq!(parse_duration("0").unwrap(), Duration::ZERO);
        let error = parse_duration("soon").unwrap_err().to_string();
        assert!(error.contains("\"soon\"") && error.contains("90s"), "{error}");
    }
}
