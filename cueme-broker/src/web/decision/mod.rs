//! Decisions of a human.

mod routes;

mod answer;
mod close;
mod decide;
mod undo;

pub(super) use routes::routes;
