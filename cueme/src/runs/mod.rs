//! What the broker is told of a run that is driven here, and what it says back.

mod follow;
mod reporter;

pub(crate) use follow::follow;
pub(crate) use reporter::{Reporter, run_id, shorten_text, title};
