//! The HTTP API against a real broker process, over real sockets.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod harness;

mod agents;
mod automatic;
mod decide;
mod door;
mod events;
mod files;
mod hap;
mod inbox;
mod precedent;
mod rules;
mod slow;
mod uploads;

/// Not a test: the process that the tests start as their broker.
#[test]
#[ignore = "it is the broker that the other tests start"]
fn broker_process() {
    harness::be_the_broker();
}
