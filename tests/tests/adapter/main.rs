//! The adapter as a library, over the double of Cursor's CLI.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod agent;
mod fake;
mod hap;
mod probe;
mod runner;
