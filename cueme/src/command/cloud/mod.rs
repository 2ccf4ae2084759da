//! `cueme cloud`: drive agents in Cursor's cloud, with the human at the end of every run.

mod launch;

mod conversation;
mod doctor;
mod follow_up;
mod status;
mod stop;
mod watch;

mod drive;
mod gate;
mod lead;
mod report;

mod reach;
mod session;
mod settings;

mod dispatch;

pub(super) use dispatch::run;
