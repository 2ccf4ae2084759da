//! Asking a person at a terminal, one thing at a time.

mod person;

mod answer;
mod secret;

pub(crate) use person::Dialogue;
