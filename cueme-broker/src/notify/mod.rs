//! Tells humans who do not look: on the screen, by webhook, ntfy, Slack or Telegram.
//!
//! Only when nobody answered within a delay, once for each question, and taken back where the channel can.

mod channel;
mod desktop;
mod escape;
mod notice;
mod send;
mod watch;

pub use channel::{Channel, ChannelKind, Reference};
pub use notice::Notice;
pub use send::{SendError, Sender};
pub(crate) use watch::watch;
