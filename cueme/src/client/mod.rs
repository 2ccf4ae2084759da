//! The client's side of the protocol: it finds a broker or starts one, here or elsewhere, sends a request and reads the
//! reply.
//!
//! Everything here blocks on the operating system and nothing polls on a timer, so that a client which waits for days
//! costs nothing while it does.

mod connect;
mod link;
mod remote;
mod ssh;
mod start;
mod stream;
mod trust;

mod session;

mod ask;
mod call;
mod take;
mod wait;
mod withdraw;

mod ack;
mod budget;
mod files;
mod signals;

pub(crate) use ack::Receipt;
pub(crate) use ask::{Asker, Call, Question};
pub(crate) use budget::wait_below;
pub(crate) use call::{Watched, call, call_running, expect_reply, follow_run, list, watch};
pub(crate) use connect::connect;
pub(crate) use link::{Link, Side, Target, Token, is_loopback, parse_url, target};
pub(crate) use remote::{addresses, check as check_remote};
pub(crate) use session::{mint, unexpected_reply};
pub(crate) use signals::{Signals, Switch};
pub(crate) use ssh::{is_destination, run_there};
pub(crate) use start::lock_start;
pub(crate) use take::{Missed, Taken, ask_and_take, ask_and_take_until, attach_and_take};
pub(crate) use wait::{Patience, Waited, ask_and_wait, wait_for};
pub(crate) use withdraw::{ask_or_withdraw, close, withdraw};
