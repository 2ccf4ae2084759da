//! The person's own editor, as `VISUAL` or `EDITOR` names it.

use std::io::{Read, Write};
use std::path::Path;
use std::process::Command;

use protocol_spec::answer::ANSWER_BYTES_MAX;

use crate::environment::variable;

/// The editor that every Unix has.
const EDITOR_DEFAULT: &str = "vi";

/// Lets a person edit a text in a private file, and returns what they saved.
pub(crate) fn edit(text: &str) -> Result<String, String> {
    let said = |error: std::io::Error| error.to_string();
    let mut file = tempfile::Builder::new()
        .prefix("cueme-")
        .suffix(".md")
        .tempfile()
        .map_err(said)?;
    file.write_all(text.as_bytes()).map_err(said)?;
    file.flush().map_err(said)?;
    let editor = variable("VISUAL").or_else(|| variable("EDITOR"));
    run(editor.as_deref().unwrap_or(EDITOR_DEFAULT), file.path())?;
    // Editors replace the file, so it is opened anew.
    let saved = std::fs::File::open(file.path()).map_err(said)?;
    let mut edited = String::new();
    let limit = u64::try_from(ANSWER_BYTES_MAX).unwrap_or(u64::MAX);
    let count = saved
        .take(limit.saturating_add(1))
        .read_to_string(&mut edited)
        .map_err(said)?;
    if count > ANSWER_BYTES_MAX {
        return Err(format!("the text is longer than {ANSWER_BYTES_MAX} bytes"));
    }
    Ok(edited.trim_end_matches(['\n', '\r']).to_owned())
}

/// Runs an editor as shells and git do: its name may come with arguments.
fn run(editor: &str, path: &Path) -> Result<(), String> {
    let status = Command::new("/bin/sh")
        .args(["-c", &format!("{editor} \"$1\""), "sh"])
        .arg(path)
        .status()
        .map_err(|error| error.to_string())?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("`{editor}` ended with {status}; your text is unchanged"))
    }
}
