//! Facts about each agent runtime, how cueme is connected to it, and what its hooks and its agents' commands say.
//!
//! A runtime is a program that runs an agent: an IDE, a terminal agent, a plain shell. Everything that is particular
//! to one of them is here as data or as a pure function: how long its tools let a command wait, which files it
//! reads, how its hooks speak. Only `install::apply`, `install::record` and `hook::transcript` touch the disk.
//!
//! This crate opens no socket, runs no program and drives no agent; of cueme's crates, it needs only the contract.

pub mod facts;
pub mod hook;
pub mod install;
pub mod shell;
pub mod text;

pub use facts::{Facts, Runtime, wait_ceiling};
pub use text::{Language, protocol};
