//! Small questions about text that every part of the contract asks the same way.

use crate::visible::is_invisible;

/// The most characters of somebody's input that an error message repeats.
const FOUND_CHARS_MAX: usize = 48;

/// Returns whether a person would see nothing in `text`.
///
/// White space and the invisible space-like characters are nothing; NUL and other controls are text.
pub(crate) fn is_blank(text: &str) -> bool {
    text.chars()
        .all(|c| c.is_whitespace() || matches!(c, '\u{200b}' | '\u{2060}' | '\u{feff}'))
}

/// Returns `text` short enough for a message, with everything invisible spelled out.
///
/// Messages end up in terminals and in agents' contexts, so control and direction characters must not
/// act there.
pub(crate) fn shorten(text: &str) -> String {
    let trimmed = text.trim_matches([' ', '\t', '\r', '\n']);
    let mut shown = String::new();
    for (count, c) in trimmed.chars().enumerate() {
        if count == FOUND_CHARS_MAX {
            shown.push('…');
            break;
        }
        if is_invisible(c) || (c.is_whitespace() && c != ' ') {
            shown.extend(c.escape_unicode());
        } else {
            shown.push(c);
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invisible_characters_are_blank_but_nul_is_text() {
        assert!(is_blank(" \t\r\n\u{a0}\u{85}\u{200b}\u{feff}"));
        assert!(!is_blank("\0"));
    }

    #[test]
    fn a_long_or_hostile_find_is_shown_short_and_harmless() {
        assert_eq!(shorten("  a\u{202e}b\u{1b}[31m \n"), "a\\u{202e}b\\u{1b}[31m");
        assert_eq!(shorten(&"好".repeat(100)).chars().count(), FOUND_CHARS_MAX + 1);
    }
}
