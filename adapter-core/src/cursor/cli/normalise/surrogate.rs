//! Repairs JSON text that was cut in the middle of a character.
//!
//! JavaScript's strings are UTF-16. A piece of text that was cut between the two halves of a character is still
//! written as valid JSON, with the half as an escape, and no other parser accepts it.

/// The replacement for an unpaired surrogate.
const REPLACEMENT: &[u8] = b"\\ufffd";
/// The length of `\uXXXX`.
const ESCAPE_BYTES: usize = 6;

/// Returns the line with every half of a character replaced; `None` when there is none.
pub(super) fn without_lone_surrogates(line: &[u8]) -> Option<Vec<u8>> {
    let mut mended = Vec::new();
    let mut copied = 0;
    let mut at = 0;
    while let Some(found) = memchr::memchr(b'\\', &line[at..]) {
        at += found;
        match (surrogate(line, at), surrogate(line, at + ESCAPE_BYTES)) {
            (Some(Half::High), Some(Half::Low)) => at += 2 * ESCAPE_BYTES,
            (Some(_), _) => {
                mended.extend_from_slice(&line[copied..at]);
                mended.extend_from_slice(REPLACEMENT);
                at += ESCAPE_BYTES;
                copied = at;
            }
            // A backslash may escape another one, which then escapes nothing.
            (None, _) => at += 2,
        }
        at = at.min(line.len());
    }
    mended.extend_from_slice(line.get(copied..)?);
    (copied > 0).then_some(mended)
}

#[derive(Clone, Copy)]
enum Half {
    High,
    Low,
}

/// Reads the half of a character that is escaped at this place.
fn surrogate(line: &[u8], at: usize) -> Option<Half> {
    let escape = line.get(at..at + ESCAPE_BYTES)?;
    let digits = std::str::from_utf8(escape.strip_prefix(b"\\u")?).ok()?;
    match u16::from_str_radix(digits, 16).ok()? {
        0xd800..=0xdbff => Some(Half::High),
        0xdc00..=0xdfff => Some(Half::Low),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mend(line: &str) -> Option<String> {
        without_lone_surrogates(line.as_bytes()).map(|mended| String::from_utf8(mended).unwrap())
    }

    #[test]
    fn halves_are_replaced_and_whole_characters_are_not() {
        assert_eq!(mend(r#"{"a":"\ud83d"}"#).unwrap(), r#"{"a":"\ufffd"}"#);
        assert_eq!(
            mend(r#"{"a":"\ude42x\ud83d"}"#).unwrap(),
            r#"{"a":"\ufffdx\ufffd"}"#
        );
        let mixed = r#"{"a":"\ud83d\ude42\ud83d"}"#;
        assert_eq!(mend(mixed).unwrap(), r#"{"a":"\ud83d\ude42\ufffd"}"#);
    }

    #[test]
    fn a_line_without_halves_is_left_alone() {
        for line in [
            r#"{"a":"\ud83d\ude42"}"#,
            r#"{"a":"\\ud83d"}"#,
            r#"{"a":"é\n"}"#,
            r#"{"a":"\"#,
        ] {
            assert_eq!(mend(line), None, "{line}");
        }
    }
}
