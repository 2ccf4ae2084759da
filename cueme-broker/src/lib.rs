//! The broker: who asked, who answered, and whether they know.
//!
//! Reading order: the rules ([`machine`]), what is on disk ([`store`]).

pub mod machine;
pub mod store;

pub mod engine;
