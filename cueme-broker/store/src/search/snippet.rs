//! Excerpts of found texts.

use super::words;

/// Returns the text around the first of the words, on one line.
pub fn snippet(text: &str, wanted: &str) -> String {
    const BEFORE_CHARS: usize = 40;
    const SNIPPET_CHARS: usize = 160;
    let lower = text.to_lowercase();
    let place = words(wanted)
        .filter_map(|word| lower.find(&word.to_lowercase()))
        .min()
        .unwrap_or(0);
    // Lowercasing may change lengths; counting characters keeps the cut inside the text all the same.
    let start = lower[..place].chars().count().saturating_sub(BEFORE_CHARS);
    let mut cut: String = text
        .chars()
        .skip(start)
        .take(SNIPPET_CHARS)
        .map(|letter| if letter.is_control() { ' ' } else { letter })
        .collect();
    if start > 0 {
        cut.insert(0, '…');
    }
    if text.chars().nth(start + SNIPPET_CHARS).is_some() {
        cut.push('…');
    }
    cut
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snippet_shows_the_first_of_the_words_and_says_where_it_was_cut() {
        assert_eq!(snippet("short\ttext", "TEXT"), "short text");
        assert_eq!(snippet("nothing of it", "kettle"), "nothing of it");
        let far = format!("{}kettle{}", "a".repeat(41), "b".repeat(114));
        assert_eq!(snippet(&far, "kettle"), format!("…{}", &far[1..]));
        let longer = format!("{far}bb");
        assert_eq!(snippet(&longer, "b kettle"), format!("…{}…", &longer[1..161]));
        let near = format!("{}kettle", "a".repeat(40));
        assert_eq!(snippet(&near, "kettle"), near);
    }
}
