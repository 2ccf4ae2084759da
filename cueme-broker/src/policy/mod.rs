//! Rules that answer by themselves, as the configuration orders them.
//!
//! Whether a rule fits is decided by pure functions; one task applies the first that does. Every automatic answer is
//! labelled with its rule, counted, and stopped after a few in a row, so that a loop never runs without a human.

mod apply;
mod glob;
mod rule;

pub(crate) use apply::{stopped, watch};
pub use rule::{Action, Asks, Case, IN_A_ROW_DEFAULT, Policy, first_fitting};
