//! Settings of humans, shared by all devices and by the broker's automatic actions.
//!
//! `web::settings` changes them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::hours::Hours;
use crate::machine::HOLD_MS_MAX;
use crate::store::{Reader, StoreError};

/// The name of the setting in the store.
pub(crate) const SETTINGS_NAME: &str = "page";
/// The most quick replies.
const QUICK_REPLIES_MAX: usize = 50;
/// The most groups.
const GROUPS_MAX: usize = 100;
/// The longest quick reply or name of a group.
const TEXT_BYTES_MAX: usize = 4096;
/// The most bytes of the page's other settings.
const PAGE_BYTES_MAX: usize = 16 * 1024;

/// The settings of humans.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct Settings {
    pub(crate) language: Language,
    /// The time during which an answer from the page can be undone.
    #[schemars(range(max = 600_000))]
    pub(crate) undo_ms: u64,
    #[schemars(length(max = 50))]
    pub(crate) quick_replies: Vec<String>,
    #[schemars(length(max = 100))]
    pub(crate) groups: Vec<Group>,
    pub(crate) notifications: Notifications,
    pub(crate) quiet_hours: QuietHours,
    pub(crate) enter_sends: bool,
    /// Whether rules may answer.
    pub(crate) policies: bool,
    /// Rules that were turned off.
    #[schemars(skip)]
    pub(crate) policies_off: Vec<String>,
    /// The page's other settings.
    pub(crate) page: Map<String, Value>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Language {
    Auto,
    En,
    Zh,
}

/// Agents that are messaged together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Group {
    name: String,
    #[schemars(length(max = 256))]
    agents: Vec<String>,
}

/// The notification settings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Notifications {
    browser: bool,
    sound: bool,
    /// By the broker, on the screen of the machine it runs on.
    desktop: bool,
}

/// The quiet hours, in local time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct QuietHours {
    enabled: bool,
    #[schemars(regex(pattern = r"^([01][0-9]|2[0-3]):[0-5][0-9]$"))]
    from: String,
    #[schemars(regex(pattern = r"^([01][0-9]|2[0-3]):[0-5][0-9]$"))]
    to: String,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            language: Language::Auto,
            undo_ms: 5000,
            quick_replies: ["Continue", "Looks good, go on", "Stop here", "Explain first"]
                .map(str::to_owned)
                .to_vec(),
            groups: Vec::new(),
            notifications: Notifications {
                browser: true,
                sound: true,
                desktop: true,
            },
            quiet_hours: QuietHours {
                enabled: false,
                from: "22:00".to_owned(),
                to: "07:00".to_owned(),
            },
            enter_sends: true,
            policies: true,
            policies_off: Vec::new(),
            page: Map::new(),
        }
    }
}

impl Settings {
    /// Reads the stored settings.
    pub(crate) fn read(reader: &dyn Reader) -> Result<Self, StoreError> {
        let stored = reader.setting(SETTINGS_NAME)?;
        // Settings that an older or newer program wrote are used as far as they are understood.
        Ok(stored
            .and_then(|stored| serde_json::from_str(&stored).ok())
            .unwrap_or_default())
    }

    /// Returns the time during which an answer from the page, or by a rule, can be undone.
    pub(crate) fn hold_ms(&self) -> u64 {
        self.undo_ms
    }

    /// Says whether the broker shows questions on the screen of its machine.
    pub(crate) fn shows_on_desktop(&self) -> bool {
        self.notifications.desktop
    }

    /// Says whether these settings differ from others in when people are notified.
    pub(crate) fn tells_otherwise(&self, others: &Self) -> bool {
        (&self.notifications, &self.quiet_hours) != (&others.notifications, &others.quiet_hours)
    }

    /// Says whether it is a quiet hour now.
    pub(crate) fn is_quiet(&self, minute_of_day: u16) -> bool {
        let quiet = &self.quiet_hours;
        quiet.enabled
            && Hours::parse(&format!("{}-{}", quiet.from, quiet.to))
                .is_some_and(|hours| hours.contains(minute_of_day))
    }

    /// Returns the problem with the settings, if there is one.
    pub(crate) fn check(&self) -> Result<(), String> {
        let problem = if self.undo_ms > HOLD_MS_MAX {
            format!("undo_ms is more than {HOLD_MS_MAX}")
        } else if self.quick_replies.len() > QUICK_REPLIES_MAX {
            format!("more than {QUICK_REPLIES_MAX} quick replies")
        } else if self
            .quick_replies
            .iter()
            .any(|text| text.trim().is_empty() || text.len() > TEXT_BYTES_MAX)
        {
            "a quick reply is empty or too long".to_owned()
        } else if self.groups.len() > GROUPS_MAX || self.groups.iter().any(|group| !group.is_sound()) {
            "a group is empty, or there are too many".to_owned()
        } else if Hours::parse(&format!("{}-{}", self.quiet_hours.from, self.quiet_hours.to)).is_none() {
            "quiet hours are written HH:MM".to_owned()
        } else if Value::Object(self.page.clone()).to_string().len() > PAGE_BYTES_MAX {
            format!("page is more than {PAGE_BYTES_MAX} bytes")
        } else {
            return Ok(());
        };
        Err(problem)
    }
}

impl Group {
    fn is_sound(&self) -> bool {
        const AGENTS_MAX: usize = 256;
        let has_name = !self.name.trim().is_empty() && self.name.len() <= TEXT_BYTES_MAX;
        has_name
            && self.agents.len() <= AGENTS_MAX
            && self
                .agents
                .iter()
                .all(|agent| agent.parse::<protocol_spec::id::AgentId>().is_ok())
    }
}
