//! Runtimes joining: set up by `cueme init`, through hooks and through MCP.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod hook;
mod hosts;
mod init;
mod mcp;
mod mcp_python;
mod mcp_typescript;
mod opencode_plugin;
mod session;
mod stop;
