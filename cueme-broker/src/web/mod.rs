//! The page and its HTTP API. `API.md` beside this file is the contract.
//!
//! Reading order: the sockets ([`listener`]), the connections ([`server`]), admission ([`door`]), the routes ([`api`]), and one folder for each kind
//! of resource, with a file for each operation.

mod listener;
mod page;
mod server;
mod state;

mod door;

mod api;
mod error;
mod extract;
mod openapi;
mod view;

mod agent;
mod channel;
mod cue;
mod decision;
mod device;
mod draft;
mod hap;
mod message;
mod policy;
mod push;
mod upload;

mod assets;
mod connect;
mod cursor;
mod document;
mod events;
mod guide;
mod health;
mod page_events;
mod preview;
mod qr;
mod settings;
mod snapshot;

mod public;
mod runs;

mod markdown;
mod patience;

pub mod edge;
pub use markdown::patch;

pub(crate) use listener::WebListener;
pub(crate) use page::Page;
pub(crate) use server::{Entrance, accept};
pub(crate) use state::Web;
