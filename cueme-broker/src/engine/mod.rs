//! One thread that owns the truth: it takes orders, asks the machine, commits, and only then speaks.
//!
//! Everything that arrives while a commit is under way, or while others that did are carried out, is committed together in
//! the next one. No reply and no event leaves before the commit it depends on.

mod core;
mod folding;
mod order;
mod past;
mod thread;

pub(crate) use self::core::storage_failure;
pub use self::core::{Batch, Core, Random, Spoken, Worth};
pub use order::{Closing, Line, Order, PastQuestion, Work};
pub use thread::{Engine, EngineError, EngineHandle, Events};
