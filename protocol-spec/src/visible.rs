//! Text made visible: which characters hide or reorder text, and how they are spelled out.
//!
//! This is the only table of such characters. The terminal, the page, notifications and error messages all use it. How
//! a surface escapes its own markup is its own affair.

use std::borrow::Cow;
use std::fmt::Write;

/// A piece of a text: a run that is seen as it is, or one character that is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece<'a> {
    /// Characters that are seen.
    Seen(&'a str),
    /// A character that cannot be seen, reorders others, or controls a terminal.
    Hidden(char),
}

/// Returns the text with each hidden character spelled out as `⟨U+202E⟩`; line breaks and tabs stay.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !has_hidden(text) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for piece in pieces(text) {
        match piece {
            Piece::Seen(seen) => shown.push_str(seen),
            // Writing to a string cannot fail.
            Piece::Hidden(letter) => drop(write!(shown, "⟨{}⟩", code(letter))),
        }
    }
    Cow::Owned(shown)
}

/// Returns words of somebody else between quotes, on one line, with each hidden character spelled out.
pub fn quoted(words: &str) -> String {
    let line = words.replace("\r\n", "⏎").replace('\n', "⏎").replace('\t', " ");
    format!("\"{}\"", visible(&line))
}

/// Returns the name of a character that cannot be shown, such as `U+202E`.
pub fn code(letter: char) -> String {
    format!("U+{:04X}", u32::from(letter))
}

/// Says whether anything in the text is hidden.
pub fn has_hidden(text: &str) -> bool {
    pieces(text).any(|piece| matches!(piece, Piece::Hidden(_)))
}

/// Splits a text at its hidden characters.
pub fn pieces(text: &str) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = text;
    let mut before = None;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let mut last = before;
        for (at, letter) in rest.char_indices() {
            if is_hidden(last, letter, rest[at + letter.len_utf8()..].chars().next()) {
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
        // One selector chooses the form of the emoji, keycap or letter before it; a run of them carries hidden data.
        '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}' => !takes_selector(before),
        letter => is_invisible(letter),
    }
}

/// Says whether a character is invisible wherever it stands, joiners and variation selectors included.
///
/// These are Unicode's controls, format characters, default ignorables and line separators, without the format
/// characters that draw something.
pub fn is_invisible(letter: char) -> bool {
    matches!(
        letter,
        '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{ad}' | '\u{34f}' | '\u{61c}'
        | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
        | '\u{13430}'..='\u{1343f}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}'
    )
}

fn is_shaped(letter: Option<char>) -> bool {
    letter.is_some_and(|letter| letter > '\u{2ff}')
}

fn takes_selector(letter: Option<char>) -> bool {
    letter.is_some_and(|letter| {
        let is_keycap = matches!(letter, '0'..='9' | '#' | '*' | '©' | '®');
        is_keycap || (letter > '\u{2ff}' && !is_invisible(letter))
    })
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
    fn a_script_or_an_emoji_keeps_its_joiners() {
        for text in [
            "plain\n\ttext",
            "👩\u{200d}💻",
            "می\u{200c}خواهم",
            "❤\u{fe0f}",
            "1\u{fe0f}\u{20e3}",
            "数据库",
        ] {
            assert_eq!(visible(text), text);
        }
        assert_eq!(visible("a\u{200d}b"), "a⟨U+200D⟩b");
    }

    #[test]
    fn data_hidden_in_variation_selectors_is_spelled_out() {
        assert_eq!(visible("ok\u{fe01}"), "ok⟨U+FE01⟩");
        assert_eq!(
            visible("😀\u{fe0f}\u{e0141}\u{fe02}"),
            "😀\u{fe0f}⟨U+E0141⟩⟨U+FE02⟩"
        );
    }

    #[test]
    fn the_table_is_unicodes_own() {
        let unicode = regex::Regex::new(
            r"[[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]--\p{Prepended_Concatenation_Mark}]",
        )
        .unwrap();
        let all: String = ('\0'..=char::MAX).collect();
        let expected: Vec<String> = unicode
            .find_iter(&all)
            .flat_map(|found| found.as_str().chars())
            .map(code)
            .collect();
        let ours: Vec<String> = all
            .chars()
            .filter(|letter| is_invisible(*letter))
            .map(code)
            .collect();
        assert_eq!(ours, expected);
    }
}
