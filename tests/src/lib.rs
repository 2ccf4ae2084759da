//! The one harness of all suites that run the real binary: homes, commands, browsers, terminals, and doubles of others.
//!
//! It knows nothing of the inside of `cueme`: it runs commands as an agent or a person does, and speaks the documented
//! protocol where no command does. Waiting and clients come from `cueme-test-kit`: a test observes readiness by
//! [`eventually`], and absence by [`remains`]; it never sleeps for a fixed time.

mod binary;
mod process;
mod python;

pub mod browser;
pub mod cloud_fake;
pub mod model_server;
pub mod phone_fakes;
pub mod worker;

mod client;
mod disk;
mod editor;
mod home;
mod random;
mod scenarios;
mod terminal;

pub use binary::cueme;
pub use client::{Client, Run};
pub use cueme_test_kit::*;
pub use disk::Disk;
pub use editor::{Editor, Manners};
pub use home::{Home, envelope};
pub use process::{is_alive, processes_with, resident_kib, send_signal};
pub use python::python_with;
pub use random::Random;
pub use rustix::process::Signal;
pub use scenarios::SCENARIOS;
pub use terminal::Terminal;
