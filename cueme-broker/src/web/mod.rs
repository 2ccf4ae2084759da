//! The page and its HTTP API. `API.md` beside this file is the contract.
//!
//! Reading order: how connections are served ([`server`]), who is let in ([`door`]), what there is ([`api`]), and one file
//! for each kind of thing.

mod page;
mod server;
mod state;

mod door;

mod api;
mod error;
mod extract;
mod files;
mod guide;
mod openapi;
mod view;

mod agents;
mod assets;
mod bell;
mod channels;
mod connect;
mod cues;
mod decide;
mod devices;
mod document;
mod drafts;
mod events;
mod hap;
mod health;
mod messages;
mod policies;
mod preview;
mod push;
mod qr;
mod settings;
mod snapshot;
mod sniff;
mod uploads;

mod public;
mod runs;

mod markdown;
mod patience;

pub mod edge;
pub use markdown::patch;

pub(crate) use files::{FILES_MAX, NamedFile, named_file};
pub(crate) use page::Page;
pub(crate) use server::{Entrance, WebListener, accept};
pub(crate) use state::Web;
pub(crate) use uploads::{keep_file, tidy};
