//! Agents' words escaped for the medium that shows them, so that it shows them literally.
//!
//! An agent's text cannot ping a channel, hide the target of a link, or format its words as ours.

/// An invisible character that separates the text on its two sides.
const WORD_JOINER: char = '\u{2060}';

/// Escapes text for Slack, where `<…>` is a link, a mention or a command, and `&` begins an entity.
///
/// Mattermost, Rocket.Chat and others take the same messages and always read them as Markdown, in which `[text](address)` is a
/// link and `@channel` calls everybody. Slack shows both as they are, also with a word joiner in between.
pub(super) fn for_slack(text: &str) -> String {
    set_apart(&escape_markup(text), |before, letter, next| {
        let is_link = letter == ']' && matches!(next, '(' | '[' | ':');
        is_link || is_mention(before, letter, next)
    })
}

/// Keeps `@name` from notifying people, where nothing else is markup.
pub(super) fn without_mentions(text: &str) -> String {
    set_apart(text, is_mention)
}

fn is_mention(before: char, letter: char, next: char) -> bool {
    letter == '@' && !before.is_alphanumeric() && next.is_alphanumeric()
}

/// Puts a word joiner after each character that is special between its neighbours.
fn set_apart(text: &str, means_something: impl Fn(char, char, char) -> bool) -> String {
    let mut apart = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    let mut before = ' ';
    while let Some(letter) = letters.next() {
        apart.push(letter);
        if means_something(before, letter, letters.peek().copied().unwrap_or(' ')) {
            apart.push(WORD_JOINER);
        }
        before = letter;
    }
    apart
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
    use pulldown_cmark::{Event, Tag};

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
            assert_eq!(
                (shown.replace(WORD_JOINER, ""), controls),
                (hostile.to_owned(), vec![])
            );
        }
        assert_eq!(
            for_notify_send("<a href=\"x\">\\n</a>"),
            "&lt;a href=\"x\"&gt;\\\\n&lt;/a&gt;"
        );
    }

    /// Finds the links of a text, as a server that reads Markdown does.
    fn links(text: &str) -> usize {
        let events = pulldown_cmark::Parser::new(text);
        events
            .filter(|event| matches!(event, Event::Start(Tag::Link { .. } | Tag::Image { .. })))
            .count()
    }

    #[test]
    fn servers_that_read_markdown_mask_no_link_and_call_nobody() {
        for hostile in [
            "[https://bank.test](https://evil.test)",
            "![chart](https://evil.test/x.png)",
            "[bank][1]\n\n[1]: https://evil.test",
            "[bank]\n\n[bank]: https://evil.test",
        ] {
            assert_eq!(links(hostile), 1, "{hostile}");
            assert_eq!(links(&for_slack(hostile)), 0, "{hostile}");
        }
        assert_eq!(
            for_slack("@channel, (@all) a@b.example @"),
            "@\u{2060}channel, (@\u{2060}all) a@b.example @"
        );
        assert_eq!(for_slack("plain [x] (y) text: 1"), "plain [x] (y) text: 1");
    }

    proptest! {
        #[test]
        fn no_markdown_of_an_agent_becomes_a_link(text in "[\\[\\]()!:<>\\\\a/. \n\t-]{0,60}") {
            prop_assert_eq!(links(&for_slack(&text)), 0, "{:?}", text);
        }

        #[test]
        fn every_medium_shows_an_agents_text_literally(text in "[<>&;!@|#a-z\\\\\n/:. ltgamp-]{0,60}|\\PC{0,40}") {
            let (shown, controls) = shown_by_slack(&for_slack(&text));
            prop_assert_eq!(shown.replace(WORD_JOINER, ""), text.replace(WORD_JOINER, ""));
            prop_assert!(controls.is_empty());
            let body = compressed(&for_notify_send(&text));
            prop_assert!(!body.contains(['<', '>']));
            prop_assert_eq!(entities_resolved(&body), text);
        }
    }
}
