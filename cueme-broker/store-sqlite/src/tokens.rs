//! Tests that the tokenizer of every store is the one of this store's index.

use cueme_store::search::{segment, tokens};
use rusqlite::{Connection, params};

/// Returns the words of each text, in order, as the index has them.
fn indexed(texts: &[String]) -> Vec<Vec<String>> {
    let connection = Connection::open_in_memory().unwrap();
    connection
        .execute_batch(
            "CREATE VIRTUAL TABLE search USING fts5 (body, content = '', tokenize = 'unicode61 remove_diacritics 2');
             CREATE VIRTUAL TABLE words USING fts5vocab (search, instance);
             BEGIN",
        )
        .unwrap();
    for (row, text) in texts.iter().enumerate() {
        connection
            .execute(
                "INSERT INTO search (rowid, body) VALUES (?1, ?2)",
                params![i64::try_from(row).unwrap(), segment(text)],
            )
            .unwrap();
    }
    let mut found: Vec<Vec<(i64, String)>> = vec![Vec::new(); texts.len()];
    let mut statement = connection.prepare("SELECT doc, offset, term FROM words").unwrap();
    let mut rows = statement.query([]).unwrap();
    while let Some(row) = rows.next().unwrap() {
        let doc: usize = row.get(0).unwrap();
        found[doc].push((row.get(1).unwrap(), row.get(2).unwrap()));
    }
    let in_order = |mut words: Vec<(i64, String)>| {
        words.sort();
        words.into_iter().map(|(_, word)| word).collect()
    };
    found.into_iter().map(in_order).collect()
}

fn assert_equal(texts: &[String]) {
    for (text, expected) in texts.iter().zip(indexed(texts)) {
        assert_eq!(tokens(text), expected, "{text:?}");
    }
}

#[test]
fn every_character_means_the_same_to_both() {
    for block in (0..=u32::from(char::MAX)).collect::<Vec<_>>().chunks(0x8000) {
        let letters = block.iter().filter_map(|code| char::from_u32(*code));
        // Alone, and inside of a word.
        assert_equal(
            &letters
                .map(|letter| format!("{letter} a{letter}b"))
                .collect::<Vec<_>>(),
        );
    }
}

#[test]
fn texts_have_the_same_words_in_the_same_order() {
    let texts = [
        "Which database? SQLite, PostgreSQL 15.3 or none_of_them",
        "snake_case camelCase kebab-case v2 2nd 0x1F 3.14",
        "Ärger im Café: naïve façade, Ångström, ÉCOLE, Straße, ĲSSEL",
        "e\u{301}cole \u{301}alone a\u{308}\u{304}b",
        "ΛΙΜΆΝΙ λιμάνι ς Σ, Привет Й й ё",
        "用SQLite数据库,还是 PostgreSQL?数 据",
        "データベースを移行しますか?ｶﾀｶﾅ 한국어 질문",
        "ฐานข้อมูล ลาว",
        "😀 done 👩‍💻ok 🇩🇪 ½ ² Ⅷ ①",
        "a\0b\tc\nd\u{200b}e\u{feff}f",
        "İstanbul ıi ﬁ ſ K Å",
        "",
    ];
    assert_equal(&texts.map(str::to_owned));
}
