//! The mark of a database whose content was moved into the file of a machine: brokers refuse such a database.
//!
//! A move sets it after the file is complete and before the configuration names the file. The broker of that machine opens the
//! database nevertheless, and removes the mark: its configuration still names the database, so the move was not finished.

use std::path::Path;

use cueme_store::StoreError;
use tokio_postgres::Row;

use crate::fault::Fault;

/// Reads the mark.
pub(crate) const FIND_MARK: &str =
    "SELECT moved_host, moved_file, to_char(moved_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI')
    FROM head WHERE moved_host IS NOT NULL";
/// Sets it. The identity changes, so that a broker which was suspended during the move opens the database again, and is refused.
pub(crate) const SET_MARK: &str =
    "UPDATE head SET identity = gen_random_uuid(), moved_host = $1, moved_file = $2,
    moved_at = clock_timestamp()";
/// Removes it.
pub(crate) const REMOVE_MARK: &str = "UPDATE head SET moved_host = NULL, moved_file = NULL, moved_at = NULL";

/// Refuses a database that was moved to another place than this file; says whether there is a mark.
pub(crate) fn check_mark(
    mark: Option<&Row>,
    location: &Path,
    file: Option<&Path>,
) -> Result<bool, StoreError> {
    let Some(mark) = mark else { return Ok(false) };
    let text = |column: usize| mark.try_get::<_, String>(column).map_err(Fault::from);
    let (host, moved_to, at) = (text(0)?, text(1)?, text(2)?);
    if host == host_name() && file.is_some_and(|file| file.to_string_lossy() == moved_to) {
        return Ok(true);
    }
    Err(StoreError::Unsuitable {
        path: location.to_owned(),
        what: format!("its inbox was moved to the file {moved_to} on {host} at {at} UTC"),
        remedy: "name the database that is in use now as `store` in the configuration; \
                 `cueme store move` on that machine moves the inbox into an empty database"
            .into(),
    })
}

/// Returns the name of this machine.
pub(crate) fn host_name() -> String {
    let system = rustix::system::uname();
    system.nodename().to_string_lossy().into_owned()
}
