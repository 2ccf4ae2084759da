//! Web Push: notifications on a signed-in device, also while the page is closed.
//!
//! The broker encrypts each message for one device (RFC 8291) and signs each request (RFC 8292); the push service of the browser's
//! vendor sees neither words nor names. A subscription belongs to a device and ends with it. A press on a button comes back
//! through the page's API, with the device's own cookie.

mod device;
mod encrypt;
mod endpoint;
mod press;
mod render;
mod sender;
mod subscription;
mod vapid;

pub(crate) use press::{Pressed, press};
pub(crate) use sender::PushSender;
pub use subscription::Subscription;
pub(crate) use subscription::{read_subscriptions, setting_name, subscription_of};

pub(super) use device::Device;
