//! Telegram: a bot that shows questions with buttons and hears presses and replies by long polling, without an open port.

mod bot;
mod cursor;
mod render;
mod update;

pub(super) use bot::Bot;
