//! Ports for servers that a test starts.

use std::net::TcpListener;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::eventually;

/// Returns a port without a listener, below those that the system gives to connections.
///
/// # Panics
///
/// Panics when there is none.
#[track_caller]
pub fn free_port() -> u16 {
    const FIRST: u32 = 10_000;
    const COUNT: u32 = 20_000;
    static NEXT: AtomicU32 = AtomicU32::new(0);
    eventually("a free port", || {
        let offset = (std::process::id() % COUNT) * 97 + NEXT.fetch_add(1, Ordering::Relaxed);
        let port = u16::try_from(FIRST + offset % COUNT).unwrap();
        TcpListener::bind(("127.0.0.1", port)).ok().map(|_| port)
    })
}
