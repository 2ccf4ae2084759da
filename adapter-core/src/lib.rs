//! Agents that cueme drives: the event contract, Cursor's CLI, chats and cloud, agents over ACP, and HAP in their turns.
//!
//! This crate never opens the broker's socket: what it needs from a human it asks through a small trait. Runtimes that drive
//! their own agents are in `runtimes`; of them it uses the names of our MCP tools and the judgement of shell commands.
//!
//! `SEEDS.md` in this crate's folder lists every sentence of the contract with the tests that show it.

pub mod acp;
pub mod config;
pub mod contract;
pub mod cursor;
pub mod guard;
pub mod hap;
pub mod http;
pub mod process;
pub mod tools;
