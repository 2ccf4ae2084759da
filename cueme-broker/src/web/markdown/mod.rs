//! Agents' words as harmless HTML: rendered, sanitised, bounded, and with hidden characters made visible.

mod links;
pub mod patch;
mod render;
mod sanitise;
mod shown;
mod split;
mod writer;

pub(super) use protocol_spec::visible::visible;
pub(super) use render::{Rendered, render, verbatim};
pub(super) use split::{Part, end, part};
