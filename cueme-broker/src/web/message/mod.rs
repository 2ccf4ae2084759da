//! Notes for the next answer, and answers queued for the next question.

mod routes;

mod delete;
mod edit;
mod list;
mod reorder;
mod reword;
mod send;

pub(super) use routes::routes;
