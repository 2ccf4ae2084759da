//! Agents' words as HTML that can do no harm: rendered, sanitised, bounded, with everything hidden made visible.

mod links;
mod render;
mod split;

pub(super) use protocol_spec::visible::visible;
pub(super) use render::render;
pub(super) use split::part;
