//! Prepares an agent for its first turn: a configuration, a program, a directory, a runtime to run in.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use adapter_core::config::{Config, ModelConfig};
use adapter_core::contract::{ErrorCode, ErrorData};
use adapter_core::cursor::cli::CliSpec;
use protocol_spec::endpoint::Places;
use protocol_spec::exit::Exit;

use super::failed::failed;
use crate::error::CliError;
use crate::output;
use adapter_core::process::locate;

/// The file with models, profiles and fallbacks; it stands beside our own configuration.
///
/// One in the project is not read: it names commands to run, and a project may come from anywhere.
const CONFIG_FILE: &str = "openclaw.json";
/// The model that is there without a configuration, and preferred with one.
const MODEL_DEFAULT: &str = "cursor";
/// The timeout of a turn of the default model. A human is asked within the turn, and takes as long as they take.
const TURN_TIME_MAX: Duration = Duration::from_secs(24 * 60 * 60);

/// Reads the configuration; without a file, Cursor's CLI is the only model.
pub(super) fn load_config(places: &Places) -> Result<Config, CliError> {
    let file = config_file(places);
    if !file.exists() {
        return Ok(without_file());
    }
    let config = Config::load(&file).map_err(|error| {
        CliError::usage(error.to_string()).with_hint(format!("correct {}", file.display()))
    })?;
    for warning in &config.warnings {
        output::tell(&format!("warning: {}: {warning}", file.display()));
    }
    Ok(config)
}

/// Returns where the configuration is, or would be.
pub(super) fn config_file(places: &Places) -> PathBuf {
    places.config.with_file_name(CONFIG_FILE)
}

fn without_file() -> Config {
    let spec = CliSpec::default();
    let model = ModelConfig {
        command: spec.command,
        args: spec.args,
        prompt_as_arg: spec.prompt_as_arg,
        prompt_arg_chars_max: spec.prompt_arg_chars_max,
        timeout: TURN_TIME_MAX,
        auth_profiles: Vec::new(),
        fallback_models: Vec::new(),
        enabled: true,
    };
    Config {
        models: BTreeMap::from([(MODEL_DEFAULT.to_owned(), model)]),
        ..Config::default()
    }
}

/// The selected model of the configuration, and the name for the CLI's option if the configuration has no such model.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Choice {
    pub(super) model: String,
    pub(super) flag: Option<String>,
}

/// Chooses the model for the name a person gave.
pub(super) fn choose(config: &Config, name: Option<&str>) -> Result<Choice, CliError> {
    if let Some(name) = name.filter(|name| config.models.contains_key(*name)) {
        return Ok(Choice {
            model: name.to_owned(),
            flag: None,
        });
    }
    let enabled = |name: &&String| config.models.get(*name).is_some_and(|model| model.enabled);
    let wanted = config.default_model.as_deref().unwrap_or(MODEL_DEFAULT);
    let preferred = config.models.keys().find(|name| *name == wanted);
    let model = preferred
        .filter(enabled)
        .or_else(|| config.models.keys().find(enabled))
        .ok_or_else(|| {
            CliError::usage("no model of the configuration is enabled")
                .with_hint(format!("add one to {CONFIG_FILE}, or remove the file"))
        })?;
    Ok(Choice {
        model: model.clone(),
        flag: name.map(str::to_owned),
    })
}

/// Returns the command of the chosen model.
pub(super) fn command_of(config: &Config) -> Result<String, CliError> {
    let choice = choose(config, None)?;
    let model = config.models.get(&choice.model);
    Ok(model.map_or_else(|| CliSpec::default().command, |model| model.command.clone()))
}

/// Finds the program of a command.
pub(super) fn program(command: &str) -> Result<PathBuf, CliError> {
    let path = std::env::var_os("PATH");
    locate(command, path.as_deref())
        .filter(|program| program.is_file())
        .ok_or_else(|| {
            let message = format!("there is no {command} on the PATH");
            failed(&ErrorData::new(ErrorCode::CommandNotFound, message))
        })
}

/// Returns the directory an agent works in, with every link resolved: chats are kept under that name.
pub(super) fn directory(given: Option<&Path>) -> Result<PathBuf, CliError> {
    let given = given.unwrap_or(Path::new("."));
    let found = given
        .canonicalize()
        .map_err(|error| CliError::io("use the directory", given, &error).with_exit(Exit::Usage))?;
    if found.is_dir() {
        return Ok(found);
    }
    Err(CliError::usage(format!("{} is not a directory", given.display())))
}

/// Starts what asynchronous code runs in.
pub(in crate::command) fn runtime() -> Result<tokio::runtime::Runtime, CliError> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|error| CliError::new(Exit::Io, format!("could not start a runtime: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_a_configured_model_first_and_the_cli_s_own_else() {
        let config = without_file();
        let chosen = |name| choose(&config, name).unwrap();
        assert_eq!((chosen(None).model.as_str(), chosen(None).flag), ("cursor", None));
        assert_eq!(chosen(Some("cursor")).flag, None);
        assert_eq!(chosen(Some("gpt-5")).flag.as_deref(), Some("gpt-5"));
        assert_eq!(chosen(Some("gpt-5")).model, "cursor");
    }

    #[test]
    fn a_configuration_without_an_enabled_model_is_refused() {
        let mut config = without_file();
        config.models.values_mut().for_each(|model| model.enabled = false);
        assert!(choose(&config, None).is_err());
    }
}
