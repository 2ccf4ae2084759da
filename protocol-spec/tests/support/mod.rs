//! The helpers that several tests share.

#![allow(dead_code, reason = "each test uses its own part")]

#[path = "../../../tests/src/hostile/naive.rs"]
pub(crate) mod naive;
pub(crate) mod vectors;
