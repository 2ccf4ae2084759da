//! Shows and changes the [`Settings`].

use std::sync::{PoisonError, RwLock};

use axum::Json;
use axum::extract::State;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::error::ApiError;
use super::extract::{Input, Sent};
use super::page_events::Notice;
use super::state::Shared;
use crate::settings::{Group, Language, Notifications, QuietHours, SETTINGS_NAME, Settings};
use crate::store::{Reader, StoreError};

/// The settings in force.
#[derive(Debug)]
pub(super) struct SettingsKeeper {
    current: RwLock<Settings>,
    /// Serializes changes, so that none is lost between reading and writing.
    changing: tokio::sync::Mutex<()>,
}

impl SettingsKeeper {
    pub(super) fn load(reader: &dyn Reader) -> Result<Self, StoreError> {
        Ok(Self {
            current: RwLock::new(Settings::read(reader)?),
            changing: tokio::sync::Mutex::default(),
        })
    }

    /// Reloads the settings that other brokers may have changed.
    pub(super) fn reload(&self, reader: &dyn Reader) -> Result<(), StoreError> {
        let settings = Settings::read(reader)?;
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = settings;
        Ok(())
    }

    /// Returns the settings in force.
    pub(super) fn current(&self) -> Settings {
        self.current
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

/// A part of the settings; an absent key stays as it is.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SettingsPatch {
    language: Option<Language>,
    #[schemars(range(max = 600_000))]
    undo_ms: Option<u64>,
    quick_replies: Option<Vec<String>>,
    groups: Option<Vec<Group>>,
    notifications: Option<Notifications>,
    quiet_hours: Option<QuietHours>,
    enter_sends: Option<bool>,
    policies: Option<bool>,
    page: Option<Map<String, Value>>,
}

impl Input for SettingsPatch {}

impl SettingsPatch {
    fn apply(self, settings: &mut Settings) {
        fn set<T>(place: &mut T, value: Option<T>) {
            if let Some(value) = value {
                *place = value;
            }
        }
        set(&mut settings.language, self.language);
        set(&mut settings.undo_ms, self.undo_ms);
        set(&mut settings.quick_replies, self.quick_replies);
        set(&mut settings.groups, self.groups);
        set(&mut settings.notifications, self.notifications);
        set(&mut settings.quiet_hours, self.quiet_hours);
        set(&mut settings.enter_sends, self.enter_sends);
        set(&mut settings.policies, self.policies);
        set(&mut settings.page, self.page);
    }
}

/// Returns the settings.
pub(super) async fn settings(State(web): State<Shared>) -> Json<Settings> {
    Json(web.settings.current())
}

/// Changes some of the settings.
pub(super) async fn change(
    State(web): State<Shared>,
    Sent(patch): Sent<SettingsPatch>,
) -> Result<Json<Settings>, ApiError> {
    let changed = change_with(&web, |settings| patch.apply(settings)).await?;
    Ok(Json(changed))
}

/// Changes the settings, on disk first.
pub(super) async fn change_with(
    web: &Shared,
    change: impl FnOnce(&mut Settings),
) -> Result<Settings, ApiError> {
    let _alone = web.settings.changing.lock().await;
    let before = web.settings.current();
    let mut settings = before.clone();
    change(&mut settings);
    settings.check().map_err(ApiError::bad_request)?;
    let stored = serde_json::to_string(&settings)
        .map_err(|error| ApiError::bad_request(format!("the settings cannot be written: {error}")))?;
    web.write(move |store, _| store.set(SETTINGS_NAME, &stored))
        .await?;
    *web.settings
        .current
        .write()
        .unwrap_or_else(PoisonError::into_inner) = settings.clone();
    web.page_events.notice(Notice::settings());
    if settings.tells_otherwise(&before) {
        web.broker.telling_changed();
    }
    Ok(settings)
}
