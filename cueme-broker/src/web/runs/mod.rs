//! Runs on the page: what agents do here and in the cloud, a form to start one, and the chats they hold.

mod routes;

mod chat;
mod launch;
mod list;
mod resume;
mod stop;
mod watch;

mod view;

pub(super) use chat::ChatQuery;
pub(super) use routes::routes;
