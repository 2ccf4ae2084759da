//! Finds chats: where Cursor keeps them, which there are, and which one an id means.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use md5::{Digest, Md5};
use serde::Serialize;
use serde_json::Value;

use super::error::ChatsError;
use super::load::load_meta;
use super::schema::hex;

/// The file of a chat.
pub const STORE_FILE: &str = "store.db";
/// The most entries looked at in one directory.
const ENTRIES_MAX: usize = 100_000;
/// The longest name that can be a chat id; real ones are UUIDs.
const CHAT_ID_BYTES_MAX: usize = 128;
/// The largest side file that is read.
const SIDE_FILE_BYTES_MAX: u64 = 64 << 10;

/// The directory that holds every project's chats.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChatsRoot {
    dir: PathBuf,
}

/// A chat that was found, without its messages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ChatSummary {
    /// The id Cursor knows the chat by: its directory's name.
    pub chat_id: String,
    /// The directory of its project, an MD5 of the working directory.
    pub project_id: String,
    /// The title.
    pub name: Option<String>,
    /// The agent's mode.
    pub mode: Option<String>,
    /// Creation, in milliseconds since 1970.
    pub created_at: Option<i64>,
    /// The last write, in milliseconds since 1970.
    pub updated_at: Option<i64>,
    /// The working directory, where Cursor wrote it down.
    pub cwd: Option<String>,
    /// Whether anything was said yet.
    pub has_messages: bool,
    /// Whether the chat belongs to a sub-agent.
    pub is_subagent: bool,
    /// The store.
    pub path: PathBuf,
}

/// The chats of one working directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Project {
    /// The MD5 of the working directory.
    pub project_id: String,
    /// The working directory, where a chat has it written down.
    pub cwd: Option<String>,
    /// Its chats, the most recently written first.
    pub chats: Vec<ChatSummary>,
}

/// Every chat that was found.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Listing {
    /// The projects, the most recently written first.
    pub projects: Vec<Project>,
    /// The parts that could not be read.
    pub warnings: Vec<String>,
}

impl ChatsRoot {
    /// Uses this directory.
    pub fn new(dir: impl Into<PathBuf>) -> Self {
        ChatsRoot { dir: dir.into() }
    }

    /// Finds the directory as Cursor does.
    ///
    /// # Errors
    ///
    /// Fails if the environment does not say where home is.
    pub fn from_env() -> Result<Self, ChatsError> {
        let candidates = candidates(|name| env::var_os(name).filter(|value| !value.is_empty()));
        let existing = candidates.iter().find(|dir| dir.is_dir());
        existing
            .or(candidates.last())
            .cloned()
            .map(ChatsRoot::new)
            .ok_or(ChatsError::NoHome)
    }

    /// Returns the directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Lists every project with its chats. A directory that does not exist has none.
    ///
    /// # Errors
    ///
    /// Fails if the directory exists and cannot be read.
    pub fn list(&self) -> Result<Listing, ChatsError> {
        let mut listing = Listing::default();
        for dir in subdirectories(&self.dir)? {
            let project = list_project(&dir, &mut listing.warnings);
            listing.projects.extend(project);
        }
        let newest = |project: &Project| project.chats.first().and_then(|chat| chat.updated_at);
        listing
            .projects
            .sort_by_key(|project| std::cmp::Reverse(newest(project)));
        Ok(listing)
    }

    /// Lists the chats of one working directory.
    ///
    /// # Errors
    ///
    /// Fails if `cwd` does not exist.
    pub fn list_for(&self, cwd: &Path) -> Result<Listing, ChatsError> {
        let dir = self.dir.join(project_id(cwd)?);
        let mut listing = Listing::default();
        if dir.is_dir() {
            let project = list_project(&dir, &mut listing.warnings);
            listing.projects.extend(project);
        }
        Ok(listing)
    }

    /// Returns the store of a chat: that of the working directory if it has one, else the only one there is.
    ///
    /// # Errors
    ///
    /// Fails if the id is not one, or if no chat or several chats have it.
    pub fn find(&self, chat_id: &str, cwd: Option<&Path>) -> Result<PathBuf, ChatsError> {
        check_chat_id(chat_id)?;
        let store_in = |project: &Path| project.join(chat_id).join(STORE_FILE);
        if let Some(id) = cwd.and_then(|cwd| project_id(cwd).ok()) {
            let store = store_in(&self.dir.join(id));
            if store.is_file() {
                return Ok(store);
            }
        }
        let mut found: Vec<_> = subdirectories(&self.dir)?
            .iter()
            .map(|dir| store_in(dir))
            .collect();
        found.retain(|store| store.is_file());
        match found.len() {
            0 => Err(ChatsError::UnknownChat {
                id: chat_id.to_owned(),
                root: self.dir.clone(),
            }),
            1 => Ok(found.swap_remove(0)),
            count => Err(ChatsError::AmbiguousChat {
                id: chat_id.to_owned(),
                count,
            }),
        }
    }

    /// Returns the store that a user's words mean: an existing path, a chat's directory, or a chat id.
    ///
    /// # Errors
    ///
    /// Fails as [`ChatsRoot::find`] does, and if words with a path separator name nothing.
    pub fn resolve(&self, words: &str, cwd: Option<&Path>) -> Result<PathBuf, ChatsError> {
        let path = Path::new(words);
        let is_path = path.components().count() > 1 || path.is_absolute() || words.ends_with(".db");
        match fs::metadata(path) {
            Ok(metadata) if metadata.is_dir() && path.join(STORE_FILE).exists() => Ok(path.join(STORE_FILE)),
            Ok(metadata) if !metadata.is_dir() || is_path => Ok(path.to_owned()),
            Err(source) if is_path => Err(ChatsError::Io {
                attempt: "open",
                path: path.to_owned(),
                source,
            }),
            _ => self.find(words, cwd),
        }
    }
}

/// Returns the name of the directory that Cursor keeps a working directory's chats in.
///
/// # Errors
///
/// Fails if the working directory cannot be resolved.
pub fn project_id(cwd: &Path) -> Result<String, ChatsError> {
    let real = fs::canonicalize(cwd).map_err(|source| ChatsError::Io {
        attempt: "resolve",
        path: cwd.to_owned(),
        source,
    })?;
    Ok(hex(&Md5::digest(real.as_os_str().as_encoded_bytes())))
}

/// Refuses ids that would lead out of the chats' directory.
fn check_chat_id(id: &str) -> Result<(), ChatsError> {
    let reason = if id.is_empty() {
        "it is empty"
    } else if id.len() > CHAT_ID_BYTES_MAX {
        "it is too long"
    } else if id.contains(['/', '\\']) {
        "it contains a path separator"
    } else if id == "." || id == ".." || id.contains(char::is_control) {
        "it is not a name"
    } else {
        return Ok(());
    };
    Err(ChatsError::InvalidChatId {
        id: id.to_owned(),
        reason,
    })
}

/// Returns where chats may be, best first. The last is where they were seen on every machine so far.
fn candidates(var: impl Fn(&str) -> Option<OsString>) -> Vec<PathBuf> {
    let named = var("CURSOR_CONFIG_DIR").map(PathBuf::from);
    let config = var("XDG_CONFIG_HOME").map(|dir| Path::new(&dir).join("cursor"));
    let home = var("HOME").map(|dir| Path::new(&dir).join(".cursor"));
    // The directory the user named decides alone.
    let dirs = if named.is_some() {
        vec![named]
    } else {
        vec![config, home]
    };
    dirs.into_iter().flatten().map(|dir| dir.join("chats")).collect()
}

fn list_project(dir: &Path, warnings: &mut Vec<String>) -> Option<Project> {
    let project_id = dir.file_name()?.to_string_lossy().into_owned();
    let chat_dirs = subdirectories(dir).unwrap_or_else(|error| {
        warnings.push(error.to_string());
        Vec::new()
    });
    let mut chats: Vec<_> = chat_dirs
        .iter()
        .filter_map(|dir| summarise(dir, &project_id, warnings))
        .collect();
    chats.sort_by_key(|chat| std::cmp::Reverse(chat.updated_at));
    let cwd = chats.iter().find_map(|chat| chat.cwd.clone());
    (!chats.is_empty()).then_some(Project {
        project_id,
        cwd,
        chats,
    })
}

fn summarise(dir: &Path, project_id: &str, warnings: &mut Vec<String>) -> Option<ChatSummary> {
    let path = dir.join(STORE_FILE);
    if fs::symlink_metadata(&path).is_err() {
        return None;
    }
    let chat_id = dir.file_name()?.to_string_lossy().into_owned();
    let (meta, _) = match load_meta(&path) {
        Ok(meta) => meta,
        Err(error) => {
            warnings.push(error.to_string());
            return None;
        }
    };
    let side = side_file(dir);
    let side_text = |key: &str| side[key].as_str().map(str::to_owned);
    Some(ChatSummary {
        chat_id,
        project_id: project_id.to_owned(),
        name: meta.name.or_else(|| side_text("title")),
        mode: meta.mode,
        created_at: meta.created_at.or_else(|| side["createdAtMs"].as_i64()),
        updated_at: last_write(&path),
        cwd: side_text("cwd"),
        has_messages: meta.root_blob_id.is_some(),
        is_subagent: meta.is_subagent || side["isSubagent"].as_bool() == Some(true),
        path,
    })
}

/// Reads the file that newer versions keep beside the store; null if there is none.
fn side_file(dir: &Path) -> Value {
    let path = dir.join("meta.json");
    match fs::metadata(&path) {
        Ok(metadata) if metadata.is_file() && metadata.len() <= SIDE_FILE_BYTES_MAX => {}
        _ => return Value::Null,
    }
    fs::read(path)
        .ok()
        .and_then(|bytes| serde_json::from_slice(&bytes).ok())
        .unwrap_or(Value::Null)
}

/// Returns the time of the last write to a store or to its log.
fn last_write(store: &Path) -> Option<i64> {
    let log = store.with_extension("db-wal");
    let written = [store, &log]
        .into_iter()
        .filter_map(|path| fs::metadata(path).ok());
    let times = written
        .filter(|metadata| metadata.len() > 0)
        .filter_map(|metadata| metadata.modified().ok());
    let newest = times.max()?.duration_since(UNIX_EPOCH).ok()?;
    i64::try_from(newest.as_millis()).ok()
}

/// Returns the directories inside a directory, in order of name; none if it does not exist.
pub(super) fn subdirectories(dir: &Path) -> Result<Vec<PathBuf>, ChatsError> {
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(source) => {
            return Err(ChatsError::Io {
                attempt: "list",
                path: dir.to_owned(),
                source,
            });
        }
    };
    let paths = entries
        .take(ENTRIES_MAX)
        .filter_map(|entry| Some(entry.ok()?.path()));
    let mut dirs: Vec<_> = paths.filter(|path| path.is_dir()).collect();
    dirs.sort();
    Ok(dirs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;
    use tempfile::TempDir;

    #[test]
    fn a_project_is_named_by_the_resolved_directory() {
        let home = TempDir::new().unwrap();
        let real = home.path().canonicalize().unwrap().join("real");
        fs::create_dir(&real).unwrap();
        let link = home.path().join("link");
        symlink(&real, &link).unwrap();
        let expected = hex(&Md5::digest(real.to_str().unwrap()));
        assert_eq!(project_id(&link).unwrap(), expected);
        assert_eq!(project_id(&real.join(".")).unwrap(), expected);
    }

    #[test]
    fn the_hash_is_the_one_seen_on_a_real_machine() {
        // Taken from a published pair of working directory and chat directory.
        assert_eq!(
            hex(&Md5::digest("/private/tmp/cursor-test")),
            "ca5afc7ffac8223694b6d5b22b279392"
        );
    }

    #[test]
    fn ids_that_lead_elsewhere_are_refused() {
        for id in ["", "..", ".", "../x", "a/b", "a\\b", "a\0b", &"x".repeat(200)] {
            let error = ChatsRoot::new("/nonexistent").find(id, None).unwrap_err();
            assert!(
                matches!(error, ChatsError::InvalidChatId { .. }),
                "{id:?}: {error}"
            );
        }
    }

    #[test]
    fn the_environment_decides_where_chats_are() {
        let dirs = |pairs: &[(&str, &str)]| {
            let pairs = pairs.to_vec();
            candidates(|name| {
                pairs
                    .iter()
                    .find(|(key, _)| *key == name)
                    .map(|(_, value)| value.into())
            })
        };
        let path = |text: &str| PathBuf::from(text);
        assert_eq!(dirs(&[("HOME", "/h")]), [path("/h/.cursor/chats")]);
        assert_eq!(
            dirs(&[("HOME", "/h"), ("XDG_CONFIG_HOME", "/x")]),
            [path("/x/cursor/chats"), path("/h/.cursor/chats")]
        );
        assert_eq!(
            dirs(&[("HOME", "/h"), ("CURSOR_CONFIG_DIR", "/c")]),
            [path("/c/chats")]
        );
    }
}
