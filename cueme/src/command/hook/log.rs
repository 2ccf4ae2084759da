//! The log of hooks: nobody reads a hook's stderr, so what went wrong stands here.

use protocol_spec::endpoint::Places;

use crate::log_file;

/// The log's name in the log directory.
const NAME: &str = "hook.log";

/// Adds a line. A log that cannot be written changes nothing for the host.
pub(super) fn note(places: &Places, line: &str) {
    log_file::note(places, NAME, line);
}
