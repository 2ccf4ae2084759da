//! Agents that cueme drives: the event contract, Cursor's CLI, chats and cloud, agents over ACP, and HAP in their turns.
//!
//! This crate never opens the broker's socket: what it needs from a human it asks through a small trait. Runtimes that drive
//! their own agents are in `runtimes`; of them it uses the names of our MCP tools and the judgement of shell commands.
//!
//! Start with [`contract`], the events of a turn, then read [`cursor`] and [`acp`], which drive agents and produce them. [`hap`]
//! makes sure that an agent asks before it ends. [`process`] starts and ends their programs, [`tools`] are run for agents that
//! have none of their own, [`guard`] checks and redacts what agents send, and [`config`] reads `openclaw.json`.
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
