//! One thread that owns the state: it takes orders and writes, asks the machine, commits them in batches, and replies.
//!
//! Everything that arrives during a commit, or while the orders of the next one are carried out, shares that next commit. No
//! reply and no event leaves before the commit it depends on.

mod call;
mod clock;
mod core;
mod handle;
mod order;
mod past;
mod thread;
mod write;

pub(crate) use self::core::storage_failure;
pub use self::core::{Batch, Clock, CommitOutput, Core, Entry, Random};
pub use call::Waiter;
pub use handle::{EngineError, EngineHandle, Events};
pub use order::{Closing, Line, Order, PastQuestion, Work};
pub use thread::Engine;
pub use write::{DiskReserve, Write};
