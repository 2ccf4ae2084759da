//! Splits texts into words, for English and for scripts written without spaces.
//!
//! SQLite's tokeniser takes a run of Chinese characters for one word. Here every such character becomes a word of its
//! own before it is indexed, and a run of them in a query becomes a phrase, so that any part of a text is found, even
//! one or two characters of it.

/// The most words of a query that are used.
pub const QUERY_WORDS_MAX: usize = 32;
/// The most rows indexed in one transaction …
pub const INDEX_BATCH: u32 = 200;
/// … and the bytes after which it ends early, because callers wait for it.
pub const INDEX_BATCH_BYTES: usize = 256 * 1024;
/// The most characters of a text that are indexed; the same for a payload.
pub const INDEXED_CHARS_MAX: u32 = 100_000;

/// Splits a text at every character that is neither a letter nor a digit.
pub fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !letter.is_alphanumeric())
        .filter(|word| !word.is_empty())
}

/// Sets every character of a script without spaces apart, so that each becomes a word.
pub fn segment(text: &str) -> String {
    let mut segmented = String::with_capacity(text.len() + text.len() / 2);
    for letter in text.chars() {
        if is_unspaced(letter) {
            segmented.push(' ');
            segmented.push(letter);
            segmented.push(' ');
        } else {
            segmented.push(letter);
        }
    }
    segmented
}

/// Says whether a character belongs to a script that is written without spaces.
pub fn is_unspaced(letter: char) -> bool {
    matches!(letter,
        '\u{3040}'..='\u{30ff}'      // Hiragana, Katakana
        | '\u{3400}'..='\u{4dbf}'    // CJK extension A
        | '\u{4e00}'..='\u{9fff}'    // CJK
        | '\u{ac00}'..='\u{d7af}'    // Hangul
        | '\u{f900}'..='\u{faff}'    // CJK compatibility
        | '\u{0e00}'..='\u{0eff}'    // Thai, Lao
        | '\u{20000}'..='\u{323af}') // CJK extensions B to H
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chinese_characters_become_words_of_their_own() {
        assert_eq!(
            segment("用SQLite数据").split_whitespace().collect::<Vec<_>>(),
            ["用", "SQLite", "数", "据"]
        );
    }
}
