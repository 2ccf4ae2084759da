//! Reports a run of this process to the broker, and receives its requests.

mod follow;
mod reporter;

pub(crate) use follow::follow;
pub(crate) use reporter::{Reporter, run_id, shorten_text, title};
