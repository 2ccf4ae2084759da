//! The targets of links, and whether their text is honest about them.

/// Returns the host of an address that may be linked to, or `None` for all others.
pub(super) fn linkable_host(address: &str) -> Option<&str> {
    let (scheme, rest) = address.split_once(':')?;
    match scheme.to_ascii_lowercase().as_str() {
        "http" | "https" => {
            let authority = rest.strip_prefix("//")?.split(['/', '?', '#', '\\']).next()?;
            // The text before an @ looks like a host and is none.
            let host = authority.rsplit('@').next()?;
            (!host.is_empty()).then_some(host)
        }
        "mailto" => rest.rsplit('@').next().filter(|host| !host.is_empty()),
        _ => None,
    }
}

/// Returns the target host of an address, in ASCII, if the address as written may be mistaken for another's: letters of
/// other scripts look like ours, and a name before an `@` looks like a host.
pub(super) fn disguised_host(address: &str) -> Option<String> {
    let written = linkable_host(address)?;
    let parsed = url::Url::parse(address).ok()?;
    let is_disguised = !written.is_ascii() || !parsed.username().is_empty() || parsed.password().is_some();
    parsed.host_str().filter(|_| is_disguised).map(str::to_owned)
}

/// Finds the addresses in a text: the byte ranges of each.
pub(super) fn bare_addresses(text: &str) -> Vec<std::ops::Range<usize>> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = text[from..].find("http").map(|at| from + at) {
        let tail = &text[at..];
        let is_address = tail.starts_with("http://") || tail.starts_with("https://");
        let stands_alone = !text[..at].ends_with(|before: char| before.is_alphanumeric());
        let end = at + end_of_address(tail);
        if is_address && stands_alone && linkable_host(&text[at..end]).is_some() {
            found.push(at..end);
            from = end;
        } else {
            from = at + "http".len();
        }
    }
    found
}

/// Ends an address at white space, quotes and brackets, and leaves the punctuation of the sentence behind.
fn end_of_address(text: &str) -> usize {
    let end = text
        .find(|letter: char| {
            letter.is_whitespace() || letter.is_control() || "<>\"'`，。；：！？）】》」".contains(letter)
        })
        .unwrap_or(text.len());
    let mut address = &text[..end];
    loop {
        let shorter = address.trim_end_matches(['.', ',', ';', ':', '!', '?', '*', '_', '~']);
        let closes = shorter.ends_with(')') && shorter.matches('(').count() < shorter.matches(')').count();
        let shorter = if closes {
            &shorter[..shorter.len() - 1]
        } else {
            shorter
        };
        if shorter.len() == address.len() {
            return address.len();
        }
        address = shorter;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_web_and_mail_can_be_linked_to() {
        assert_eq!(linkable_host("https://example.org/a?b"), Some("example.org"));
        assert_eq!(linkable_host("https://github.com@evil.test/x"), Some("evil.test"));
        assert_eq!(linkable_host("mailto:a@b.c"), Some("b.c"));
        for address in [
            "javascript:alert(1)",
            "data:text/html,x",
            "//x.y",
            "file:///etc",
            "http:",
            "a",
        ] {
            assert_eq!(linkable_host(address), None, "{address}");
        }
    }

    #[test]
    fn a_host_that_looks_like_another_is_named_in_ascii() {
        assert_eq!(
            disguised_host("https://аррӏе.com/x").as_deref(),
            Some("xn--80ak6aa92e.com")
        );
        assert_eq!(
            disguised_host("https://github.com@evil.test/x").as_deref(),
            Some("evil.test")
        );
        for plain in ["https://example.org/ä", "mailto:a@b.c", "javascript:x"] {
            assert_eq!(disguised_host(plain), None, "{plain}");
        }
    }

    #[test]
    fn addresses_in_a_sentence_are_found_without_its_punctuation() {
        let text = "see https://a.b/c_(d), http://e.f. and (https://g.h) xhttp://no.no 见https://i.j。";
        let found: Vec<&str> = bare_addresses(text)
            .into_iter()
            .map(|range| &text[range])
            .collect();
        assert_eq!(found, ["https://a.b/c_(d)", "http://e.f", "https://g.h"]);
    }
}
