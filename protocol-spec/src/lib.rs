//! The Human Agent Protocol as types: what may be asked, what may be answered, and how both travel.
//!
//! This crate is only the contract. It opens nothing, waits for nothing and knows no clock.

pub mod answer;
pub mod envelope;
pub mod payload;

mod text;
