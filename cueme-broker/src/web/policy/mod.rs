//! The rules: their list, the switch that turns one off, and those that humans make in the page.

mod routes;

mod attempt;
mod end;
mod exact;
mod list;
mod stored;
mod switch;
mod write;

pub(super) use list::{PolicyShown, policies};
pub(super) use routes::routes;
