//! `cueme cloud`, run as people and programs run it: the real binary, the real broker, and a stand-in for Cursor's cloud.
#![allow(clippy::unwrap_used, reason = "a test may end with a panic")]

mod cloud;

mod human;
mod runs;
mod security;
mod verbs;
