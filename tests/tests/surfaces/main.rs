//! Questions that are shown and answered in chats and on phones, with the real binary and stand-ins for the services.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod desk;

mod ntfy;
mod push;
mod slack;
mod telegram;

mod channels;
mod command;
mod files;
mod one_winner;
