//! Tells humans who do not look: on the screen, by webhook, ntfy, Slack, Telegram or Web Push; and takes their answers where they are told.
//!
//! Only when nobody answered within a delay, once for each question, and withdrawn where the channel can.

mod busy;
mod channel;
mod configure;
mod desktop;
mod escape;
mod notice;
mod reason;
mod send;
mod surface;
mod watch;

pub use channel::{Channel, ChannelKind, MissingSecret, NtfyAnswers, People, Reference};
pub use configure::{
    ConfigureError, NewChannel, TOKEN_BYTES_MAX, add_channel, change_config, channels, remove_channel,
    set_reasons,
};
pub use notice::Notice;
pub use reason::{Reason, Reasons};
pub use send::{SendError, Sender};
pub use surface::push::Subscription;
pub(crate) use surface::push::{
    Pressed, PushSender, press, read_subscriptions, setting_name, subscription_of,
};
pub(crate) use watch::watch;
