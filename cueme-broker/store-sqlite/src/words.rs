//! Builds queries from words.
//!
//! A run of characters without spaces becomes a phrase of them.

use cueme_store::search::{QUERY_WORDS_MAX, segment, words};
use rusqlite::Connection;

use super::fault::Fault;
use super::vocabulary::words_beginning;

/// Beginnings up to this length have an index of their own.
const INDEXED_BEGINNING_CHARS_MAX: usize = 3;
/// The most words with the same beginning that are looked up one by one.
const BEGINNINGS_MAX: usize = 64;

/// Builds a query for texts in which all words occur, or longer ones that begin with them.
pub(super) fn query(connection: &Connection, text: &str) -> Result<Option<String>, Fault> {
    let words = words(text).take(QUERY_WORDS_MAX);
    let phrases = words.map(|word| beginning(connection, word));
    let phrases = phrases.collect::<Result<Vec<_>, _>>()?;
    Ok((!phrases.is_empty()).then(|| phrases.join(" AND ")))
}

/// Builds a query for a word as it is.
pub(super) fn whole(word: &str) -> String {
    // Quoted, so that no character of it means anything to SQLite.
    format!("\"{}\"", segment(word).trim().replace('"', ""))
}

/// Builds a query for a word and for all words that begin with it.
///
/// For the beginning of a word, SQLite collects every place of every such word before it returns the newest. If there
/// are few such words, the query names them instead: then SQLite reads only as many of their places as are wanted.
pub(super) fn beginning(connection: &Connection, word: &str) -> Result<String, Fault> {
    let whole = whole(word);
    // A phrase and a single character are matched as they are.
    if whole.contains(' ') || word.chars().nth(1).is_none() {
        return Ok(whole);
    }
    // SQLite's case folding of other letters is not replicated here.
    let can_be_named = word.is_ascii() && word.len() > INDEXED_BEGINNING_CHARS_MAX;
    let named = match can_be_named {
        true => words_beginning(connection, &word.to_ascii_lowercase(), BEGINNINGS_MAX)?,
        false => None,
    };
    Ok(match named {
        Some(named) if named.is_empty() => whole,
        Some(named) => {
            let named: Vec<String> = named.iter().map(|word| self::whole(word)).collect();
            format!("({})", named.join(" OR "))
        }
        None => format!("{whole}*"),
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    /// An index of these texts, in rows numbered from one.
    fn index(texts: &[&str]) -> Connection {
        let connection = Connection::open_in_memory().unwrap();
        connection
            .execute_batch(
                "CREATE VIRTUAL TABLE search USING fts5 (body, tokenize = 'unicode61 remove_diacritics 2', prefix = '2 3')",
            )
            .unwrap();
        for text in texts {
            connection
                .execute("INSERT INTO search (body) VALUES (?1)", [segment(text)])
                .unwrap();
        }
        connection
    }

    fn find(connection: &Connection, text: &str) -> Vec<i64> {
        let query = query(connection, text).unwrap().unwrap();
        let mut statement = connection
            .prepare("SELECT rowid FROM search WHERE search MATCH ?1 ORDER BY rowid")
            .unwrap();
        let rows = statement.query_map([query], |row| row.get(0)).unwrap();
        rows.collect::<Result<_, _>>().unwrap()
    }

    #[test]
    fn nothing_in_a_query_is_syntax() {
        let connection = index(&[]);
        let query = |text| query(&connection, text).unwrap();
        assert_eq!(
            query("a\"b* OR NOT (x NEAR").unwrap(),
            "\"a\" AND \"b\" AND \"OR\"* AND \"NOT\"* AND \"x\" AND \"NEAR\""
        );
        assert_eq!(query("数据库").unwrap(), "\"数  据  库\"");
        assert_eq!(query(" - "), None);
    }

    #[test]
    fn a_beginning_finds_every_word_that_begins_so_and_no_other() {
        let connection = index(&[
            "Migration",
            "migrations",
            "migrate",
            "immigration",
            "MIGRATIONÉ",
            "migra 数据",
        ]);
        assert_eq!(find(&connection, "migration"), [1, 2, 5]);
        assert_eq!(find(&connection, "MIGRA"), [1, 2, 3, 5, 6]);
        assert_eq!(find(&connection, "migr 数据"), [6]);
        assert_eq!(find(&connection, "mi"), [1, 2, 3, 5, 6]);
        assert!(find(&connection, "migrationx").is_empty());
    }

    #[test]
    fn letters_that_sqlite_folds_are_found_folded() {
        let connection = index(&["Häfen", "hafen", "ΛΙΜΑΝΙ", "harbour"]);
        assert_eq!(find(&connection, "häfe"), [1, 2]);
        assert_eq!(find(&connection, "hafe"), [1, 2]);
        assert_eq!(find(&connection, "λιμα"), [3]);
    }

    #[test]
    fn few_words_with_a_beginning_are_named_and_many_are_left_to_sqlite() {
        let words: Vec<String> = (0..BEGINNINGS_MAX)
            .map(|number| format!("word{number:03}"))
            .collect();
        let texts: Vec<&str> = words.iter().map(String::as_str).collect();
        let connection = index(&texts);
        let few = beginning(&connection, "word").unwrap();
        assert_eq!(few.matches(" OR ").count(), BEGINNINGS_MAX - 1);
        connection
            .execute("INSERT INTO search (body) VALUES ('wordy')", [])
            .unwrap();
        assert_eq!(beginning(&connection, "word").unwrap(), "\"word\"*");
        assert_eq!(find(&connection, "word").len(), BEGINNINGS_MAX + 1);
        assert_eq!(find(&connection, "wordy").len(), 1);
    }
}
