//! The allowlist of rendered HTML; everything else is dropped.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

/// The longest name of a language.
const LANGUAGE_BYTES_MAX: usize = 32;

/// Returns the HTML with nothing in it but what is on the list.
pub(super) fn sanitise(html: &str) -> String {
    SANITISER.clean(html).to_string()
}

static SANITISER: LazyLock<ammonia::Builder<'static>> = LazyLock::new(|| {
    let tags = HashSet::from([
        "a",
        "blockquote",
        "br",
        "code",
        "del",
        "em",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "hr",
        "li",
        "ol",
        "p",
        "pre",
        "span",
        "strong",
        "table",
        "tbody",
        "td",
        "th",
        "thead",
        "tr",
        "ul",
    ]);
    let attributes = HashMap::from([
        ("a", HashSet::from(["href", "title", "class"])),
        ("code", HashSet::from(["class"])),
        ("span", HashSet::from(["class", "title"])),
        ("ol", HashSet::from(["start"])),
    ]);
    let mut builder = ammonia::Builder::empty();
    builder
        .tags(tags)
        .tag_attributes(attributes)
        .url_schemes(HashSet::from(["http", "https", "mailto"]))
        .url_relative(ammonia::UrlRelative::Deny)
        .link_rel(Some("noopener noreferrer nofollow"))
        .set_tag_attribute_value("a", "target", "_blank")
        .attribute_filter(|element, attribute, value| match (element, attribute) {
            ("a", "class") => (value == "image").then_some(Cow::Borrowed(value)),
            ("span", "class") => matches!(
                value,
                "delim" | "goes-to" | "info" | "invisible" | "number" | "raw"
            )
            .then_some(Cow::Borrowed(value)),
            ("code", "class") => is_language_class(value).then_some(Cow::Borrowed(value)),
            _ => Some(Cow::Borrowed(value)),
        });
    builder
});

fn is_language_class(value: &str) -> bool {
    value.strip_prefix("language-").is_some_and(|name| {
        !name.is_empty() && name.len() <= LANGUAGE_BYTES_MAX && name.chars().all(is_language_letter)
    })
}

/// Returns the first word of a code block's info, as far as it can be a language.
pub(super) fn language(info: &str) -> String {
    info.split(|letter: char| letter.is_whitespace() || letter == ',')
        .next()
        .unwrap_or_default()
        .chars()
        .filter(|letter| is_language_letter(*letter))
        .take(LANGUAGE_BYTES_MAX)
        .collect()
}

fn is_language_letter(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '+' | '#' | '-' | '_' | '.')
}
