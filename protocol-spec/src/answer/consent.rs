//! Decides which button of a confirm a plain word means.
//!
//! An approval has two outcomes and no third: words that are neither a plain yes nor a plain no are a no, with the words
//! as the reason. Every surface uses this rule, so that a person can be told before the words are sent.

use crate::payload::Confirm;

/// Plain words that confirm, in lower case. The page is sent both lists with each confirm.
pub const YES: [&str; 16] = [
    "y", "yes", "yep", "ok", "okay", "allow", "approve", "approved", "accept", "confirm", "是", "好", "好的",
    "可以", "同意", "允许",
];

/// Plain words that refuse, in lower case.
pub const NO: [&str; 15] = [
    "n",
    "no",
    "nope",
    "deny",
    "denied",
    "reject",
    "refuse",
    "cancel",
    "否",
    "不",
    "不行",
    "不可以",
    "不同意",
    "拒绝",
    "禁止",
];

/// Returns the button that a text means: a label or a plain yes or no, in any case; `None` for any other text.
pub fn consent(text: &str, confirm: &Confirm) -> Option<bool> {
    let word = plain(text);
    if word == plain(&confirm.confirm_label) {
        Some(true)
    } else if word == plain(&confirm.cancel_label) || NO.contains(&word.as_str()) {
        Some(false)
    } else {
        YES.contains(&word.as_str()).then_some(true)
    }
}

/// Returns a text in lower case without blanks and marks at its ends.
fn plain(text: &str) -> String {
    text.trim()
        .trim_end_matches(['.', '!', '。', '！'])
        .trim_end()
        .to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str) -> Option<bool> {
        let confirm = Confirm {
            text: None,
            confirm_label: "Allow".to_owned(),
            cancel_label: "Deny".to_owned(),
        };
        consent(text, &confirm)
    }

    #[test]
    fn a_label_or_a_plain_word_is_a_button_in_any_case() {
        for text in [
            "Allow",
            "ALLOW",
            " allow ",
            "yes",
            "Yes!",
            "Y",
            "OK.",
            "是",
            "同意",
            "可以。",
        ] {
            assert_eq!(said(text), Some(true), "{text}");
        }
        for text in ["Deny", "deny", "no", "NO.", "n", "否", "拒绝", "不同意！"] {
            assert_eq!(said(text), Some(false), "{text}");
        }
    }

    #[test]
    fn other_words_are_no_button() {
        for text in [
            "",
            "yes, but only in build/",
            "no idea",
            "not ok",
            "allow it later",
            "y/n",
            "好像不行",
            "?",
        ] {
            assert_eq!(said(text), None, "{text}");
        }
    }

    #[test]
    fn a_label_counts_more_than_a_word() {
        let confirm = Confirm {
            text: None,
            confirm_label: "Cancel".to_owned(),
            cancel_label: "OK".to_owned(),
        };
        assert_eq!(consent("cancel", &confirm), Some(true));
        assert_eq!(consent("ok", &confirm), Some(false));
    }
}
