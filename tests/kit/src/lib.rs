//! What tests of every crate use to wait and to speak: readiness instead of sleeps, the socket's language, and HTTP.
//!
//! It knows the protocol and nothing of the broker or the program, so each of them can depend on it for its tests. Homes of
//! the real binary are in `cueme-tests`.

mod files;
mod http;
mod patience;
pub mod postgres;
pub mod postgres_proxy;
mod wire;

pub use files::files_below;
pub use http::{Answer, Http, head};
pub use patience::{
    PATIENCE, eventually, eventually_async, next_file_time, next_millisecond, not_run, not_run_without,
    remains, within,
};
pub use wire::Wire;
