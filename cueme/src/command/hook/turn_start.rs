//! When a session's turn began, so that a delivery in an earlier turn does not count for this one.

use protocol_spec::endpoint::Places;
use protocol_spec::time::Timestamp;

use super::lease::{digest, folder, hexadecimal};
use crate::display::now;

/// Notes that a turn begins now. Without the note every delivery counts.
pub(super) fn mark(places: &Places, session: &str) {
    if let Ok(folder) = folder(places) {
        let _ = std::fs::write(folder.join(name(session)), now().as_millis().to_string());
    }
}

/// Returns when the turn began, if that was noted.
pub(super) fn of(places: &Places, session: &str) -> Option<Timestamp> {
    let text = std::fs::read_to_string(folder(places).ok()?.join(name(session))).ok()?;
    text.trim().parse().ok().map(Timestamp::from_millis)
}

fn name(session: &str) -> String {
    format!("{}.turn", hexadecimal(&digest(session)))
}
