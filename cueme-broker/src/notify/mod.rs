//! Notifications: on the screen, by webhook, ntfy, Slack, Telegram or Web Push; the last four take answers, too.
//!
//! A question is notified once, after a delay without an answer, and its message is withdrawn or edited when it is answered.

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
