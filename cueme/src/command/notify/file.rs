//! The `[[notify]]` sections of the configuration, changed in place, and the files that hold tokens.

use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use adapter_core::runtime::install::FileEdit;
use cueme_broker::config::Config;
use cueme_broker::notify::Channel;
use protocol_spec::endpoint::Places;
use toml_edit::{ArrayOfTables, DocumentMut, Item, Table};

use crate::command::init::write_config;
use crate::error::CliError;

/// Why these verbs change the configuration.
const WHY: &str = "who is told, and who may answer";

/// Reads the channels of the configuration.
pub(super) fn channels(places: &Places) -> Result<Vec<Channel>, CliError> {
    let config = Config::load(&places.config).map_err(|error| CliError::usage(error.to_string()))?;
    Ok(config.notify)
}

/// Finds a channel by its name.
pub(super) fn find(places: &Places, name: &str) -> Result<Channel, CliError> {
    let channels = channels(places)?;
    let known: Vec<String> = channels.iter().map(|channel| channel.name.clone()).collect();
    let found = channels.into_iter().find(|channel| channel.name == name);
    found.ok_or_else(|| {
        let error = CliError::usage(format!("there is no channel {name:?}"));
        if known.is_empty() {
            error.with_hint("`cueme notify add --help` shows how to add one")
        } else {
            error.with_hint(format!("channels: {}", known.join(", ")))
        }
    })
}

/// Adds a section; the configuration is left as it is when the result would not be valid.
pub(super) fn add(places: &Places, section: Table) -> Result<(), CliError> {
    change_config(places, WHY, |document| {
        let sections = document
            .entry("notify")
            .or_insert(Item::ArrayOfTables(ArrayOfTables::new()));
        match sections.as_array_of_tables_mut() {
            Some(sections) => {
                sections.push(section);
                Ok(())
            }
            None => Err(CliError::usage(
                "`notify` is not a list of sections in the configuration",
            )),
        }
    })
}

/// Removes the section at this place.
pub(super) fn remove(places: &Places, place: usize) -> Result<(), CliError> {
    change_config(places, WHY, |document| {
        if let Some(sections) = document.get_mut("notify").and_then(Item::as_array_of_tables_mut) {
            sections.remove(place);
        }
        Ok(())
    })
}

/// Changes the configuration in place; it is left as it is when the result would not be valid.
pub(in crate::command) fn change_config(
    places: &Places,
    why: &str,
    change: impl FnOnce(&mut DocumentMut) -> Result<(), CliError>,
) -> Result<(), CliError> {
    let path = &places.config;
    let before = match std::fs::read_to_string(path) {
        Ok(text) => Some(text),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        Err(error) => return Err(CliError::io("read", path, &error)),
    };
    let wrong =
        |error: &dyn std::fmt::Display| CliError::usage(error.to_string().trim_end().replace('\n', " "));
    let text = before.as_deref().unwrap_or_default();
    let mut document: DocumentMut = text
        .parse()
        .map_err(|error: toml_edit::TomlError| wrong(&error))?;
    change(&mut document)?;
    let after = document.to_string();
    Config::parse(&after).map_err(|error| wrong(&error))?;
    write_config(&FileEdit {
        path: path.clone(),
        before: before.map(String::into_bytes),
        after: Some(after.into_bytes()),
        why: why.to_owned(),
    })
}

/// Returns where a token of a channel is kept.
pub(super) fn secret_path(places: &Places, channel: &str, key: &str) -> PathBuf {
    places.data_dir.join("secrets").join(format!("{channel}.{key}"))
}

/// Keeps a token in a file that only its owner can read.
pub(super) fn keep_secret(path: &Path, secret: &str) -> Result<(), CliError> {
    let failed = |error: std::io::Error| CliError::io("keep the token in", path, &error);
    if let Some(folder) = path.parent() {
        let mut builder = std::fs::DirBuilder::new();
        builder
            .recursive(true)
            .mode(0o700)
            .create(folder)
            .map_err(failed)?;
    }
    let mut options = std::fs::OpenOptions::new();
    let opened = options
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(path);
    let mut file = opened.map_err(failed)?;
    writeln!(file, "{secret}")
        .and_then(|()| file.sync_all())
        .map_err(failed)
}
