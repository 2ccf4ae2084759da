//! Numbers of things.

use std::fmt::Display;

/// Names a number of things, such as `1 question` and `2 questions`.
pub(crate) fn counted(number: impl Display, noun: &str) -> String {
    let number = number.to_string();
    let ending = if number == "1" { "" } else { "s" };
    format!("{number} {noun}{ending}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thing_is_named_in_the_singular() {
        assert_eq!(counted(0, "question"), "0 questions");
        assert_eq!(counted(1_u64, "question"), "1 question");
        assert_eq!(counted(21, "question"), "21 questions");
    }
}
