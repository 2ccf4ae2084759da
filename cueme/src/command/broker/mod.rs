//! `cueme broker`: run, look at or stop the broker.

mod run;

mod restart;
mod status;
mod stop;

mod install;
mod logs;

mod chats;
mod dispatch;
mod guide;

pub(super) use dispatch::run;
pub(super) use stop::stop;
