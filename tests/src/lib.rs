//! What the end-to-end tests stand on: the real binary, homes of their own, and everyone who talks to it.
//!
//! Nothing here knows the inside of `cueme`: commands are run as an agent or a person runs them, and whoever needs to
//! do what no command does speaks the documented wire. Waiting means looking until it is so, never a fixed sleep.

mod binary;
mod patience;
mod process;
mod python;

pub mod browser;
pub mod cloud_fake;
pub mod model_server;

mod client;
mod disk;
mod home;
mod http;
mod random;
mod scenarios;
mod terminal;
mod wire;

pub use binary::cueme;
pub use client::{Client, Run};
pub use disk::Disk;
pub use home::{Home, envelope};
pub use http::{Answer, Http, head};
pub use patience::{PATIENCE, eventually, not_run, not_run_without};
pub use process::{is_alive, processes_with, resident_kib, send_signal};
pub use python::python_with;
pub use random::Random;
pub use rustix::process::Signal;
pub use scenarios::SCENARIOS;
pub use terminal::Terminal;
pub use wire::Wire;
