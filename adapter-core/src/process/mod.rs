//! Running an agent's program, whichever protocol it speaks: find it, start it, stop it, and leave nothing behind.
//!
//! [`group`] holds what depends on the platform.

mod locate;
mod start;
mod stderr;

mod cancel;
mod deadline;

mod graces;
mod group;

pub use cancel::{Cancelled, Canceller, cancellation};
pub use deadline::HumanTime;
pub(crate) use deadline::deadline;
pub use graces::Graces;
pub(crate) use group::{Group, exit_of, lead_group};
pub use locate::{CLI_NAMES, locate};
pub(crate) use start::Start;
pub(crate) use stderr::StderrTask;
