//! Names with a `*` for any part.

/// Says whether a name fits a pattern in which `*` stands for any text, also none. Case does not count.
pub(super) fn fits(pattern: &str, name: &str) -> bool {
    let (pattern, name) = (pattern.to_lowercase(), name.to_lowercase());
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| name.strip_prefix(first)) else {
        return false;
    };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else {
        return rest.is_empty();
    };
    for part in middle {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_anything() {
        for (pattern, name) in [
            ("*", ""),
            ("bako-*", "bako-nefi"),
            ("*/web", "/home/me/web"),
            ("/home/*/web*", "/home/me/website"),
            ("Build*", "build bot"),
            ("a", "a"),
            ("a*a", "aa"),
        ] {
            assert!(fits(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in [("a", "ab"), ("a*", "ba"), ("*x", "xy"), ("a*a", "a"), ("", "a")] {
            assert!(!fits(pattern, name), "{pattern} {name}");
        }
    }
}
