//! See the README.

pub mod cloud_fake;
