//! Spells out for a terminal the characters that would act on it. Which ones those are, [`protocol_spec::visible`] says.

use protocol_spec::visible::{Piece, code, pieces};

/// Returns `text` with every character that is not plainly seen spelled out; line breaks and tabs stay.
pub(crate) fn visible(text: &str) -> String {
    show(text, |c| matches!(c, '\n' | '\t'))
}

/// Returns `text` on one line, with every character that is not plainly seen spelled out.
pub(crate) fn visible_line(text: &str) -> String {
    show(text, |_| false)
}

fn show(text: &str, is_kept: impl Fn(char) -> bool) -> String {
    let text = text.strip_suffix('\n').unwrap_or(text);
    let mut shown = String::with_capacity(text.len());
    for piece in pieces(text) {
        match piece {
            Piece::Seen(seen) => show_seen(seen, &is_kept, &mut shown),
            Piece::Hidden(control @ '\0'..='\u{1f}') => shown.push(picture(control)),
            Piece::Hidden('\u{7f}') => shown.push('␡'),
            Piece::Hidden(letter) => shown.extend(["<", &code(letter), ">"]),
        }
    }
    shown
}

fn show_seen(text: &str, is_kept: &impl Fn(char) -> bool, shown: &mut String) {
    let mut letters = text.chars().peekable();
    while let Some(c) = letters.next() {
        match c {
            // The CR of a line ending is not worth a mark.
            '\r' if letters.peek() == Some(&'\n') => {}
            c if is_kept(c) => shown.push(c),
            '\n' => shown.push('⏎'),
            '\t' => shown.push(' '),
            '\r' => shown.push(picture(c)),
            c => shown.push(c),
        }
    }
}

/// Returns the picture Unicode has for a control character.
fn picture(control: char) -> char {
    char::from_u32(0x2400 + u32::from(control)).unwrap_or(char::REPLACEMENT_CHARACTER)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_escape_sequence_is_shown_and_does_not_act() {
        let shown = visible("a\u{1b}[2J\u{9b}31m\u{7}b");
        assert_eq!(shown, "a␛[2J<U+009B>31m␇b");
        assert!(!shown.chars().any(char::is_control));
    }

    #[test]
    fn bidi_and_zero_width_characters_are_spelled_out() {
        assert_eq!(visible("rm \u{202e}txt\u{200b}"), "rm <U+202E>txt<U+200B>");
    }

    #[test]
    fn line_breaks_stay_where_there_are_lines_and_are_marked_where_there_is_one() {
        assert_eq!(visible("a\r\nb\tc\n"), "a\nb\tc");
        assert_eq!(visible_line("a\nb\tc\n"), "a⏎b c");
        assert_eq!(visible("progress\rfake"), "progress␍fake");
    }

    #[test]
    fn other_scripts_are_left_alone() {
        let text = "数据库 données 🙂";
        assert_eq!(visible(text), text);
    }
}
