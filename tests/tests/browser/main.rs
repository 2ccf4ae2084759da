//! The page in a real browser, over the real binary.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod answering;
mod attention;
mod axe;
#[allow(dead_code, reason = "these tests need a part of what builds stores")]
#[path = "../../../adapter-core/tests/chat_store/mod.rs"]
mod chat_store;
mod consent;
mod decisions;
mod disk;
mod driver;
mod files;
mod hostile;
mod inbox;
mod load;
mod once;
mod page;
mod precedent;
mod push;
mod resilience;
mod review;
mod rules;
mod runs;
mod screenshots;
mod states;
mod team;
mod tokens;
mod tools;
mod visible;
mod wording;
mod words;
