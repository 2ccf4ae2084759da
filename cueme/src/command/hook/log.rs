//! The log of hooks: a hook's stderr is not read by people, so errors go here.

use protocol_spec::endpoint::Places;

use crate::log_file;

/// The log's name in the log directory.
const NAME: &str = "hook.log";

/// Adds a line. A log that cannot be written changes nothing for the host.
pub(super) fn note(places: &Places, line: &str) {
    log_file::note(places, NAME, line);
}
