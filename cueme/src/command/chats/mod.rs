//! `cueme chats`: read what Cursor keeps on disk.

mod ls;
mod show;
mod watch;

mod dispatch;
mod failed;

pub(super) use dispatch::run;
pub(super) use failed::failed;
