//! Puts our members into a JSON file and takes them out again, leaving the rest as it is written.
//!
//! The file is edited as a syntax tree that keeps comments, order and spacing. [`Part`]s describe our members; one set
//! of them both installs and removes.

mod document;
mod hooks;
mod part;
#[cfg(test)]
mod tests;

pub(super) use document::{install, is_present, withdraw};
pub(super) use part::{MemberKind, Nesting, Part};
