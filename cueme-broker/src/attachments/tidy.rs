//! Removes files that no answer carries.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use protocol_spec::id::CueId;
use protocol_spec::time::Timestamp;

use crate::broker::{Broker, blocking};

/// The time that a file is kept without an answer that carries it.
const STRAY_LIFE: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// Deletes files that no answer carries, and drafts whose question is settled.
pub(crate) async fn tidy(broker: &Broker) {
    let tidied = broker
        .engine()
        .write(|store, now| {
            store.drop_settled_drafts()?;
            let life = i64::try_from(STRAY_LIFE.as_millis()).unwrap_or(i64::MAX);
            store.drop_stray_uploads(Timestamp::from_millis(now.as_millis().saturating_sub(life)))
        })
        .await;
    match tidied {
        Ok(Ok(paths)) => {
            let attachments = broker.places().attachments();
            paths
                .iter()
                .for_each(|path| remove_ours(&attachments, Path::new(path)));
        }
        Ok(Err(error)) => tracing::warn!(%error, "could not look for stray files"),
        // The broker is stopping.
        Err(_) => {}
    }
}

/// Removes from this broker's disk what was deleted at any of them: files that were uploaded here, and copies that agents here got.
pub(crate) async fn sweep(broker: Arc<Broker>) {
    const EVERY: Duration = Duration::from_secs(6 * 60 * 60);
    loop {
        let reading = Arc::clone(&broker);
        let swept = blocking(move || {
            let attachments = reading.places().attachments();
            for name in reading.reader().dropped_files()? {
                match name.parse::<CueId>() {
                    Ok(cue) => remove_copies(&attachments, cue),
                    // The paths of other machines mean nothing here.
                    Err(_) if Path::new(&name).starts_with(&attachments) => {
                        remove_ours(&attachments, Path::new(&name));
                    }
                    Err(_) => {}
                }
            }
            Ok(())
        });
        if let Err(failure) = swept.await {
            tracing::warn!(%failure, "could not look for files that were deleted");
        }
        tokio::time::sleep(EVERY).await;
    }
}

/// Removes the copies of files that the agent of a question got on this machine.
fn remove_copies(attachments: &Path, cue: CueId) {
    let directory = attachments.join(cue.as_str());
    // A link is not followed.
    if directory.is_symlink() || !directory.is_dir() {
        return;
    }
    if let Err(error) = std::fs::remove_dir_all(&directory) {
        tracing::warn!(%error, path = %directory.display(), "could not remove the files of a question");
    }
}

/// Removes a stored file. A row may name any path, above all after a restore: nothing outside our directory is touched.
pub(crate) fn remove_ours(attachments: &Path, path: &Path) {
    // Resolved, so that neither `..` nor a link on the way leads out; the last part is a name and is not followed.
    let parent = path.parent().and_then(|parent| parent.canonicalize().ok());
    let is_ours = match (parent, attachments.canonicalize().ok()) {
        (Some(parent), Some(ours)) => path.file_name().is_some() && parent.starts_with(ours),
        (None, _) | (_, None) => false,
    };
    if is_ours {
        remove(path);
    } else if path.exists() {
        tracing::warn!(path = %path.display(), "not removed: it is outside the directory of attachments");
    }
}

/// Removes a file, if it is there.
pub(super) fn remove(path: &Path) {
    if let Err(error) = std::fs::remove_file(path)
        && error.kind() != std::io::ErrorKind::NotFound
    {
        tracing::warn!(%error, path = %path.display(), "could not remove a file");
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn only_files_of_ours_are_removed_whatever_path_is_named() {
        let home = tempfile::tempdir().unwrap();
        let attachments = home.path().join("attachments");
        let precious = home.path().join("precious.txt");
        std::fs::create_dir(&attachments).unwrap();
        std::os::unix::fs::symlink(home.path(), attachments.join("out")).unwrap();
        let ours = attachments.join("ours.txt");
        std::fs::write(&ours, "x").unwrap();
        std::fs::write(&precious, "x").unwrap();
        for path in [
            precious.clone(),
            attachments.join("../precious.txt"),
            attachments.join("out/precious.txt"),
            attachments.join(".."),
            PathBuf::from("precious.txt"),
        ] {
            remove_ours(&attachments, &path);
            assert!(precious.exists() && attachments.exists(), "{}", path.display());
        }
        remove_ours(&home.path().join("missing"), &precious);
        assert!(precious.exists());
        // The link itself is removed, and not its target.
        let link = attachments.join("link.txt");
        std::os::unix::fs::symlink(&precious, &link).unwrap();
        remove_ours(&attachments, &link);
        assert!(precious.exists() && !link.is_symlink());
        remove_ours(&attachments, &ours);
        assert!(!ours.exists());
    }
}
