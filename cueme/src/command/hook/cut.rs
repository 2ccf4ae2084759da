//! Keeping what hosts say below our limits.

/// Returns the beginning of `text`, at most so many bytes and never half a character.
pub(super) fn beginning(text: &str, bytes_max: usize) -> &str {
    let mut end = bytes_max.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_character_is_cut_in_two() {
        assert_eq!(beginning("数据", 4), "数");
        assert_eq!(beginning("数据", 6), "数据");
        assert_eq!(beginning("ab", 9), "ab");
    }
}
