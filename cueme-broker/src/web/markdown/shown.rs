//! Checks that a rendering shows the whole source: the last guard against swallowed text.

use std::collections::HashMap;

/// Characters that Markdown uses as marks. A rendering may show their effect instead, if it says so.
const MARKS: &str = "#*_~`>|-+:=[]()<>!\"'\\";

/// The required count of each character, less the count shown.
#[derive(Debug, Default)]
pub(super) struct Tally(HashMap<char, i64>);

impl Tally {
    /// Counts the required characters.
    pub(super) fn of(source: &str) -> Self {
        let mut tally = Self::default();
        for letter in letters(source) {
            *tally.0.entry(letter).or_default() += 1;
        }
        tally
    }

    /// Counts the shown characters.
    pub(super) fn show(&mut self, text: &str) {
        for letter in letters(text) {
            if let Some(left) = self.0.get_mut(&letter) {
                *left -= 1;
            }
        }
    }

    /// Says whether everything but marks is shown.
    pub(super) fn is_complete(&self) -> bool {
        self.0
            .iter()
            .all(|(letter, left)| *left <= 0 || MARKS.contains(*letter))
    }
}

/// Returns the visible characters.
pub(super) fn letters(text: &str) -> impl Iterator<Item = char> + '_ {
    text.chars().filter(|letter| !letter.is_whitespace())
}

/// Says whether two texts differ in blanks alone.
pub(super) fn is_same(one: &str, other: &str) -> bool {
    letters(one).eq(letters(other))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_noticed_unless_it_is_a_mark() {
        let mut tally = Tally::of("**a** $(b) b");
        tally.show("a $ b");
        assert!(!tally.is_complete());
        tally.show("b");
        assert!(tally.is_complete());
    }

    #[test]
    fn blanks_make_no_difference() {
        assert!(is_same(" a\n b", "ab "));
        assert!(!is_same("ab", "ba"));
    }
}
