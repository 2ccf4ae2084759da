//! The two things that Rust alone cannot do: be a file system to SQLite, and count what the allocator gives out.
//!
//! All unsafe code of this package is below this module. Its public parts are safe: a [`SimDisk`] whose power can be
//! cut, and [`heap::live_bytes`].

#![allow(
    unsafe_code,
    reason = "SQLite calls a virtual file system, and Rust an allocator, through unsafe interfaces"
)]

pub(crate) mod heap;
mod sim;
mod vfs;

pub(crate) use sim::{Fault, Image, Plan, SimDisk};
