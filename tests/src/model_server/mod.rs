//! A model that follows a script: published agent programs are pointed at it and take it for their vendor's API.
//!
//! A [`Step`] says what the model does next, in no dialect; [`dialect`] translates between it and what each vendor's
//! API sends and reads. The server knows nothing of cueme beyond the names of its MCP tools, and no program by name.

mod dialect;
mod script;
mod server;
mod tools;

pub use script::{AGENT, Play, Step};
pub use server::{ModelRequest, ModelServer};
