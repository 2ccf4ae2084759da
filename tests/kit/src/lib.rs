//! Helpers of the tests of every crate: waiting for readiness instead of sleeping, the protocol of the socket, HTTP,
//! and real servers: PostgreSQL and nginx.
//!
//! It knows the protocol and nothing of the broker or the program, so each of them can depend on it for its tests. Homes of
//! the real binary are in `cueme-tests`.

mod files;
mod http;
pub mod nginx;
mod patience;
mod port;
pub mod postgres;
pub mod postgres_proxy;
pub mod request;
pub mod tls;
mod wire;

pub use files::files_below;
pub use http::{Answer, Http, head};
pub use patience::{
    PATIENCE, eventually, eventually_async, next_file_time, next_millisecond, not_run, not_run_without,
    remains, within,
};
pub use port::free_port;
pub use wire::Wire;
