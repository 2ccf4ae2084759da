//! Cursor's cloud agents: the adapter as a library and as a command, over a stand-in for the cloud.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod command;
mod doctor;
mod setting;
mod v0;
mod v1;
