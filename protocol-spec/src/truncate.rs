//! Truncates text to a number of bytes, and never splits a character.

/// Returns the beginning of a text.
pub fn head(text: &str, bytes_max: usize) -> &str {
    let mut end = text.len().min(bytes_max);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// Returns the end of a text.
pub fn tail(text: &str, bytes_max: usize) -> &str {
    &text[boundary_from(text, text.len().saturating_sub(bytes_max))..]
}

/// Returns the first offset from `at` on that splits no character; the end of the text, if there is none.
pub fn boundary_from(text: &str, at: usize) -> usize {
    let mut boundary = at.min(text.len());
    while !text.is_char_boundary(boundary) {
        boundary += 1;
    }
    boundary
}

/// Returns a text, or its beginning and `…`, which counts.
pub fn with_ellipsis(text: &str, bytes_max: usize) -> String {
    const ELLIPSIS: char = '…';
    if text.len() <= bytes_max {
        return text.to_owned();
    }
    let mut short = head(text, bytes_max.saturating_sub(ELLIPSIS.len_utf8())).to_owned();
    short.push(ELLIPSIS);
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_character_is_split_at_either_end() {
        let text = "数据 ab";
        for bytes_max in 0..=text.len() + 2 {
            let (head, tail) = (head(text, bytes_max), tail(text, bytes_max));
            assert!(
                head.len() <= bytes_max && tail.len() <= bytes_max,
                "{head} {tail}"
            );
            assert!(head.len() + 3 > bytes_max.min(text.len()), "{head}");
            assert!(tail.len() + 3 > bytes_max.min(text.len()), "{tail}");
            assert!(text.starts_with(head) && text.ends_with(tail));
        }
        assert_eq!(
            [0, 1, 3, 4, 99].map(|at| boundary_from(text, at)),
            [0, 3, 3, 6, 9]
        );
    }

    #[test]
    fn an_ellipsis_says_that_something_is_missing_and_stays_within_the_limit() {
        assert_eq!(with_ellipsis("数据", 6), "数据");
        assert_eq!(with_ellipsis("数据库", 6), "数…");
        assert_eq!(with_ellipsis("abcdef", 5), "ab…");
    }
}
