//! Truncates texts to the limits of a medium, and says how much is left out.

/// A truncated text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fitted {
    /// The text that is shown.
    pub(super) text: String,
    /// The number of characters left out.
    pub(super) hidden: usize,
}

/// The longest line that says how much is left out.
const GAP_MAX: usize = 60;

/// Returns the text, or its beginning and end with a line between them that counts the characters left out.
pub(super) fn fit(words: &str, max: usize, length: impl Fn(char) -> usize) -> Fitted {
    let total: usize = words.chars().map(&length).sum();
    if total <= max {
        return Fitted {
            text: words.to_owned(),
            hidden: 0,
        };
    }
    let room = max.saturating_sub(GAP_MAX);
    let head = count_within(words.chars(), room - room / 4, &length);
    let tail = count_within(words.chars().rev(), room / 4, &length);
    let count = words.chars().count();
    let hidden = count - head - tail;
    let start: String = words.chars().take(head).collect();
    let end: String = words.chars().skip(count - tail).collect();
    Fitted {
        text: format!("{start}\n[… {hidden} characters are not shown here …]\n{end}"),
        hidden,
    }
}

/// Returns a label, or its beginning and `…`. The question's text repeats truncated labels in full.
pub(super) fn label(text: &str, chars_max: usize) -> String {
    if text.chars().count() <= chars_max {
        return text.to_owned();
    }
    let start: String = text.chars().take(chars_max.saturating_sub(1)).collect();
    format!("{start}…")
}

fn count_within(letters: impl Iterator<Item = char>, room: usize, length: impl Fn(char) -> usize) -> usize {
    let mut used = 0;
    letters
        .take_while(|letter| {
            used += length(*letter);
            used <= room
        })
        .count()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn words_are_shown_whole_or_it_is_said_how_much_is_missing(words in "\\PC{0,300}", max in 80usize..200) {
            let fitted = fit(&words, max, char::len_utf16);
            prop_assert!(fitted.text.chars().map(char::len_utf16).sum::<usize>() <= max);
            if fitted.hidden == 0 {
                prop_assert_eq!(&fitted.text, &words);
            } else {
                let gap = format!("\n[… {} characters are not shown here …]\n", fitted.hidden);
                let (start, end) = fitted.text.split_once(&gap).unwrap();
                prop_assert!(words.starts_with(start) && words.ends_with(end));
                let shown = start.chars().count() + end.chars().count();
                prop_assert_eq!(shown + fitted.hidden, words.chars().count());
            }
        }
    }

    #[test]
    fn a_label_is_shortened_with_an_ellipsis() {
        assert_eq!(label("Deploy", 6), "Deploy");
        assert_eq!(label("Deploy now", 6), "Deplo…");
    }
}
