//! Characters that hide or reorder text, spelled out.

use std::borrow::Cow;
use std::fmt::Write;

/// A piece of a text: what can be seen as it is, or one character that cannot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Piece<'a> {
    Seen(&'a str),
    Hidden(char),
}

/// Returns the text with each hidden character spelled out as `⟨U+202E⟩`.
pub(in crate::web) fn visible(text: &str) -> Cow<'_, str> {
    if !has_hidden(text) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for piece in pieces(text) {
        match piece {
            Piece::Seen(seen) => shown.push_str(seen),
            // Writing to a string cannot fail.
            Piece::Hidden(letter) => drop(write!(shown, "⟨U+{:04X}⟩", letter as u32)),
        }
    }
    Cow::Owned(shown)
}

/// Says whether anything in the text is hidden.
pub(super) fn has_hidden(text: &str) -> bool {
    pieces(text).any(|piece| matches!(piece, Piece::Hidden(_)))
}

/// Cuts a text at its hidden characters.
pub(super) fn pieces(text: &str) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = text;
    let mut before = None;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let mut last = before;
        for (at, letter) in rest.char_indices() {
            let after = rest[at + letter.len_utf8()..].chars().next();
            if is_hidden(last, letter, after) {
                if at > 0 {
                    let (seen, tail) = rest.split_at(at);
                    (rest, before) = (tail, last);
                    return Some(Piece::Seen(seen));
                }
                (rest, before) = (&rest[letter.len_utf8()..], Some(letter));
                return Some(Piece::Hidden(letter));
            }
            last = Some(letter);
        }
        Some(Piece::Seen(std::mem::take(&mut rest)))
    })
}

fn is_hidden(before: Option<char>, letter: char, after: Option<char>) -> bool {
    match letter {
        '\n' | '\t' | '\r' => false,
        // Joiners shape words of some scripts, and emoji; between Latin letters they only hide.
        '\u{200c}' | '\u{200d}' => !(is_shaped(before) && (is_shaped(after) || letter == '\u{200c}')),
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' => true,
        '\u{180b}'..='\u{180f}' | '\u{200b}' | '\u{200e}' | '\u{200f}' => true,
        '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' => true,
        '\u{3164}' | '\u{feff}' | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}' => true,
        '\u{e0000}'..='\u{e0fff}' => true,
        other => other.is_control(),
    }
}

fn is_shaped(letter: Option<char>) -> bool {
    letter.is_some_and(|letter| letter > '\u{2ff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn direction_and_zero_width_characters_are_spelled_out() {
        assert_eq!(visible("rm \u{202e}txt\u{200b}.sh"), "rm ⟨U+202E⟩txt⟨U+200B⟩.sh");
        assert_eq!(visible("a\u{1b}[31m"), "a⟨U+001B⟩[31m");
        assert_eq!(visible("\u{e0041}"), "⟨U+E0041⟩");
    }

    #[test]
    fn what_belongs_to_a_script_or_an_emoji_stays() {
        for text in [
            "plain\n\ttext",
            "👩\u{200d}💻",
            "می\u{200c}خواهم",
            "❤\u{fe0f}",
            "数据库",
        ] {
            assert_eq!(visible(text), text);
        }
        assert_eq!(visible("a\u{200d}b"), "a⟨U+200D⟩b");
    }
}
