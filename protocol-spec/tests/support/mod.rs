//! What several tests share.

#![allow(dead_code, reason = "each test uses its own part")]

pub(crate) mod naive;
pub(crate) mod vectors;
