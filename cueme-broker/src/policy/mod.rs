//! Rules that answer by themselves: those of the configuration in its order, then those that humans made in the page.
//!
//! Whether a rule fits is decided by pure functions; one task applies the first that does. Every automatic answer is
//! labelled with its rule, counted, and stopped after a few in a row, so that a loop never runs without a human.

mod case;
mod parts;
mod pattern;
mod rule;
mod written;

mod apply;
mod glob;
mod stored;
mod trial;

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests;

pub(crate) use apply::{case, stopped, watch};
pub use case::{Asks, Case};
pub(crate) use parts::{Conditions, Gives};
pub use rule::{Action, IN_A_ROW_DEFAULT, Policy, first_fitting};
pub(crate) use stored::{RULES_NAME, StoredRule, WrittenRule, read_rules};
pub(crate) use trial::{Agrees, Trial, try_rule};
