//! The configuration file: its keys, defaults and errors.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use cloud_settings::CloudConfig;
use protocol_spec::visible::quoted;
pub use runtime_settings::ConfigError;
use runtime_settings::{RuntimeConfig, optional_duration};
use serde::{Deserialize, Deserializer, de};

use crate::notify::Channel;
use crate::place::StoreUrl;
use crate::policy::Policy;

/// The default of the reminder that is printed below an answer.
pub const DEFAULT_REMINDER: &str =
    "(Before you finish or report a phase, run `cueme cue` again and wait for the human.)";

/// The default of the percentage of the database that may be empty.
const DEFAULT_VACUUM_PERCENT: u8 = 25;

/// The keys of the configuration.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Text below each answer that an agent reads; `false` prints nothing.
    ///
    /// Default: a sentence that asks for `cueme cue`.
    #[serde(deserialize_with = "reminder")]
    pub reminder: Option<String>,
    /// Duration after which an unused broker ends.
    ///
    /// Default: never.
    #[serde(deserialize_with = "optional_duration")]
    pub idle_exit: Option<Duration>,
    /// Duration after which the broker deletes settled questions.
    ///
    /// Default: never.
    #[serde(deserialize_with = "optional_duration")]
    pub retention: Option<Duration>,
    /// Share of the database file that may stay empty; `"never"` never shrinks the file.
    ///
    /// Default: `"25%"`.
    #[serde(deserialize_with = "vacuum")]
    pub vacuum: Option<u8>,
    /// PostgreSQL database that brokers share, such as `"postgres://cueme@db.example.org/inbox?sslmode=verify-full"`.
    /// Read when the broker starts.
    ///
    /// Default: a file on this machine.
    pub store: Option<StoreUrl>,
    /// Address of the page, such as `"127.0.0.1:7000"`; `"off"` serves no page. Read when the broker starts.
    ///
    /// Default: this machine, on the same port each time.
    #[serde(deserialize_with = "listen")]
    pub listen: Listen,
    /// Settings of the page.
    pub web: WebConfig,
    /// Address for agents on other machines, such as `"127.0.0.1:7443"`. Read when the broker starts.
    ///
    /// Default: `"off"`.
    #[serde(deserialize_with = "public_listen")]
    pub public_listen: Option<SocketAddr>,
    /// Settings of that listener.
    pub public: WebConfig,
    /// Settings of agents in Cursor's cloud.
    pub cloud: CloudConfig,
    /// Rules that answer by themselves, in the order they are tried.
    pub policy: Vec<Policy>,
    /// The channels of notifications.
    pub notify: Vec<Channel>,
    /// Settings of pushes to devices.
    pub push: PushConfig,
    /// Settings of single runtimes.
    pub runtime: BTreeMap<String, RuntimeConfig>,
}

/// The address of the page.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Listen {
    /// On this machine alone, on the same port each time.
    #[default]
    Here,
    /// Nowhere.
    Off,
    /// At this address.
    At(SocketAddr),
}

impl Listen {
    /// Reads an address such as `127.0.0.1:7000`, or `off`.
    pub fn parse(text: &str) -> Option<Self> {
        match text.trim() {
            "off" => Some(Self::Off),
            text => {
                let numeric = text
                    .strip_prefix("localhost:")
                    .map_or_else(|| text.to_owned(), |port| format!("127.0.0.1:{port}"));
                numeric.parse().ok().map(Self::At)
            }
        }
    }
}

/// The keys of `[web]` and `[public]`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WebConfig {
    /// Additional host names under which it is served, as browsers write them: `"cue.example.org"`, `"box:7000"`.
    ///
    /// Default: none.
    pub hosts: Vec<String>,
    /// Additional `Origin` values to accept, for a tunnel that rewrites `Origin` but not `Host`.
    ///
    /// Default: none.
    pub origins: Vec<String>,
    /// Its address behind a proxy that terminates TLS, such as `"https://cue.example.org"`.
    ///
    /// Default: none.
    pub url: Option<String>,
}

impl WebConfig {
    /// Returns the host in `url`, with its port if it has one.
    pub fn url_host(&self) -> Option<&str> {
        let url = self.url.as_deref()?;
        let (_, rest) = url.split_once("://")?;
        rest.split('/').next().filter(|host| !host.is_empty())
    }

    /// Says whether the page is served over TLS somewhere.
    pub fn has_https(&self) -> bool {
        self.url.as_deref().is_some_and(|url| url.starts_with("https://"))
    }

    /// Says whether a request for this host came over TLS.
    pub(crate) fn is_https(&self, host: Option<&axum::http::HeaderValue>) -> bool {
        let host = host.and_then(|host| host.to_str().ok());
        self.has_https() && host.is_some() && host == self.url_host()
    }
}

/// The keys of `[push]`: pushes to signed-in devices.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PushConfig {
    /// Contact for push services: a `mailto:` or `https:` address.
    ///
    /// Default: none.
    pub contact: Option<String>,
    /// Your own push services, such as `["https://push.lan:8443"]`; all others must have public addresses.
    ///
    /// Default: none.
    pub private_services: Vec<String>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            reminder: Some(DEFAULT_REMINDER.to_owned()),
            idle_exit: None,
            retention: None,
            vacuum: Some(DEFAULT_VACUUM_PERCENT),
            store: None,
            listen: Listen::default(),
            web: WebConfig::default(),
            public_listen: None,
            public: WebConfig::default(),
            cloud: CloudConfig::default(),
            policy: Vec::new(),
            notify: Vec::new(),
            push: PushConfig::default(),
            runtime: BTreeMap::new(),
        }
    }
}

impl Config {
    /// Reads the text of a configuration.
    pub fn parse(text: &str) -> Result<Self, toml::de::Error> {
        toml::from_str(text)
    }

    /// Reads a configuration; a file that does not exist means the defaults.
    pub fn load(path: &Path) -> Result<Self, ConfigError> {
        runtime_settings::read(path)
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
enum TextOr<T> {
    Text(String),
    Other(T),
}

fn reminder<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    match TextOr::<bool>::deserialize(deserializer)? {
        TextOr::Text(text) => Ok(Some(text).filter(|text| !text.trim().is_empty())),
        TextOr::Other(true) => Ok(Some(DEFAULT_REMINDER.to_owned())),
        TextOr::Other(false) => Ok(None),
    }
}

fn listen<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Listen, D::Error> {
    match TextOr::<bool>::deserialize(deserializer)? {
        TextOr::Text(text) => Listen::parse(&text).ok_or_else(|| {
            de::Error::custom(format!(
                "{} is not an address; write for example \"127.0.0.1:7000\" or \"off\"",
                quoted(&text)
            ))
        }),
        TextOr::Other(true) => Ok(Listen::Here),
        TextOr::Other(false) => Ok(Listen::Off),
    }
}

fn public_listen<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<SocketAddr>, D::Error> {
    let parsed = match TextOr::<bool>::deserialize(deserializer)? {
        TextOr::Text(text) => Listen::parse(&text),
        TextOr::Other(false) => Some(Listen::Off),
        TextOr::Other(true) => None,
    };
    match parsed {
        Some(Listen::At(address)) => Ok(Some(address)),
        Some(Listen::Off) => Ok(None),
        Some(Listen::Here) | None => Err(de::Error::custom(
            "public_listen is an address such as \"127.0.0.1:7443\", or \"off\"",
        )),
    }
}

fn vacuum<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u8>, D::Error> {
    let text = String::deserialize(deserializer)?;
    if text.trim() == "never" {
        return Ok(None);
    }
    let percent = text.trim().strip_suffix('%').map(str::trim_end);
    let percent = percent.and_then(|percent| percent.parse().ok());
    percent
        .filter(|percent| *percent <= 100)
        .map(Some)
        .ok_or_else(|| {
            de::Error::custom(format!(
                "{} is not a share of the database file; write for example \"25%\" or \"never\"",
                quoted(&text)
            ))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_that_may_stay_empty_is_a_percentage_or_all() {
        let of = |text: &str| toml::from_str::<Config>(text).map(|config| config.vacuum);
        assert_eq!(of(""), Ok(Some(DEFAULT_VACUUM_PERCENT)));
        assert_eq!(of("vacuum = \"0%\""), Ok(Some(0)));
        assert_eq!(of("vacuum = \" 100 % \""), Ok(Some(100)));
        assert_eq!(of("vacuum = \"never\""), Ok(None));
        for wrong in ["\"101%\"", "\"25\"", "\"-1%\"", "\"often\"", "25", "true"] {
            assert!(of(&format!("vacuum = {wrong}")).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_listener_for_the_outside_is_off_unless_an_address_is_given() {
        assert_eq!(Config::default().public_listen, None);
        let config: Config = toml::from_str("public_listen = \"127.0.0.1:7443\"").unwrap();
        assert_eq!(config.public_listen, Some("127.0.0.1:7443".parse().unwrap()));
        let off: Config = toml::from_str("public_listen = false").unwrap();
        assert_eq!(off.public_listen, None);
        for wrong in ["public_listen = true", "public_listen = \"somewhere\""] {
            assert!(toml::from_str::<Config>(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_section_of_the_cloud_takes_both_spellings_and_references_to_secrets() {
        let written = "[cloud]\nrepository = \"https://github.com/acme/site\"\npollIntervalSec = 5\ngrace_sec = 3\n\
                       env.CURSOR_API_KEY = { type = \"secret_ref\", env = \"MY_KEY\" }\n";
        let cloud = toml::from_str::<Config>(written).unwrap().cloud;
        assert_eq!((cloud.poll_interval_sec, cloud.grace_sec), (Some(5), Some(3)));
        assert!(cloud.unknown.is_empty() && cloud.env.contains_key("CURSOR_API_KEY"));
        let wrong: Config = toml::from_str("[cloud]\napiKey = \"k\"").unwrap();
        assert!(wrong.cloud.check_fields().is_err());
    }

    #[test]
    fn a_configuration_is_read_and_a_wrong_one_names_the_line() {
        let config: Config =
            toml::from_str("reminder = false\nidle_exit = \"30m\"\n[runtime.cursor]\nwait = 25\n").unwrap();
        assert_eq!(config.reminder, None);
        assert_eq!(config.idle_exit, Some(Duration::from_secs(1800)));
        assert_eq!(config.runtime["cursor"].wait, Some(Duration::from_secs(25)));
        let error = toml::from_str::<Config>("\nidle_exit = \"soon\"\n")
            .unwrap_err()
            .to_string();
        assert!(error.contains("line 2") && error.contains("12h"), "{error}");
        let error = toml::from_str::<Config>("remainder = true")
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("remainder") && error.contains("reminder"),
            "{error}"
        );
    }
}
