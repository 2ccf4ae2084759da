//! Slack: an app that shows questions as blocks and hears presses and replies in threads over Socket Mode, without an open port.

mod app;
mod envelope;
mod render;

pub(super) use app::App;
