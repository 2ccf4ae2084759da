//! Words as PostgreSQL indexes them: the lexemes of a text, and those of a query.
//!
//! A `tsvector` without positions knows which words a text has, but not where. Characters without spaces are searched
//! as phrases, so each pair of neighbours is a lexeme, too. A longer phrase is searched by its pairs, and then checked
//! in the text.

use std::collections::BTreeSet;
use std::fmt::Write;

use cueme_store::search::{QUERY_WORDS_MAX, is_unspaced, segment, stem, tokens, words};
use protocol_spec::truncate;

/// The longest lexeme, in bytes; PostgreSQL takes 2,046. Longer words are cut.
const LEXEME_BYTES_MAX: usize = 512;
/// The most bytes of lexemes of one text; PostgreSQL takes 1,048,575. The rest of the text is not searchable.
const TEXT_BYTES_MAX: usize = 1_000_000;
/// The most lexemes of one phrase in a query; the check of the text covers the rest.
const PHRASE_LEXEMES_MAX: usize = 64;
/// The prefix of a lexeme that is a stem. No word has it.
const STEM_MARK: char = '=';

/// Returns the lexemes of a text.
pub(crate) fn lexemes(text: &str) -> Vec<String> {
    let tokens = tokens(text);
    let mut lexemes = BTreeSet::new();
    let mut bytes = 0;
    let mut add = |lexeme: String| {
        let length = lexeme.len();
        if bytes + length <= TEXT_BYTES_MAX && lexemes.insert(lexeme) {
            bytes += length;
        }
    };
    for token in &tokens {
        add(truncated(token).to_owned());
        let stem = stem(token);
        if stem != *token {
            add(format!("{STEM_MARK}{}", truncated(&stem)));
        }
    }
    for pair in tokens.windows(2) {
        if let Some(pair) = paired(&pair[0], &pair[1]) {
            add(pair);
        }
    }
    lexemes.into_iter().collect()
}

/// A search condition on a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TextQuery {
    /// The query in PostgreSQL's language.
    pub(crate) tsquery: String,
    /// The phrases that the query cannot express.
    phrases: Vec<Phrase>,
}

/// Words that follow each other.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Phrase {
    tokens: Vec<String>,
    /// Whether the last of them is only the beginning of a word.
    is_open: bool,
}

impl TextQuery {
    /// Builds a query for texts in which all words occur, or longer ones that begin with them.
    pub(crate) fn of_all(text: &str) -> Option<Self> {
        let phrases = words(text).take(QUERY_WORDS_MAX).filter_map(Phrase::beginning);
        Self::of(phrases.collect())
    }

    /// Builds a query for a word as it is.
    pub(crate) fn of_whole(word: &str) -> Option<Self> {
        Self::of(Phrase::of(word, false).into_iter().collect())
    }

    /// Builds a query for a word and for all words that begin with it.
    pub(crate) fn of_beginning(word: &str) -> Option<Self> {
        Self::of(Phrase::beginning(word).into_iter().collect())
    }

    /// Builds a query for all words with the stem of this one.
    pub(crate) fn of_stem(word: &str) -> Self {
        let root = stem(word);
        let mut tsquery = quoted(&format!("{STEM_MARK}{}", truncated(&root)), false);
        // A word that is its own stem has no other lexeme.
        if stem(&root) == root {
            tsquery = format!("{tsquery} | {}", quoted(truncated(&root), false));
        }
        Self {
            tsquery,
            phrases: Vec::new(),
        }
    }

    fn of(phrases: Vec<Phrase>) -> Option<Self> {
        let parts: Vec<String> = phrases.iter().flat_map(Phrase::lexemes).collect();
        (!parts.is_empty()).then(|| Self {
            tsquery: parts.join(" & "),
            phrases: phrases.into_iter().filter(|phrase| !phrase.is_exact()).collect(),
        })
    }

    /// Says whether the query alone is exact, so that no text has to be checked.
    pub(crate) fn is_exact(&self) -> bool {
        self.phrases.is_empty()
    }

    /// Says whether a text that PostgreSQL found meets the condition.
    pub(crate) fn fits(&self, text: &str) -> bool {
        let tokens = tokens(text);
        self.phrases.iter().all(|phrase| phrase.is_in(&tokens))
    }
}

impl Phrase {
    fn of(word: &str, is_open: bool) -> Option<Self> {
        let tokens = tokens(word);
        (!tokens.is_empty()).then_some(Self { tokens, is_open })
    }

    /// A phrase of characters without spaces, and a single character, are matched as they are.
    fn beginning(word: &str) -> Option<Self> {
        let is_closed = segment(word).trim().contains(' ') || word.chars().nth(1).is_none();
        Self::of(word, !is_closed)
    }

    /// Says whether its lexemes express it completely.
    fn is_exact(&self) -> bool {
        match self.tokens.as_slice() {
            [_] => true,
            [first, second] => !self.is_open && paired(first, second).is_some(),
            _ => false,
        }
    }

    fn lexemes(&self) -> Vec<String> {
        let last = self.tokens.len() - 1;
        let alone = |place: usize| quoted(truncated(&self.tokens[place]), self.is_open && place == last);
        let mut lexemes = Vec::new();
        for (place, pair) in self.tokens.windows(2).enumerate().take(PHRASE_LEXEMES_MAX) {
            match paired(&pair[0], &pair[1]) {
                Some(pair) if !self.is_open => lexemes.push(quoted(&pair, false)),
                _ => lexemes.extend([alone(place), alone(place + 1)]),
            }
        }
        if last == 0 {
            lexemes.push(alone(0));
        }
        lexemes
    }

    fn is_in(&self, tokens: &[String]) -> bool {
        let Some((last, others)) = self.tokens.split_last() else {
            return true;
        };
        tokens.windows(self.tokens.len()).any(|window| {
            let end = &window[others.len()];
            let ends = match self.is_open {
                true => end.starts_with(last.as_str()),
                false => end == last,
            };
            ends && window[..others.len()] == *others
        })
    }
}

/// Returns the lexeme of two neighbours, if one of them is a character without spaces.
fn paired(first: &str, second: &str) -> Option<String> {
    let is_alone = |token: &str| token.starts_with(is_unspaced);
    (is_alone(first) || is_alone(second)).then(|| format!("{}{}", truncated(first), truncated(second)))
}

/// Truncates a word that is too long for a lexeme; two of them are short enough to be one.
fn truncated(token: &str) -> &str {
    truncate::head(token, LEXEME_BYTES_MAX)
}

/// Quotes a lexeme, so that no character of it means anything to PostgreSQL.
fn quoted(lexeme: &str, is_open: bool) -> String {
    let mut quoted = String::with_capacity(lexeme.len() + 4);
    quoted.push('\'');
    for letter in lexeme.chars() {
        if matches!(letter, '\'' | '\\') {
            quoted.push(letter);
        }
        quoted.push(letter);
    }
    let _ = write!(quoted, "'{}", if is_open { ":*" } else { "" });
    quoted
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn a_text_has_its_words_their_stems_and_pairs_of_characters() {
        assert_eq!(
            lexemes("Häfen migrations 用SQLite数据"),
            [
                "=migrat",
                "=sqlit",
                "hafen",
                "migrations",
                "migrations用",
                "sqlite",
                "sqlite数",
                "据",
                "数",
                "数据",
                "用",
                "用sqlite"
            ]
        );
    }

    #[test]
    fn nothing_in_a_query_is_syntax() {
        let tsquery = |text| TextQuery::of_all(text).unwrap().tsquery;
        assert_eq!(tsquery("a'b\\ & !(cde:*"), "'a' & 'b' & 'cde':*");
        assert_eq!(tsquery("数据库"), "'数据' & '据库'");
        assert_eq!(quoted("o'\\x", true), "'o''\\\\x':*");
        assert!(TextQuery::of_all(" - ").is_none());
    }

    #[test]
    fn longer_phrases_are_checked_in_the_text() {
        let query = TextQuery::of_all("数据库").unwrap();
        assert!(!query.is_exact());
        assert!(query.fits("用数据库吗") && !query.fits("数据和据库"));
        assert!(TextQuery::of_all("数据 用").unwrap().is_exact());
    }

    #[test]
    fn long_texts_and_long_words_fit_into_an_index() {
        let long: String = (0..100_000u32)
            .map(|number| char::from_u32(0x4e00 + number * 7919 % 20_000).unwrap())
            .collect();
        let lexemes = lexemes(&format!("{} {long}{long}", "x".repeat(5000)));
        assert!(lexemes.iter().map(String::len).sum::<usize>() <= TEXT_BYTES_MAX);
        assert!(lexemes.iter().all(|lexeme| lexeme.len() <= 2 * LEXEME_BYTES_MAX));
    }
}
