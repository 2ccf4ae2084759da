//! `cueme agent`, run as people and programs run it: the real binary, the real broker, and a double of Cursor's CLI.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod acp_proxy;
mod acp_run;
mod config;
mod hap;
mod process;
mod replay;
mod resume;
mod stage;
mod terminal;
mod tools;
