//! Stand-ins for the services that reach a phone, written from their public documentation.
//!
//! Each keeps the rules of the real one (who may call, limits, what is an error, how missed events are caught up) and fails
//! where a test says so with [`Faults`]. People act through methods such as `press` and `reply`.

mod faults;
mod ntfy;
mod push;
mod server;
mod slack;
mod telegram;

pub use faults::{Fault, Faults};
pub use ntfy::Ntfy;
pub use push::{Push, PushBrowser};
pub use slack::{Slack, SlackMessage};
pub use telegram::{Person, Telegram, TelegramMessage};
