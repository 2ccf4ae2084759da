//! Agents' words as HTML that can do no harm: rendered, sanitised, bounded, with everything hidden made visible.

mod invisible;
mod links;
mod render;
mod split;

pub(super) use invisible::visible;
pub(super) use render::render;
pub(super) use split::part;
