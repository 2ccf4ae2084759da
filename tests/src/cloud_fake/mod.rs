//! A stand-in for Cursor's cloud API, both generations, that follows a script.
//!
//! It keeps the real one's rules (who may call, what is a conflict, how streams resume, what is signed) and
//! breaks down where a [`Script`] says so. Tests start it in their own process with [`FakeCloud::start`]; the
//! binary `cloud-fake` serves the same with `/_fake/script` and `/_fake/log` for control from outside.

mod control;
mod script;
mod server;
mod state;
mod v0;
mod v1;
mod webhook;

pub use script::{Failure, Reply, Script, StreamEnd, StreamScript, Webhooks};
pub use server::FakeCloud;
pub use state::{API_KEY, LoggedRequest};
