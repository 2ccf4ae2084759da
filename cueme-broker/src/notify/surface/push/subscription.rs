//! Devices that get pushes, with their owners' choices.

use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};

use super::encrypt::{AUTH_BYTES, PUBLIC_KEY_BYTES, Recipient};
use crate::notify::channel::{Channel, ChannelKind};
use crate::notify::reason::Reasons;
use crate::store::{Reader, StoreError};

/// The prefix of subscriptions among the settings.
const SETTING_PREFIX: &str = "push:";

/// A device that gets pushes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subscription {
    /// The device.
    pub(crate) device_id: String,
    /// The push service's address for it. Anyone who knows it can flood the device.
    pub(crate) endpoint: String,
    /// The browser's public key, in base64url.
    pub(crate) p256dh: String,
    /// The browser's secret, in base64url.
    pub(crate) auth: String,
    /// Whether the question is shown, also on a lock screen.
    pub(crate) preview: bool,
    /// The delay before a question is notified.
    pub(crate) after_ms: u64,
    /// The reasons to notify.
    pub(crate) reasons: Reasons,
}

impl Subscription {
    /// Returns the keys to encrypt with; `None` when they are invalid.
    pub(super) fn recipient(&self) -> Option<Recipient> {
        Some(Recipient {
            public: decode::<PUBLIC_KEY_BYTES>(&self.p256dh)?,
            auth: decode::<AUTH_BYTES>(&self.auth)?,
        })
    }

    /// Returns the device as a channel.
    pub(in crate::notify) fn channel(self) -> Channel {
        Channel {
            name: setting_name(&self.device_id),
            after: Duration::from_millis(self.after_ms),
            quiet: None,
            preview: self.preview,
            reasons: self.reasons.clone(),
            kind: ChannelKind::Push(Box::new(self)),
        }
    }
}

/// Returns the name of a device's subscription, which is also the name of its channel.
pub(crate) fn setting_name(device_id: &str) -> String {
    format!("{SETTING_PREFIX}{device_id}")
}

/// Reads the subscription of a device.
pub(crate) fn subscription_of(
    reader: &dyn Reader,
    device_id: &str,
) -> Result<Option<Subscription>, StoreError> {
    let stored = reader.setting(&setting_name(device_id))?;
    Ok(stored
        .and_then(|stored| serde_json::from_str(&stored).ok())
        .flatten())
}

/// Reads the subscriptions of all devices that are signed in.
pub(crate) fn read_subscriptions(reader: &dyn Reader) -> Result<Vec<Subscription>, StoreError> {
    let mut found = Vec::new();
    for device in reader.devices()? {
        found.extend(subscription_of(reader, &device.device_id)?);
    }
    Ok(found)
}

fn decode<const N: usize>(text: &str) -> Option<[u8; N]> {
    // Browsers write no padding; some libraries do.
    let decoded = BASE64_URL_SAFE_NO_PAD.decode(text.trim_end_matches('=')).ok()?;
    decoded.try_into().ok()
}
