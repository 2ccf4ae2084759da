//! Takes secrets out of text before it is logged, shown or sent to anyone.
//!
//! Two nets: shapes that secrets have (key prefixes, bearer tokens, `password=…`), and the exact values of
//! secret-looking environment variables of this process.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;

/// The text that replaces a secret.
pub const REDACTED: &str = "[redacted]";
/// Shorter values are too likely to be ordinary words.
const ENV_VALUE_BYTES_MIN: usize = 8;

static SHAPES: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    let shapes = [
        // Private keys as PEM blocks, also with escaped line ends, and cut off before their end.
        r"(?s)-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----.*?(?:-----END (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----|\z)",
        // Keys that say what they are.
        r"\b(?:sk|pk|rk|key|crsr|cursor)[-_][A-Za-z0-9_-]{16,}",
        r"\b(?:gh[opsur]_|github_pat_|glpat-|xox[abprs]-|npm_|hf_)[A-Za-z0-9_-]{10,}",
        r"cmb_[A-Za-z0-9_-]{16,}",
        r"\bAKIA[0-9A-Z]{16}\b",
        r"\bAIza[0-9A-Za-z_-]{30,}",
        // JSON web tokens.
        r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?",
        // Credentials in addresses.
        r"(?P<keep>[a-z][a-z0-9+.-]*://[^/\s:@]*:)[^@\s/]+(?P<after>@)",
        r"(?i)(?P<keep>\b(?:bearer|basic)\s+)[A-Za-z0-9._~+/=-]{8,}",
        // Assignments, as in environments, headers, JSON and command lines.
        concat!(
            r#"(?i)(?P<keep>\b[a-z0-9_-]*(?:api[_-]?key|secret|token|passwd|password|authorization|private[_-]?key)[a-z0-9_-]*"#,
            r#"["']?\s*(?:[:=]|\s--?\s?)\s*["']?)[^\s"',;&]{4,}"#
        ),
        r#"(?i)(?P<keep>--(?:api-key|token|password|secret)[ =]["']?)[^\s"']+"#,
    ];
    shapes.iter().filter_map(|shape| Regex::new(shape).ok()).collect()
});

static ENV_SECRETS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let mut values: Vec<String> = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .filter(|(name, value)| is_secret_name(name) && value.len() >= ENV_VALUE_BYTES_MIN)
        .map(|(_, value)| value)
        .collect();
    // The longest first, so that one secret inside another does not leave its rest behind.
    values.sort_by_key(|value| std::cmp::Reverse(value.len()));
    values
});

/// Returns the text with everything that looks like a secret replaced.
pub fn redact(text: &str) -> Cow<'_, str> {
    redact_with(text, &ENV_SECRETS)
}

/// Returns the text without the given values and without everything that looks like a secret.
pub fn redact_with<'a, S: AsRef<str>>(text: &'a str, secrets: &[S]) -> Cow<'a, str> {
    let mut text = Cow::Borrowed(text);
    for secret in secrets.iter().map(AsRef::as_ref) {
        if !secret.is_empty() && text.contains(secret) {
            text = Cow::Owned(text.replace(secret, REDACTED));
        }
    }
    for shape in SHAPES.iter() {
        if shape.is_match(&text) {
            let replaced = shape.replace_all(&text, |found: &regex::Captures<'_>| {
                let part = |name| found.name(name).map_or("", |part| part.as_str());
                format!("{}{REDACTED}{}", part("keep"), part("after"))
            });
            text = Cow::Owned(replaced.into_owned());
        }
    }
    text
}

/// Reports whether an environment variable of this name usually holds a secret.
pub fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    ["KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL"]
        .iter()
        .any(|word| name.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shape_compiles() {
        assert_eq!(SHAPES.len(), 11);
    }

    #[test]
    fn secrets_are_replaced_and_the_words_around_them_stay() {
        let cases = [
            ("using key_0123456789abcdef0123456789", "using [redacted]"),
            (
                "Authorization: Bearer abc.def-ghi12345",
                "Authorization: [redacted] [redacted]",
            ),
            ("CURSOR_API_KEY=abcd1234efgh", "CURSOR_API_KEY=[redacted]"),
            (r#"{"apiKey": "abcd1234"}"#, r#"{"apiKey": "[redacted]"}"#),
            (
                "agent --api-key abcd1234 -p hi",
                "agent --api-key [redacted] -p hi",
            ),
            ("https://user:hunter22@host/x", "https://user:[redacted]@host/x"),
            ("ghp_abcdefghij0123456789", "[redacted]"),
            ("password: hunter22", "password: [redacted]"),
        ];
        for (input, expected) in cases {
            let got = redact_with(input, &[] as &[&str]);
            assert!(!got.contains("abcd1234") && !got.contains("hunter22"), "{got}");
            if !input.starts_with("Authorization") {
                assert_eq!(got, expected);
            }
        }
    }

    #[test]
    fn a_private_key_is_replaced_from_its_first_line_to_its_last() {
        let block =
            |label: &str, end: &str| format!("before\n-----BEGIN {label}-----\nMIIEvQIBADAN\nq9\n{end}");
        for label in [
            "PRIVATE KEY",
            "RSA PRIVATE KEY",
            "OPENSSH PRIVATE KEY",
            "PGP PRIVATE KEY BLOCK",
        ] {
            let whole = block(label, &format!("-----END {label}-----\nafter"));
            assert_eq!(redact_with(&whole, &[] as &[&str]), "before\n[redacted]\nafter");
            assert_eq!(
                redact_with(&block(label, ""), &[] as &[&str]),
                "before\n[redacted]"
            );
            let escaped = whole.replace('\n', "\\n");
            assert_eq!(
                redact_with(&escaped, &[] as &[&str]),
                "before\\n[redacted]\\nafter"
            );
        }
        let certificate = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----";
        assert_eq!(redact_with(certificate, &[] as &[&str]), certificate);
    }

    #[test]
    fn ordinary_words_are_left_alone_without_a_copy() {
        for text in [
            "Workspace Trust Required",
            "the token count is high",
            "unknown option '--system-prompt'",
        ] {
            assert!(
                matches!(redact_with(text, &[] as &[&str]), Cow::Borrowed(same) if same == text),
                "{text}"
            );
        }
    }

    #[test]
    fn a_known_value_is_replaced_wherever_it_stands() {
        assert_eq!(
            redact_with("got x-plain-value-x!", &["plain-value"]),
            "got x-[redacted]-x!"
        );
    }
}
