//! `cueme mcp`: the four verbs of an agent as tools of an MCP server over stdio.
//!
//! A tool says exactly what its command prints. Only this command starts an async runtime in a client; the waits
//! themselves are those of every other command, each on a thread of its own.

mod run;
mod server;

mod outgoing;

mod tools;

mod quick;
mod wait;

mod elicit;
mod tasks;

mod content;
mod texts;

pub(crate) use run::McpArgs;
pub(super) use run::run;
