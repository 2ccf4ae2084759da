//! The last continuation of a session's stop hook.
//!
//! Some hosts hand the words with which a turn goes on to the prompt hook, as if the human had typed them there. Only
//! their digest is kept, to know them again.

use protocol_spec::endpoint::Places;

use super::lease::{folder, short_digest};

/// Notes the words with which the turn goes on.
pub(super) fn note(places: &Places, session: &str, text: &str) {
    let text = text.trim();
    if let Ok(folder) = folder(places) {
        let known = format!("{} {}", text.len(), short_digest(text));
        let _ = std::fs::write(folder.join(name(session)), known);
    }
}

/// Says whether a prompt is what a hook just said. Hosts may put context of their own before it.
pub(super) fn is_it(places: &Places, session: &str, prompt: Option<&str>) -> bool {
    matches(places, session, prompt).unwrap_or(false)
}

fn matches(places: &Places, session: &str, prompt: Option<&str>) -> Option<bool> {
    let known = std::fs::read_to_string(folder(places).ok()?.join(name(session))).ok()?;
    let (length, wanted) = known.split_once(' ')?;
    let prompt = prompt?.trim();
    let end = prompt.get(prompt.len().checked_sub(length.parse().ok()?)?..)?;
    Some(!end.is_empty() && short_digest(end) == wanted)
}

fn name(session: &str) -> String {
    format!("{}.said", short_digest(session))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_words_that_were_said_are_known_again() {
        let home = tempfile::tempdir().unwrap();
        let places = Places::below(home.path());
        assert!(!is_it(&places, "s", Some("go on")));
        note(&places, "s", "继续 go on\n");
        assert!(is_it(&places, "s", Some("继续 go on")));
        assert!(is_it(&places, "s", Some("<context>x</context>\n继续 go on\n")));
        for other in [Some("go on"), Some("续 go on"), Some(""), None] {
            assert!(!is_it(&places, "s", other), "{other:?}");
        }
        assert!(!is_it(&places, "t", Some("继续 go on")));
    }
}
