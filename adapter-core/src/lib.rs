//! Agents we drive and runtimes we join.
//!
//! This crate never opens the broker's socket: what it needs from a human it asks through a small trait.
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
pub mod runtime;
pub mod shell;
pub mod tools;
