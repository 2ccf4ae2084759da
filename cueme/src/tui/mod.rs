//! The full-screen inbox of a terminal.
//!
//! [`state`] is pure: events in, commands out. [`view`] draws a state and changes nothing. [`run()`] is all the input and
//! output: keys, the broker, and the terminal, which [`screen`] leaves as it was.

mod text_box;

mod draft;

mod state;

mod view;

mod screen;

mod run;

pub(crate) use run::run;
