//! `cueme agent`: drive Cursor's CLI under the contract, with the human in every turn.

mod run;

mod driven;
mod human;
mod identity;
mod path;
mod reload;
mod reported;
mod terminal_answer;
mod tools;
mod transport;
mod view;

mod doctor;
mod models;
mod new_chat;
mod replay;

mod failed;
mod setup;

mod dispatch;

pub(super) use dispatch::run;
pub(super) use human::{BrokerHuman, with_earlier};
pub(super) use setup::runtime;
