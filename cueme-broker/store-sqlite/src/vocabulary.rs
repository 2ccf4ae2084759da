//! Lists the words of the index, read from the pages where SQLite keeps them.
//!
//! The table `words` of the schema shows the same. But on its way from one word to the next, SQLite reads every place
//! of the first, page by page: for a word that is in every question, that is the whole history. SQLite's index of pages
//! skips them. The page format is described in "fts5_index.c", under "PAGE FORMAT"; an index in another format has
//! another version, and is not read here.

use std::collections::BTreeSet;

use rusqlite::{Connection, params};

use super::fault::Fault;

/// The supported version of the format.
const VERSION: i64 = 4;
/// The first character of all words on the pages; other terms belong to the index of beginnings.
const WORD_MARK: char = '0';

/// The pages of all segments on which words between two can stand, and the version in which they are written.
///
/// A segment's first such page is the last one that begins before them. It is gone if a merge that is under way has come
/// further; then the words that are left begin on the first page that is there.
const PAGES: &str = "
    WITH RECURSIVE segments (segment) AS (
        SELECT min(segid) FROM search_idx
        UNION ALL
        SELECT (SELECT min(segid) FROM search_idx WHERE segid > segment) FROM segments WHERE segment IS NOT NULL
    ),
    pages (id) AS (
        SELECT (SELECT id FROM search_data
                WHERE id >= (segment << 37) + (SELECT pgno >> 1 FROM search_idx
                                               WHERE segid = segment AND term <= ?1 ORDER BY term DESC LIMIT 1)
                ORDER BY id LIMIT 1)
        FROM segments WHERE segment IS NOT NULL
        UNION ALL
        SELECT (segment << 37) + (pgno >> 1)
        FROM segments CROSS JOIN search_idx ON segid = segment AND term > ?1 AND term < ?2
    )
    SELECT block, (SELECT v FROM search_config WHERE k = 'version') FROM pages CROSS JOIN search_data USING (id)";

/// Returns the words with this beginning, or `None` if there are more than `most` of them or it cannot be known.
pub(super) fn words_beginning(
    connection: &Connection,
    beginning: &str,
    most: usize,
) -> Result<Option<BTreeSet<String>>, Fault> {
    let from = format!("{WORD_MARK}{beginning}");
    let end = format!("{from}{}", char::MAX);
    let mut statement = connection.prepare_cached(PAGES)?;
    let mut pages = statement.query(params![from.as_bytes(), end.as_bytes()])?;
    let mut found = BTreeSet::new();
    while let Some(page) = pages.next()? {
        let is_known = page.get::<_, i64>(1)? == VERSION;
        let block = page.get_ref(0)?.as_blob().unwrap_or_default();
        let read = each_term(block, |term| {
            if term.starts_with(from.as_bytes()) {
                let word = &term[WORD_MARK.len_utf8()..];
                found.insert(String::from_utf8_lossy(word).into_owned());
            }
        });
        if !is_known || read.is_none() {
            return Ok(None);
        }
        if found.len() > most {
            return Ok(None);
        }
    }
    Ok(Some(found))
}

/// Shows the terms that begin on a page; returns `None` if it is no such page.
fn each_term(page: &[u8], mut see: impl FnMut(&[u8])) -> Option<()> {
    let footer = page.get(2..4)?.first_chunk()?;
    let mut distances = page.get(usize::from(u16::from_be_bytes(*footer))..)?;
    let mut term = Vec::new();
    let mut place = 0;
    while !distances.is_empty() {
        let is_first = place == 0;
        place += take_number(&mut distances)?;
        let mut rest = page.get(place..)?;
        // All but the first say how much they have in common with the one before.
        let common = match is_first {
            true => 0,
            false => take_number(&mut rest)?,
        };
        let own = take_number(&mut rest)?;
        term.truncate(common);
        term.extend_from_slice(rest.get(..own)?);
        see(&term);
    }
    Some(())
}

/// Takes a number off: seven bits of it in each byte, and in all but its last byte the eighth is set.
fn take_number(bytes: &mut &[u8]) -> Option<usize> {
    // No number on a page is larger than a page can be.
    const BYTES_MAX: usize = 4;
    let length = 1 + bytes.iter().take(BYTES_MAX).position(|byte| byte & 0x80 == 0)?;
    let (number, rest) = bytes.split_at(length);
    *bytes = rest;
    Some(
        number
            .iter()
            .fold(0, |number, byte| number << 7 | usize::from(byte & 0x7f)),
    )
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    /// An index on small pages, so that a few places of a word fill several.
    fn index() -> Connection {
        let connection = Connection::open_in_memory().unwrap();
        connection
            .execute_batch(
                "CREATE VIRTUAL TABLE search USING fts5 (
                     body, content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 2', prefix = '2 3'
                 );
                 CREATE VIRTUAL TABLE words USING fts5vocab (search, instance);
                 INSERT INTO search (search, rank) VALUES ('pgsz', 64)",
            )
            .unwrap();
        connection
    }

    fn index_row(connection: &Connection, row: u32, body: &str) {
        connection
            .execute(
                "INSERT OR REPLACE INTO search (rowid, body) VALUES (?1, ?2)",
                params![row, body],
            )
            .unwrap();
    }

    fn read(connection: &Connection, beginning: &str) -> BTreeSet<String> {
        words_beginning(connection, beginning, usize::MAX)
            .unwrap()
            .unwrap()
    }

    /// Returns the words that SQLite's own table has.
    fn shown(connection: &Connection, beginning: &str) -> BTreeSet<String> {
        connection
            .prepare("SELECT DISTINCT term FROM words WHERE term >= ?1 AND term < ?2")
            .unwrap()
            .query_map([beginning, &format!("{beginning}{}", char::MAX)], |row| {
                row.get(0)
            })
            .unwrap()
            .collect::<Result<_, _>>()
            .unwrap()
    }

    #[test]
    fn the_words_are_those_that_sqlite_shows_at_every_step_of_a_merge() {
        let connection = index();
        let beginnings = [
            "",
            "migr",
            "migration",
            "migrations",
            "migrationx",
            "n1",
            "n29",
            "z",
            "数",
        ];
        for row in 0..600 {
            let body = format!(
                "The migration, n{row}x and migrations{} of Häfen 数 {}",
                row % 7,
                "long".repeat(40)
            );
            index_row(&connection, row, &body);
            if row % 5 == 0 {
                connection
                    .execute("INSERT INTO search (search, rank) VALUES ('merge', 3)", [])
                    .unwrap();
            }
            if row % 17 == 0 {
                connection
                    .execute("DELETE FROM search WHERE rowid = ?1", [row / 2])
                    .unwrap();
            }
            if row % 20 == 0 {
                for beginning in beginnings {
                    // A word of which every place was deleted may be on a page still.
                    let read = read(&connection, beginning);
                    assert!(
                        read.is_superset(&shown(&connection, beginning)),
                        "{row} {beginning}"
                    );
                    assert!(read.iter().all(|word| word.starts_with(beginning)));
                }
            }
        }
        connection
            .execute("INSERT INTO search (search) VALUES ('optimize')", [])
            .unwrap();
        for beginning in beginnings {
            assert_eq!(
                read(&connection, beginning),
                shown(&connection, beginning),
                "{beginning}"
            );
        }
    }

    #[test]
    fn an_empty_index_has_no_words() {
        assert!(read(&index(), "migr").is_empty());
    }

    #[test]
    fn too_many_words_are_not_named() {
        let connection = index();
        index_row(&connection, 1, "word1 word2 wore");
        assert_eq!(words_beginning(&connection, "word", 2).unwrap().unwrap().len(), 2);
        assert_eq!(words_beginning(&connection, "wor", 2).unwrap(), None);
    }

    #[test]
    fn an_index_in_another_format_is_not_read() {
        let connection = index();
        index_row(&connection, 1, "word");
        connection
            .execute("UPDATE search_config SET v = 5 WHERE k = 'version'", [])
            .unwrap();
        assert_eq!(words_beginning(&connection, "word", 2).unwrap(), None);
    }

    #[test]
    fn what_is_no_page_is_not_taken_for_one() {
        let terms = |page: &[u8]| {
            let mut terms = Vec::new();
            each_term(page, |term| terms.push(term.to_vec())).map(|()| terms)
        };
        let page = [0, 0, 0, 11, 3, b'0', b'a', b'b', 2, 1, b'c', 4, 4];
        assert_eq!(terms(&page).unwrap(), [b"0ab", b"0ac"]);
        for length in 0..11 {
            assert_eq!(terms(&page[..length]), None);
        }
        // The second distance leads out of the page; a number does not end.
        assert_eq!(terms(&[0, 0, 0, 8, 3, b'0', b'a', b'b', 4, 40]), None);
        assert_eq!(terms(&[0, 0, 0, 4, 0xff, 0xff, 0xff, 0xff, 0]), None);
        assert!(terms(&[0, 0, 0, 4]).unwrap().is_empty());
    }
}
