//! Runs on the page: the work of agents here and in the cloud, a form to start one, and their chats.

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
