//! The whole loop, run as its users run it: real processes, real signals, real disks.
//!
//! Every test has a home of its own, so all of them run at once. One that needs root or a tool that is missing says
//! `not run` and why.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod payloads;
mod verbs;

mod delivery;
mod gate;
mod mailbox;
mod nginx;
mod programs;
mod remote;
mod team;
mod waiting;

mod copies;
mod crash;
mod kubernetes;
mod lifecycle;
mod ssh;
mod storage;

mod door;
mod door_of_the_page;
mod human;
mod operation;
