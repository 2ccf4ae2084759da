//! Makes what would act on a terminal visible instead.

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
    let mut letters = text.chars().peekable();
    while let Some(c) = letters.next() {
        // The CR of a line ending is not worth a mark.
        if c == '\r' && letters.peek() == Some(&'\n') {
            continue;
        }
        if is_kept(c) {
            shown.push(c);
            continue;
        }
        match c {
            '\n' => shown.push('⏎'),
            '\t' => shown.push(' '),
            '\0'..='\u{1f}' => shown.push(picture(c)),
            '\u{7f}' => shown.push('␡'),
            c if is_hidden(c) => shown.push_str(&format!("<U+{:04X}>", u32::from(c))),
            c => shown.push(c),
        }
    }
    shown
}

/// Returns the picture Unicode has for a control character.
fn picture(control: char) -> char {
    char::from_u32(0x2400 + u32::from(control)).unwrap_or(char::REPLACEMENT_CHARACTER)
}

/// Says whether a character cannot be seen, changes the direction of others, or acts on a terminal.
fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180e}'
            | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
            | '\u{feff}' | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
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
