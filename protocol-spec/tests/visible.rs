//! Words of somebody else in messages.

use protocol_spec::visible::quoted;

#[test]
fn quoted_words_stay_on_one_line_and_hide_nothing() {
    for (words, shown) in [
        ("Oracle", "\"Oracle\""),
        ("C:\\dir", "\"C:\\dir\""),
        ("数据库 🙂", "\"数据库 🙂\""),
        ("a\r\nhint: b\tc", "\"a⏎hint: b c\""),
        ("\u{1b}[2J\u{202e}x", "\"⟨U+001B⟩[2J⟨U+202E⟩x\""),
    ] {
        assert_eq!(quoted(words), shown);
    }
}
