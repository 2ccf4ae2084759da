//! Puts `cueme` on the search path of an agent.
//!
//! A folder of our own that holds nothing but a link to this program comes first: an agent finds the `cueme` that drives it,
//! and no other program is found in another place than before.

use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use protocol_spec::endpoint::Places;

use crate::environment;

/// The folder with the link, in the data directory.
const FOLDER: &str = "bin";
const PROGRAM: &str = "cueme";

/// Returns the search path for an agent; none where the link cannot be made.
pub(super) fn search_path(places: &Places) -> Option<String> {
    let folder = places.data_dir.join(FOLDER);
    link(&folder).ok()?;
    let folder = folder.to_str()?;
    Some(match environment::variable("PATH") {
        Some(path) => format!("{folder}:{path}"),
        None => folder.to_owned(),
    })
}

/// Returns the absolute paths of this program.
pub(super) fn own_programs() -> Vec<String> {
    let program = environment::executable().ok();
    program
        .and_then(|program| program.to_str().map(str::to_owned))
        .into_iter()
        .collect()
}

/// Makes the link, or leads it to this program, in one step: another agent may be using it.
fn link(folder: &Path) -> io::Result<()> {
    let (program, link) = (environment::executable()?, folder.join(PROGRAM));
    if std::fs::read_link(&link).is_ok_and(|target| target == program) {
        return Ok(());
    }
    std::fs::create_dir_all(folder)?;
    let fresh: PathBuf = folder.join(format!(".{PROGRAM}.{}", std::process::id()));
    let _ = std::fs::remove_file(&fresh);
    symlink(program, &fresh)?;
    std::fs::rename(fresh, link)
}
