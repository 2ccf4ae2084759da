//! Agents' words escaped for the medium that shows them, so that it shows them literally.
//!
//! Whatever an agent writes, it cannot ping a channel, hide where a link leads, or format its words as ours.

/// Escapes text for Slack, where `<…>` is a link, a mention or a command, and `&` begins an entity.
pub(super) fn for_slack(text: &str) -> String {
    escape_markup(text)
}

/// Escapes the body of a desktop notification.
///
/// `notify-send` resolves backslashes, and the desktop then reads a small part of HTML.
pub(super) fn for_notify_send(text: &str) -> String {
    escape_markup(text).replace('\\', "\\\\")
}

fn escape_markup(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Reads a text as Slack does: `<…>` are its own controls, three entities are resolved, and nothing else is.
    fn shown_by_slack(text: &str) -> (String, Vec<String>) {
        let (mut shown, mut controls) = (String::new(), Vec::new());
        let mut rest = text;
        while let Some(start) = rest.find('<') {
            shown.push_str(&rest[..start]);
            match rest[start..].find('>') {
                Some(end) => {
                    controls.push(rest[start + 1..start + end].to_owned());
                    rest = &rest[start + end + 1..];
                }
                None => {
                    shown.push('<');
                    rest = &rest[start + 1..];
                }
            }
        }
        shown.push_str(rest);
        (entities_resolved(&shown), controls)
    }

    fn entities_resolved(text: &str) -> String {
        text.replace("&lt;", "<")
            .replace("&gt;", ">")
            .replace("&amp;", "&")
    }

    /// Resolves backslashes as GLib's `g_strcompress` does.
    fn compressed(text: &str) -> String {
        let mut shown = String::new();
        let mut letters = text.chars();
        while let Some(letter) = letters.next() {
            match letter {
                '\\' => match letters.next() {
                    Some('n') => shown.push('\n'),
                    Some('t') => shown.push('\t'),
                    Some(other) => shown.push(other),
                    None => {}
                },
                other => shown.push(other),
            }
        }
        shown
    }

    #[test]
    fn nobody_is_pinged_and_no_link_is_masked() {
        for hostile in [
            "<!channel> now",
            "<@U012AB3CD>",
            "<https://evil.test|https://bank.test>",
            "&lt;!here&gt;",
        ] {
            let (shown, controls) = shown_by_slack(&for_slack(hostile));
            assert_eq!((shown.as_str(), controls), (hostile, vec![]));
        }
        assert_eq!(
            for_notify_send("<a href=\"x\">\\n</a>"),
            "&lt;a href=\"x\"&gt;\\\\n&lt;/a&gt;"
        );
    }

    proptest! {
        #[test]
        fn every_medium_shows_an_agents_text_literally(text in "[<>&;!@|#a-z\\\\\n/:. ltgamp-]{0,60}|\\PC{0,40}") {
            let (shown, controls) = shown_by_slack(&for_slack(&text));
            prop_assert_eq!(&shown, &text);
            prop_assert!(controls.is_empty());
            let body = compressed(&for_notify_send(&text));
            prop_assert!(!body.contains(['<', '>']));
            prop_assert_eq!(entities_resolved(&body), text);
        }
    }
}
