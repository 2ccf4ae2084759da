//! Files that an answer carries are brought to the agent's machine, where they are not there.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use protocol_spec::answer::Attachment;
use protocol_spec::endpoint::Places;
use protocol_spec::id::CueId;
use protocol_spec::message::{DeliveredOutcome, FileWanted, Reply, Request};

use super::session::{Session, mint};
use crate::output;

/// The timeout of one piece of a file.
const PIECE_WAIT_MAX: Duration = Duration::from_secs(30);
/// The longest name that a file keeps here.
const NAME_BYTES_MAX: usize = 200;

/// Brings the files of outcomes here, and has their texts name them where they are then.
///
/// One that cannot be brought is told of; the words of the answer are worth more than a file.
pub(super) fn bring(places: &Places, session: &mut Session, told: &mut [DeliveredOutcome]) {
    for told in told {
        let Some(answer) = &mut told.answer else { continue };
        for (number, file) in answer.attachments.iter_mut().enumerate() {
            // A path of another machine says nothing about this one.
            if !session.is_remote() && Path::new(&file.path).exists() {
                continue;
            }
            match fetch(places, session, told.cue_id, number, file) {
                Ok(here) => {
                    let here = here.display().to_string();
                    told.text = told.text.replace(&file.path, &here);
                    file.path = here;
                }
                Err(why) => output::tell(&format!(
                    "warning: the file {} is on another machine and could not be fetched: {why}",
                    file.path
                )),
            }
        }
    }
}

fn fetch(
    places: &Places,
    session: &mut Session,
    cue: CueId,
    number: usize,
    file: &Attachment,
) -> Result<PathBuf, String> {
    let directory = places.attachments().join(cue.as_str());
    let name = format!("{}-{}", number + 1, plain_name(file));
    let said = |error: io::Error| format!("{}: {error}", directory.display());
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(&directory)
        .map_err(said)?;
    let unfinished = directory.join(format!(".{name}.part"));
    let mut out = OpenOptions::new()
        .create(true)
        .write(true)
        .truncate(true)
        .mode(0o600)
        .open(&unfinished)
        .map_err(said)?;
    let mut offset = 0;
    loop {
        let wanted = FileWanted {
            cue_id: cue,
            path: file.path.clone(),
            offset,
        };
        let (data, bytes) = piece(session, wanted)?;
        out.write_all(&data).map_err(said)?;
        offset += data.len() as u64;
        if offset >= bytes {
            break;
        }
        if data.is_empty() {
            return Err(format!("it ends after {offset} of {bytes} bytes"));
        }
    }
    out.sync_all().map_err(said)?;
    let path = directory.join(name);
    fs::rename(&unfinished, &path).map_err(said)?;
    Ok(path)
}

fn piece(session: &mut Session, wanted: FileWanted) -> Result<(Vec<u8>, u64), String> {
    let deadline = Instant::now() + PIECE_WAIT_MAX;
    session
        .send(mint(), &Request::File(wanted))
        .map_err(|lost| lost.into_error().to_string())?;
    match session.reply(deadline) {
        Ok(Reply::File(piece)) => STANDARD
            .decode(&piece.data)
            .map(|data| (data, piece.bytes))
            .map_err(|error| error.to_string()),
        Ok(Reply::Error(failure)) => Err(failure.message),
        Ok(other) => Err(format!("the broker replied \"{}\"", other.name())),
        Err(lost) => Err(lost.into_error().to_string()),
    }
}

/// Returns a name that is one name, and no hidden one.
fn plain_name(file: &Attachment) -> String {
    let given = file.name.as_deref().unwrap_or(&file.path);
    let last = given.rsplit(['/', '\\']).next().unwrap_or_default();
    let mut name: String = last
        .chars()
        .map(|letter| if letter.is_control() { '_' } else { letter })
        .collect();
    while name.len() > NAME_BYTES_MAX {
        name.pop();
    }
    if name.is_empty() { "file".to_owned() } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_from_elsewhere_stays_in_its_directory() {
        let named = |name: &str| {
            plain_name(&Attachment {
                path: "/x/y.png".into(),
                name: Some(name.into()),
                media_type: None,
            })
        };
        assert_eq!(named("../../etc/passwd"), "passwd");
        assert_eq!(named("a\\..\\b"), "b");
        assert_eq!(named(".."), "..");
        assert_eq!(named(""), "file");
        assert_eq!(named("图\u{7}.png"), "图_.png");
        assert!(named(&"长".repeat(200)).len() <= NAME_BYTES_MAX);
    }
}
