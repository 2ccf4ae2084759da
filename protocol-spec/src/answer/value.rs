//! Checks one value against the kind of its field, and writes it the one way agents read it.

use super::AnswerError;
use crate::payload::Kind;
use crate::text::shorten;

/// Returns `value` as `kind` writes it, or why it is not of that kind.
pub(super) fn check_value(value: &str, kind: &Kind, place: &str) -> Result<String, AnswerError> {
    let wrong = |expected, hint| AnswerError::WrongValue {
        place: place.to_owned(),
        found: shorten(value),
        expected,
        hint,
    };
    let trimmed = value.trim();
    match kind {
        Kind::Number if is_number(trimmed) => Ok(trimmed.to_owned()),
        Kind::Number => Err(wrong("a number", "write digits, such as 42, -1.5 or 6e3")),
        Kind::Boolean => match trimmed.to_ascii_lowercase().as_str() {
            "yes" | "true" => Ok("true".into()),
            "no" | "false" => Ok("false".into()),
            _ => Err(wrong("yes or no", "write yes, no, true or false")),
        },
        Kind::Date if is_date(trimmed) => Ok(trimmed.to_owned()),
        Kind::Date => Err(wrong(
            "a date",
            "write a day that exists as YYYY-MM-DD, such as 2026-02-28",
        )),
        Kind::Text | Kind::Textarea | Kind::Password | Kind::Other(_) => Ok(value.to_owned()),
    }
}

/// Returns whether `text` is a decimal number, without ever making a float of it.
fn is_number(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, "0"));
    let exponent_is_fine = exponent.is_none_or(|e| is_digits(e.strip_prefix(['+', '-']).unwrap_or(e)));
    is_digits(whole) && is_digits(fraction) && exponent_is_fine
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

/// Returns whether `text` is a day of the Gregorian calendar as `YYYY-MM-DD`.
fn is_date(text: &str) -> bool {
    let bytes = text.as_bytes();
    if bytes.len() != 10 || bytes[4] != b'-' || bytes[7] != b'-' {
        return false;
    }
    let number = |range: std::ops::Range<usize>| -> Option<u32> {
        let part = text.get(range)?;
        if is_digits(part) { part.parse().ok() } else { None }
    };
    let (Some(year), Some(month), Some(day)) = (number(0..4), number(5..7), number(8..10)) else {
        return false;
    };
    year >= 1 && (1..=12).contains(&month) && (1..=days_in(year, month)).contains(&day)
}

fn days_in(year: u32, month: u32) -> u32 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => 29,
        2 => 28,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_decimal_and_keep_their_spelling() {
        for good in [
            "0",
            "-1",
            "+3.50",
            "6e3",
            "1E-9",
            "00123456789012345678901234567890",
        ] {
            assert_eq!(check_value(good, &Kind::Number, "n").unwrap(), good);
        }
        for bad in ["", "1.", ".5", "0x10", "1,000", "NaN", "inf", "1e", "--1", "１"] {
            assert!(check_value(bad, &Kind::Number, "n").is_err(), "{bad}");
        }
    }

    #[test]
    fn dates_are_days_that_exist() {
        for good in ["2024-02-29", "2000-02-29", "1999-12-31"] {
            assert!(is_date(good), "{good}");
        }
        for bad in [
            "2023-02-29",
            "1900-02-29",
            "2024-13-01",
            "2024-04-31",
            "24-1-1",
            "2024-1-01",
            "0000-01-01",
            "好好4-01-1",
        ] {
            assert!(!is_date(bad), "{bad}");
        }
    }

    #[test]
    fn yes_and_no_become_true_and_false() {
        assert_eq!(check_value(" Yes", &Kind::Boolean, "b").unwrap(), "true");
        assert_eq!(check_value("FALSE", &Kind::Boolean, "b").unwrap(), "false");
        assert!(check_value("maybe", &Kind::Boolean, "b").is_err());
    }
}
