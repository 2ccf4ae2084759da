//! The documentation: its links, the calls it shows, and its tables of keys.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod calls;
mod changelog;
mod commands;
mod configuration;
mod crates;
mod embedded;
mod links;
mod markdown;
mod runtimes;
mod seeds;
mod workflow;
