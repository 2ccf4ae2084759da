//! Asking a person at a terminal, one thing at a time.
//!
//! A value that does not fit is asked for again in place, with the typed text still there. Nothing is sent from here.

mod person;

mod editor;
mod external_editor;
mod lines;
mod secret;

mod answer;
mod pick;
mod review;

pub(crate) use answer::remark;
pub(crate) use external_editor::edit;
pub(crate) use person::Dialogue;
pub(crate) use pick::{Pressed, option_named, parse_button};
