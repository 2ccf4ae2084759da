//! The Human Agent Protocol as types: questions, answers, and their wire format.
//!
//! This crate is only the contract. It does no I/O, does not block, and reads no clock.
//!
//! Start with [`envelope`] and [`payload`], which parse a question, then read [`answer`] and [`outcome`], which describe its end.
//! [`message`] has the requests and replies of the socket, [`frame`] their lines, [`endpoint`] the places of socket and files.
//! [`SPECIFICATION`] is the whole protocol in words.

pub mod version;

pub mod envelope;
pub mod payload;

pub mod answer;

pub mod exit;
pub mod id;
pub mod outcome;
pub mod time;

pub mod endpoint;
pub mod frame;
pub mod message;

pub mod hex;
pub mod truncate;
pub mod visible;

mod scan;
mod text;

/// The specification of the protocol, as Markdown.
pub const SPECIFICATION: &str = include_str!("../SPEC.md");
