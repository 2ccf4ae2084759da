//! `cueme cloud`, run as people and programs run it: the real binary, the real broker, and a stand-in for Cursor's cloud.

mod cloud;

mod human;
mod lead;
mod reach;
mod runs;
mod security;
mod trouble;
mod unattended;
mod verbs;
