//! Facts about each agent runtime, and how it is connected.
//!
//! A runtime is a program that runs an agent: an IDE, a terminal agent, a plain shell. Everything that is particular
//! to one of them lives here as data or as a pure function: how long its tools let a command wait, which files it
//! reads, how its hooks speak. Only `install::apply` and `hook::transcript` touch the disk; nothing here opens our
//! socket.

pub mod facts;
pub mod hook;
pub mod install;
pub mod text;

pub use facts::{Facts, Runtime, wait_ceiling};
pub use text::{Language, protocol};
