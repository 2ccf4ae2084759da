//! Matches typed text to options and buttons. Pure: a text in, a meaning or an error message out.

use protocol_spec::answer::{Picked, consent};
use protocol_spec::payload::Confirm;

/// Reads numbers of options, the words of one option, or anything else as the person's own words.
///
/// A number that names no option is a slip and not an answer.
pub(super) fn parse_pick(line: &str, options: &[String], allow_multiple: bool) -> Result<Picked, String> {
    let line = line.trim();
    if let Some(option) = option_named(line, options) {
        return Ok(Picked {
            selected: vec![option.clone()],
            other: None,
        });
    }
    let words: Vec<&str> = line
        .split([',', ' ', '，', '、'])
        .filter(|word| !word.is_empty())
        .collect();
    let are_numbers = !words.is_empty()
        && words
            .iter()
            .all(|word| word.bytes().all(|byte| byte.is_ascii_digit()));
    if !are_numbers {
        return Ok(Picked {
            selected: Vec::new(),
            other: (!line.is_empty()).then(|| line.to_owned()),
        });
    }
    if words.len() > 1 && !allow_multiple {
        return Err(format!("only one of {} options can be picked", options.len()));
    }
    let selected = words.iter().map(|word| option_numbered(word, options));
    Ok(Picked {
        selected: selected.collect::<Result<_, _>>()?,
        other: None,
    })
}

/// A person's decision at a confirm.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Pressed {
    Confirm,
    Cancel,
    /// Neither button.
    Words(String),
}

/// Reads the number or the label of a button, yes or no, or anything else as the person's own words.
pub(crate) fn parse_button(line: &str, confirm: &Confirm) -> Result<Pressed, String> {
    let labels = [confirm.confirm_label.clone(), confirm.cancel_label.clone()];
    let picked = parse_pick(line, &labels, false)?;
    if let Some(label) = picked.selected.first() {
        return Ok(if *label == confirm.confirm_label {
            Pressed::Confirm
        } else {
            Pressed::Cancel
        });
    }
    let Some(words) = picked.other else {
        return Err("press a button by its number, or write something".to_owned());
    };
    Ok(match consent(&words, confirm) {
        Some(true) => Pressed::Confirm,
        Some(false) => Pressed::Cancel,
        None => Pressed::Words(words),
    })
}

/// Returns the option with this name; in another case if only one option fits.
pub(crate) fn option_named<'a>(line: &str, options: &'a [String]) -> Option<&'a String> {
    let exact = options.iter().find(|option| option.as_str() == line);
    exact.or_else(|| {
        let mut alike = options
            .iter()
            .filter(|option| option.to_lowercase() == line.to_lowercase());
        alike.next().filter(|_| alike.next().is_none())
    })
}

fn option_numbered(word: &str, options: &[String]) -> Result<String, String> {
    let number: Option<usize> = word.parse().ok();
    number
        .and_then(|number| options.get(number.checked_sub(1)?))
        .cloned()
        .ok_or_else(|| {
            format!(
                "there is no option {word}; write a number from 1 to {}, or your own words",
                options.len()
            )
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options() -> Vec<String> {
        ["SQLite", "PostgreSQL", "42"].map(str::to_owned).to_vec()
    }

    #[test]
    fn a_number_that_names_no_option_is_not_an_answer() {
        for line in ["0", "4", "1, 9", "99999999999999999999999"] {
            assert!(parse_pick(line, &options(), true).is_err(), "{line}");
        }
        assert!(parse_pick("1 2", &options(), false).is_err());
        // An option may be a number itself.
        assert_eq!(parse_pick("42", &options(), false).unwrap().selected, ["42"]);
    }

    #[test]
    fn an_option_is_known_by_its_name_in_any_case() {
        assert_eq!(
            parse_pick("sqlite", &options(), false).unwrap().selected,
            ["SQLite"]
        );
        let own = parse_pick("neither, use 2 files", &options(), false).unwrap();
        assert_eq!(own.other.as_deref(), Some("neither, use 2 files"));
    }

    #[test]
    fn yes_and_no_press_the_buttons_unless_a_label_says_otherwise() {
        let confirm = |confirm_label: &str, cancel_label: &str| Confirm {
            text: None,
            confirm_label: confirm_label.to_owned(),
            cancel_label: cancel_label.to_owned(),
        };
        let allow = confirm("Allow", "Deny");
        for (line, pressed) in [
            ("y", Pressed::Confirm),
            ("YES", Pressed::Confirm),
            ("1", Pressed::Confirm),
            ("allow", Pressed::Confirm),
            ("n", Pressed::Cancel),
            ("2", Pressed::Cancel),
            ("Deny", Pressed::Cancel),
            ("yes, but later", Pressed::Words("yes, but later".to_owned())),
        ] {
            assert_eq!(parse_button(line, &allow), Ok(pressed), "{line}");
        }
        assert!(parse_button("3", &allow).is_err());
        assert!(parse_button(" ", &allow).is_err());
        let reversed = confirm("Keep", "Yes");
        assert_eq!(parse_button("yes", &reversed), Ok(Pressed::Cancel));
    }
}
