//! When a session's turn began and with which prompt, so that a delivery in an earlier turn does not count for this one.

use protocol_spec::endpoint::Places;
use protocol_spec::time::Timestamp;

use super::lease::{folder, short_digest};
use crate::display::now;

/// Notes that a turn begins now. Without the note every delivery counts.
pub(super) fn mark(places: &Places, session: &str, prompt_id: Option<&str>) {
    if let Ok(folder) = folder(places) {
        let note = format!("{}\n{}", now().as_millis(), prompt_id.unwrap_or_default());
        let _ = std::fs::write(folder.join(name(session)), note);
    }
}

/// Returns when the turn began, if that was noted.
pub(super) fn of(places: &Places, session: &str) -> Option<Timestamp> {
    let note = read(places, session)?;
    note.lines()
        .next()?
        .trim()
        .parse()
        .ok()
        .map(Timestamp::from_millis)
}

/// Returns the id of the prompt that the turn began with, where the host names prompts.
pub(super) fn prompt_id(places: &Places, session: &str) -> Option<String> {
    let note = read(places, session)?;
    note.lines().nth(1).filter(|id| !id.is_empty()).map(str::to_owned)
}

fn read(places: &Places, session: &str) -> Option<String> {
    std::fs::read_to_string(folder(places).ok()?.join(name(session))).ok()
}

fn name(session: &str) -> String {
    format!("{}.turn", short_digest(session))
}
