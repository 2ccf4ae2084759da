//! Finds the session of a call's host, so that a session has one agent however it is joined.
//!
//! A hook is told the session by its host; a command in the host's shell and an MCP server are not. All three descend
//! from the same host process, so the hook notes that process with the session, and the others look for it among their
//! ancestors. Agents of different sessions are never taken for one: where the process alone does not decide, and neither
//! the environment nor the call names the session, there is no session. Suggested reading order: what is noted
//! (`record`), how one is chosen (`choose`), how both meet the system (`find`).

mod record;

mod choose;

mod find;

pub(crate) use find::{Evidence, SESSION_VARIABLE, find, forget, holds_turn, note};
