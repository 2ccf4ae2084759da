//! Reads the configuration and explains everything that is wrong with it at once.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use protocol_spec::visible::quoted;
use serde_json::{Map, Value};
use thiserror::Error;

use super::model::{AuthProfile, Config, ModelConfig, PROVIDER};
use crate::cursor::cli::PROMPT_ARG_CHARS_MAX;

/// The largest configuration file.
const FILE_BYTES_MAX: u64 = 1024 * 1024;
const TIMEOUT_MS_MIN: u64 = 1_000;
const TIMEOUT_MS_MAX: u64 = 24 * 60 * 60 * 1_000;
const TIMEOUT_MS_DEFAULT: u64 = 600_000;
/// Linux takes no argument above 128 KiB, and a character may have four bytes.
const PROMPT_ARG_CHARS_LIMIT: u64 = 32_000;
const MODEL_KEYS: [&str; 9] = [
    "provider",
    "command",
    "args",
    "promptAsArg",
    "promptArgCharsMax",
    "timeoutMs",
    "authProfiles",
    "fallbackModels",
    "enabled",
];

/// One thing that is wrong, where, and what to write instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The JSON path, for example `models.cursor-auto.timeoutMs`.
    pub path: String,
    /// The problem.
    pub message: String,
    /// The text to write instead.
    pub remedy: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} ({})", self.path, self.message, self.remedy)
    }
}

/// Why a configuration cannot be used.
#[derive(Debug, Error)]
pub enum ConfigError {
    /// The file could not be read.
    #[error("could not read configuration {path}: {source}")]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// It is no JSON.
    #[error("the configuration is not JSON at line {line}, column {column}: {reason}")]
    Syntax {
        /// The line, counted from 1.
        line: usize,
        /// The column, counted from 1.
        column: usize,
        /// The reason.
        reason: String,
    },
    /// It is JSON and wrong.
    #[error("the configuration is wrong:{}", .0.iter().map(|problem| format!("\n  {problem}")).collect::<String>())]
    Invalid(Vec<Problem>),
}

impl Config {
    /// Reads a file.
    pub fn load(path: &Path) -> Result<Self, ConfigError> {
        let fail = |source| ConfigError::Read {
            path: path.to_owned(),
            source,
        };
        let length = std::fs::metadata(path).map_err(fail)?.len();
        if length > FILE_BYTES_MAX {
            return Err(fail(std::io::Error::other(format!(
                "it is larger than {FILE_BYTES_MAX} bytes"
            ))));
        }
        Self::parse(&std::fs::read_to_string(path).map_err(fail)?)
    }

    /// Reads a text.
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        let root: Value = serde_json::from_str(text).map_err(|error| ConfigError::Syntax {
            line: error.line(),
            column: error.column(),
            reason: error.to_string(),
        })?;
        let mut reader = Reader::default();
        let config = reader.config(&root);
        if reader.problems.is_empty() {
            Ok(config)
        } else {
            Err(ConfigError::Invalid(reader.problems))
        }
    }
}

#[derive(Default)]
struct Reader {
    problems: Vec<Problem>,
    warnings: Vec<Problem>,
}

impl Reader {
    fn config(&mut self, root: &Value) -> Config {
        let mut config = Config::default();
        for (name, model) in self.object(root, "models", "models").into_iter().flatten() {
            let path = format!("models.{name}");
            if let Some(model) = self.model(&path, model) {
                config.models.insert(name.clone(), model);
            }
        }
        for (name, profile) in self
            .object(root, "authProfiles", "authProfiles")
            .into_iter()
            .flatten()
        {
            let path = format!("authProfiles.{name}.apiKeyEnv");
            let api_key_env = self.text(profile.get("apiKeyEnv"), &path);
            config
                .auth_profiles
                .insert(name.clone(), AuthProfile { api_key_env });
        }
        if root.get("models").is_none() {
            self.explain_snippet(root);
        }
        config.default_model = self.text(root.get("defaultModel"), "defaultModel");
        if let Some(name) = &config.default_model
            && !config.models.get(name).is_some_and(|model| model.enabled)
        {
            let message = format!("there is no enabled model {}", quoted(name));
            self.wrong("defaultModel", &message, "name one of `models`");
        }
        let tools = root.get("tools").unwrap_or(&Value::Null);
        let (search, fetch) = (&tools["webSearch"], &tools["webFetch"]);
        config.web_search.endpoint = self.text(search.get("endpoint"), "tools.webSearch.endpoint");
        config.web_search.token_env = self.text(search.get("tokenEnv"), "tools.webSearch.tokenEnv");
        config.web_fetch_allowed = self.texts(fetch.get("allowed"), "tools.webFetch.allowed");
        self.check_fallbacks(&config);
        config.warnings = std::mem::take(&mut self.warnings);
        config
    }

    /// Says where a model belongs that stands by itself, as documentation shows it.
    fn explain_snippet(&mut self, root: &Value) {
        let is_model = |value: &Value| value.get("command").is_some() || value.get("provider").is_some();
        let name = if is_model(root) {
            Some("cursor-auto")
        } else {
            let mut members = root.as_object().into_iter().flatten();
            members
                .find(|(_, value)| is_model(value))
                .map(|(name, _)| name.as_str())
        };
        if let Some(name) = name {
            self.wrong(
                "models",
                "missing: a model stands outside of it",
                &format!("write {{\"models\": {{{}: {{ … }}}}}}", quoted(name)),
            );
        }
    }

    fn model(&mut self, path: &str, value: &Value) -> Option<ModelConfig> {
        let Some(fields) = value.as_object() else {
            self.wrong(
                path,
                "a model must be an object",
                "write {\"provider\": \"cursor-agent-cli\", \"command\": \"agent\"}",
            );
            return None;
        };
        for key in fields.keys().filter(|key| !MODEL_KEYS.contains(&key.as_str())) {
            let remedy = format!("known keys are {}", MODEL_KEYS.join(", "));
            self.odd(&format!("{path}.{key}"), "unknown key, ignored", &remedy);
        }
        let provider = self.text(fields.get("provider"), &format!("{path}.provider"));
        if provider.as_deref().is_some_and(|provider| provider != PROVIDER) {
            self.odd(
                &format!("{path}.provider"),
                "another provider's model, ignored",
                "this adapter runs \"cursor-agent-cli\"",
            );
            return None;
        }
        let command = self.text(fields.get("command"), &format!("{path}.command"));
        if command.as_deref().is_none_or(str::is_empty)
            && !matches!(fields.get("command"), Some(other) if !other.is_string())
        {
            self.wrong(
                &format!("{path}.command"),
                "missing",
                "write the CLI's name or path, for example \"agent\"",
            );
        }
        Some(ModelConfig {
            command: command.unwrap_or_default(),
            args: self.texts(fields.get("args"), &format!("{path}.args")),
            prompt_as_arg: self.flag(fields, path, "promptAsArg", false),
            prompt_arg_chars_max: self.prompt_arg_chars(
                fields.get("promptArgCharsMax"),
                &format!("{path}.promptArgCharsMax"),
            ),
            timeout: self.timeout(fields.get("timeoutMs"), &format!("{path}.timeoutMs")),
            auth_profiles: self.texts(fields.get("authProfiles"), &format!("{path}.authProfiles")),
            fallback_models: self.texts(fields.get("fallbackModels"), &format!("{path}.fallbackModels")),
            enabled: self.flag(fields, path, "enabled", true),
        })
    }

    fn check_fallbacks(&mut self, config: &Config) {
        for (name, model) in &config.models {
            for (index, fallback) in model.fallback_models.iter().enumerate() {
                if !config.models.contains_key(fallback) {
                    let path = format!("models.{name}.fallbackModels[{index}]");
                    self.odd(
                        &path,
                        &format!("there is no model {}, ignored", quoted(fallback)),
                        "define it, or remove it",
                    );
                }
            }
        }
    }

    fn object<'a>(&mut self, root: &'a Value, key: &str, path: &str) -> Option<&'a Map<String, Value>> {
        match root.get(key) {
            None => None,
            Some(Value::Object(fields)) => Some(fields),
            Some(_) => {
                self.wrong(path, "must be an object", "write {\"name\": {…}}");
                None
            }
        }
    }

    fn timeout(&mut self, value: Option<&Value>, path: &str) -> Duration {
        let millis = match value {
            None => TIMEOUT_MS_DEFAULT,
            Some(value) => match value.as_u64() {
                Some(millis) if (TIMEOUT_MS_MIN..=TIMEOUT_MS_MAX).contains(&millis) => millis,
                _ => {
                    let remedy = format!(
                        "write milliseconds from {TIMEOUT_MS_MIN} to {TIMEOUT_MS_MAX}, for example 600000"
                    );
                    self.wrong(
                        path,
                        &format!("{value} is no time this adapter can keep"),
                        &remedy,
                    );
                    TIMEOUT_MS_DEFAULT
                }
            },
        };
        Duration::from_millis(millis)
    }

    fn prompt_arg_chars(&mut self, value: Option<&Value>, path: &str) -> usize {
        let Some(value) = value else {
            return PROMPT_ARG_CHARS_MAX;
        };
        let fits = value.as_u64().filter(|chars| *chars <= PROMPT_ARG_CHARS_LIMIT);
        fits.and_then(|chars| usize::try_from(chars).ok())
            .unwrap_or_else(|| {
                let remedy = format!("write a number of characters up to {PROMPT_ARG_CHARS_LIMIT}");
                self.wrong(path, &format!("{value} is no length of an argument"), &remedy);
                PROMPT_ARG_CHARS_MAX
            })
    }

    fn flag(&mut self, fields: &Map<String, Value>, path: &str, key: &str, default: bool) -> bool {
        match fields.get(key) {
            None => default,
            Some(Value::Bool(flag)) => *flag,
            Some(other) => {
                self.wrong(
                    &format!("{path}.{key}"),
                    &format!("{other} is not true or false"),
                    "write true or false without quotes",
                );
                default
            }
        }
    }

    fn text(&mut self, value: Option<&Value>, path: &str) -> Option<String> {
        match value {
            None | Some(Value::Null) => None,
            Some(Value::String(text)) => Some(text.clone()),
            Some(other) => {
                self.wrong(path, &format!("{other} is no text"), "write it in double quotes");
                None
            }
        }
    }

    fn texts(&mut self, value: Option<&Value>, path: &str) -> Vec<String> {
        let Some(value) = value else { return Vec::new() };
        let Some(items) = value.as_array() else {
            self.wrong(path, "must be a list", "write [\"one\", \"two\"]");
            return Vec::new();
        };
        items
            .iter()
            .enumerate()
            .filter_map(|(index, item)| self.text(Some(item), &format!("{path}[{index}]")))
            .collect()
    }

    fn wrong(&mut self, path: &str, message: &str, remedy: &str) {
        self.problems.push(problem(path, message, remedy));
    }

    fn odd(&mut self, path: &str, message: &str, remedy: &str) {
        self.warnings.push(problem(path, message, remedy));
    }
}

fn problem(path: &str, message: &str, remedy: &str) -> Problem {
    Problem {
        path: path.to_owned(),
        message: message.to_owned(),
        remedy: remedy.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::{ErrorCode, OutputFormat};
    use crate::cursor::cli::Decision;

    const CONTRACT: &str = r#"{"models":{"cursor-auto":{"provider":"cursor-agent-cli","command":"agent","args":["-p","--output-format","stream-json","--stream-partial-output"],"promptAsArg":true,"timeoutMs":600000,"authProfiles":["default"],"fallbackModels":["fallback-default"],"enabled":true}}}"#;

    fn problems(text: &str) -> Vec<String> {
        match Config::parse(text) {
            Err(ConfigError::Invalid(problems)) => problems.into_iter().map(|problem| problem.path).collect(),
            other => panic!("expected problems, got {other:?}"),
        }
    }

    #[test]
    fn the_contract_s_own_example_is_accepted() {
        let config = Config::parse(CONTRACT).unwrap();
        let spec = config.spec("cursor-auto").unwrap();
        assert!(spec.prompt_as_arg && spec.normaliser().partial);
        assert_eq!(spec.normaliser().format, OutputFormat::StreamJson);
        assert_eq!(spec.deadline, Duration::from_secs(600));
        assert_eq!(config.warnings[0].path, "models.cursor-auto.fallbackModels[0]");
    }

    #[test]
    fn every_problem_is_named_with_its_path_at_once() {
        let text = r#"{"models":{"a":{"command":7,"args":"-p","timeoutMs":"10"},"b":[],"c":{"command":"x","args":[1],"enabled":"yes"}}}"#;
        let expected = [
            "models.a.command",
            "models.a.args",
            "models.a.timeoutMs",
            "models.b",
            "models.c.args[0]",
            "models.c.enabled",
        ];
        assert_eq!(problems(text), expected);
        assert_eq!(problems(r#"{"models":{"a":{}}}"#), ["models.a.command"]);
        assert_eq!(problems(r#"{"models":[]}"#), ["models"]);
    }

    #[test]
    fn the_length_from_which_a_prompt_goes_to_stdin_can_be_set() {
        let with = |value: &str| {
            let text = format!(r#"{{"models":{{"a":{{"command":"x","promptArgCharsMax":{value}}}}}}}"#);
            Config::parse(&text).map(|config| config.spec("a").unwrap().prompt_arg_chars_max)
        };
        assert_eq!(with("10").unwrap(), 10);
        for bad in ["-1", "1000000", "\"10\""] {
            assert!(
                with(bad)
                    .unwrap_err()
                    .to_string()
                    .contains("models.a.promptArgCharsMax"),
                "{bad}"
            );
        }
        let config = Config::parse(CONTRACT).unwrap();
        assert_eq!(
            config.spec("cursor-auto").unwrap().prompt_arg_chars_max,
            PROMPT_ARG_CHARS_MAX
        );
    }

    #[test]
    fn a_model_that_stands_outside_of_models_is_explained() {
        for text in [
            r#"{"cursor-auto":{"provider":"cursor-agent-cli","command":"agent"}}"#,
            r#"{"provider":"cursor-agent-cli","command":"agent"}"#,
        ] {
            let error = Config::parse(text).unwrap_err().to_string();
            assert!(
                error.contains("models") && error.contains("cursor-auto"),
                "{error}"
            );
        }
        assert!(Config::parse("{}").is_ok());
    }

    #[test]
    fn the_default_model_must_be_one_that_can_be_used() {
        let config =
            Config::parse(r#"{"defaultModel":"b","models":{"a":{"command":"x"},"b":{"command":"y"}}}"#);
        assert_eq!(config.unwrap().default_model.as_deref(), Some("b"));
        let error = Config::parse(r#"{"defaultModel":"c","models":{"a":{"command":"x"}}}"#);
        assert!(error.unwrap_err().to_string().contains("defaultModel"));
    }

    #[test]
    fn a_syntax_error_says_where() {
        assert!(matches!(
            Config::parse("{\n  oops"),
            Err(ConfigError::Syntax { line: 2, .. })
        ));
    }

    #[test]
    fn disabled_models_are_neither_used_nor_fallen_back_to() {
        let text = r#"{"models":{"a":{"command":"x","fallbackModels":["off","b"]},"off":{"command":"x","enabled":false},"b":{"command":"y"}}}"#;
        let config = Config::parse(text).unwrap();
        assert!(config.spec("off").is_none());
        let mut attempts = config.attempts("a");
        assert!(
            matches!(attempts.next(&ErrorCode::Model, 0), Decision::FallBack { to, .. } if to.model == "b")
        );
    }

    #[test]
    fn a_profile_takes_its_key_from_the_variable_it_names() {
        let config = Config::parse(r#"{"authProfiles":{"work":{"apiKeyEnv":"WORK_KEY"}}}"#).unwrap();
        let read = |name: &str| Some(format!("value of {name}"));
        assert!(config.profile_env("default", read).is_empty());
        assert_eq!(
            config.profile_env("work", read)["CURSOR_API_KEY"],
            "value of WORK_KEY"
        );
        assert_eq!(
            config.profile_env("my-home", read)["CURSOR_API_KEY"],
            "value of CURSOR_API_KEY_MY_HOME"
        );
    }
}
