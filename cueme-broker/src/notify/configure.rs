//! The `[[notify]]` sections of the configuration, changed in place, and the files that hold their tokens.
//!
//! `cueme notify` and the page's settings both change channels here. Tokens are kept in files that only their owner can read,
//! and are never read back for anybody.

use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use protocol_spec::endpoint::Places;
use protocol_spec::visible::quoted;
use thiserror::Error;
use toml_edit::{Array, ArrayOfTables, DocumentMut, InlineTable, Item, Table, value};
use uuid::Uuid;

use super::channel::{Channel, People};
use super::reason::{Reason, Reasons};
use crate::config::Config;

/// The longest name of a channel.
const NAME_BYTES_MAX: usize = 64;
/// The longest token.
pub const TOKEN_BYTES_MAX: usize = 4096;
/// The most channels.
const CHANNELS_MAX: usize = 64;
/// The keys of a section that are tokens.
const SECRET_KEYS: [&str; 2] = ["token", "app_token"];

/// A channel to be added.
#[derive(Debug, Clone, Default)]
pub struct NewChannel {
    /// `telegram`, `slack`, `ntfy` or `webhook`.
    pub kind: String,
    /// Its name; its kind unless given.
    pub name: Option<String>,
    /// The other keys of the section: texts.
    pub texts: Vec<(&'static str, String)>,
    /// The people who may answer.
    pub people: People,
    /// Whether the question's text is sent along.
    pub preview: bool,
    /// The reasons to notify; all of them unless given.
    pub reasons: Option<Reasons>,
    /// Its tokens, by their key.
    pub secrets: Vec<(&'static str, String)>,
}

/// The reason why the configuration was not changed.
#[derive(Debug, Error)]
pub enum ConfigureError {
    /// The request is invalid.
    #[error("{0}")]
    Wrong(String),
    /// There is no such channel.
    #[error("there is no channel {0:?}")]
    Unknown(String),
    /// A file could not be read or written.
    #[error("could not {doing} {}: {source}", path.display())]
    Io {
        /// The attempted operation.
        doing: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
}

/// Reads the channels of the configuration.
pub fn channels(places: &Places) -> Result<Vec<Channel>, ConfigureError> {
    let config = Config::load(&places.config).map_err(|error| ConfigureError::Wrong(error.to_string()))?;
    Ok(config.notify)
}

/// Adds a channel and stores its tokens; returns its name. Nothing is changed when the result would not be valid.
pub fn add_channel(places: &Places, channel: &NewChannel) -> Result<String, ConfigureError> {
    let name = channel.name.clone().unwrap_or_else(|| channel.kind.clone());
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
    if name.is_empty() || name.len() > NAME_BYTES_MAX || !name.chars().all(is_plain) {
        let why = format!(
            "{} is no name for a channel; use letters, digits, - and _",
            quoted(&name)
        );
        return Err(ConfigureError::Wrong(why));
    }
    let known = channels(places)?;
    if known.iter().any(|known| known.name == name) {
        return Err(ConfigureError::Wrong(format!(
            "there is a channel {} already",
            quoted(&name)
        )));
    }
    if known.len() >= CHANNELS_MAX {
        let why = format!("there are {CHANNELS_MAX} channels already");
        return Err(ConfigureError::Wrong(why));
    }
    let mut section = section(&name, channel);
    for (key, secret) in &channel.secrets {
        let path = secret_path(places, &name, key);
        keep_secret(&path, secret)?;
        section[key] = value(format!("file:{}", path.display()));
    }
    let added = change_config(places, |document| {
        let sections = document
            .entry("notify")
            .or_insert(Item::ArrayOfTables(ArrayOfTables::new()));
        let sections = sections.as_array_of_tables_mut().ok_or_else(not_a_list)?;
        sections.push(section);
        Ok(())
    });
    if added.is_err() {
        // Nothing refers to the tokens.
        for (key, _) in &channel.secrets {
            let _ = std::fs::remove_file(secret_path(places, &name, key));
        }
    }
    added.map(|()| name)
}

/// Changes the reasons of a channel.
pub fn set_reasons(places: &Places, name: &str, reasons: &Reasons) -> Result<(), ConfigureError> {
    let place = place_of(places, name)?;
    change_config(places, |document| {
        let section = sections_of(document)?.get_mut(place).ok_or_else(not_a_list)?;
        section["reasons"] = value(written(reasons));
        Ok(())
    })
}

/// Removes a channel, and its tokens if the broker stores them.
pub fn remove_channel(places: &Places, name: &str) -> Result<(), ConfigureError> {
    let place = place_of(places, name)?;
    change_config(places, |document| {
        sections_of(document)?.remove(place);
        Ok(())
    })?;
    for key in SECRET_KEYS {
        let path = secret_path(places, name, key);
        match std::fs::remove_file(&path) {
            Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
                return Err(ConfigureError::Io {
                    doing: "remove",
                    path,
                    source,
                });
            }
            Ok(()) | Err(_) => {}
        }
    }
    Ok(())
}

fn section(name: &str, channel: &NewChannel) -> Table {
    let mut section = Table::new();
    section["kind"] = value(&channel.kind);
    section["name"] = value(name);
    for (key, text) in &channel.texts {
        section[key] = value(text);
    }
    if !channel.preview {
        section["preview"] = value(false);
    }
    if let Some(reasons) = &channel.reasons {
        section["reasons"] = value(written(reasons));
    }
    if !channel.people.is_empty() {
        let people: InlineTable = channel.people.iter().collect();
        section["people"] = value(people);
    }
    section
}

fn written(reasons: &Reasons) -> Array {
    let chosen = Reason::ALL.into_iter().filter(|reason| reasons.contains(*reason));
    chosen.map(Reason::name).collect()
}

fn place_of(places: &Places, name: &str) -> Result<usize, ConfigureError> {
    let place = channels(places)?.iter().position(|channel| channel.name == name);
    place.ok_or_else(|| ConfigureError::Unknown(name.to_owned()))
}

fn sections_of(document: &mut DocumentMut) -> Result<&mut ArrayOfTables, ConfigureError> {
    let sections = document.get_mut("notify").and_then(Item::as_array_of_tables_mut);
    sections.ok_or_else(not_a_list)
}

fn not_a_list() -> ConfigureError {
    ConfigureError::Wrong("`notify` is not a list of sections in the configuration".to_owned())
}

/// Changes the configuration in place; it is left as it is when the result would not be valid.
pub fn change_config(
    places: &Places,
    change: impl FnOnce(&mut DocumentMut) -> Result<(), ConfigureError>,
) -> Result<(), ConfigureError> {
    // A symbolic link is kept, and its target is changed.
    let path = std::fs::canonicalize(&places.config).unwrap_or_else(|_| places.config.clone());
    let failed = |doing| {
        let path = path.clone();
        move |source| ConfigureError::Io { doing, path, source }
    };
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(failed("read")(error)),
    };
    let wrong = |error: String| ConfigureError::Wrong(error.trim_end().replace('\n', " "));
    let mut document: DocumentMut = text
        .parse()
        .map_err(|error: toml_edit::TomlError| wrong(error.to_string()))?;
    change(&mut document)?;
    let after = document.to_string();
    Config::parse(&after).map_err(|error| wrong(error.message().to_owned()))?;
    replace(&path, after.as_bytes(), has_password(&document)).map_err(failed("write"))
}

/// Says whether the address of the store has a password.
fn has_password(document: &DocumentMut) -> bool {
    let store = document.get("store").and_then(Item::as_str).unwrap_or_default();
    url::Url::parse(store)
        .is_ok_and(|url| url.password().is_some() || url.query_pairs().any(|(name, _)| name == "password"))
}

/// Replaces a file atomically; it keeps its permissions, and a new one, or one with a password, is for its owner alone.
fn replace(path: &Path, bytes: &[u8], is_secret: bool) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let mask = if is_secret { 0o700 } else { 0o777 };
    let mode = std::fs::metadata(path).map_or(0o600, |known| known.permissions().mode() & mask);
    let beside = path.with_extension(format!("{}.tmp", Uuid::now_v7().simple()));
    let written = write_new(&beside, mode, bytes).and_then(|()| std::fs::rename(&beside, path));
    if written.is_err() {
        let _ = std::fs::remove_file(&beside);
    }
    written
}

fn write_new(path: &Path, mode: u32, bytes: &[u8]) -> std::io::Result<()> {
    let mut options = std::fs::OpenOptions::new();
    let mut file = options.write(true).create_new(true).mode(mode).open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

fn secret_path(places: &Places, channel: &str, key: &str) -> PathBuf {
    places.data_dir.join("secrets").join(format!("{channel}.{key}"))
}

fn keep_secret(path: &Path, secret: &str) -> Result<(), ConfigureError> {
    let is_one_line = !secret.is_empty() && !secret.chars().any(char::is_control);
    if !is_one_line || secret.len() > TOKEN_BYTES_MAX {
        return Err(ConfigureError::Wrong("a token is one line of text".to_owned()));
    }
    let failed = |source| ConfigureError::Io {
        doing: "keep the token in",
        path: path.to_owned(),
        source,
    };
    if let Some(folder) = path.parent() {
        let mut builder = std::fs::DirBuilder::new();
        builder
            .recursive(true)
            .mode(0o700)
            .create(folder)
            .map_err(failed)?;
    }
    replace(path, format!("{secret}\n").as_bytes(), true).map_err(failed)
}
