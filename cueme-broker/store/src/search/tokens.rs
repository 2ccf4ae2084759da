//! The tokenizer: the same words as SQLite's `unicode61 remove_diacritics 2`, after [`segment`](super::segment).

use super::is_unspaced;
use super::unicode61::{BASE_LETTERS, COMBINING_MARKS, LOWER_CASE, WORD_CHARACTERS};

/// Splits a text into the words that are indexed, in lower case and without diacritics.
pub fn tokens(text: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut token = String::new();
    for letter in text.chars() {
        let is_alone = is_unspaced(letter);
        if is_alone {
            end(&mut token, &mut tokens);
        }
        if is_word_character(letter) {
            token.push(fold(letter));
        } else if token.is_empty() || !is_in(COMBINING_MARKS, letter) {
            end(&mut token, &mut tokens);
        }
        if is_alone {
            end(&mut token, &mut tokens);
        }
    }
    end(&mut token, &mut tokens);
    tokens
}

fn end(token: &mut String, tokens: &mut Vec<String>) {
    if !token.is_empty() {
        tokens.push(std::mem::take(token));
    }
}

/// Returns a letter in lower case and without diacritics.
pub fn fold(letter: char) -> char {
    if letter.is_ascii() {
        return letter.to_ascii_lowercase();
    }
    let code = u32::from(letter);
    if let Some((_, _, base)) = find(BASE_LETTERS, code, |(first, last, _)| (*first, *last)) {
        return *base;
    }
    match find(LOWER_CASE, code, |(first, last, ..)| (*first, *last)) {
        Some((first, _, each, distance)) if (code - first).is_multiple_of(*each) => code
            .checked_add_signed(*distance)
            .and_then(char::from_u32)
            .unwrap_or(letter),
        _ => letter,
    }
}

fn is_word_character(letter: char) -> bool {
    match letter.is_ascii() {
        true => letter.is_ascii_alphanumeric(),
        false => is_in(WORD_CHARACTERS, letter),
    }
}

fn is_in(ranges: &[(u32, u32)], letter: char) -> bool {
    find(ranges, u32::from(letter), |range| *range).is_some()
}

/// Finds the range that holds a character.
fn find<T>(ranges: &[T], code: u32, bounds: impl Fn(&T) -> (u32, u32)) -> Option<&T> {
    let after = ranges.partition_point(|range| bounds(range).0 <= code);
    let range = ranges.get(after.checked_sub(1)?)?;
    (code <= bounds(range).1).then_some(range)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_folded_and_characters_without_spaces_stand_alone() {
        assert_eq!(
            tokens("Häfen_2, ΛΙΜΆΝΙ: 用SQLite数据 e\u{301}te\u{301} \u{301}x 😀"),
            ["hafen", "2", "λιμάνι", "用", "sqlite", "数", "据", "ete", "x"]
        );
        assert!(tokens(" _-\0!").is_empty());
    }
}
