//! The making of the page, which happens in the build script: its modules bring their tests along.

#![allow(dead_code, reason = "the build script uses more of them than the tests do")]
#![allow(clippy::unwrap_used, reason = "tests fail by unwrapping")]

#[path = "../build/document.rs"]
mod document;
#[path = "../build/link.rs"]
mod link;
#[path = "../build/page.rs"]
mod page;
#[path = "../build/shrink.rs"]
mod shrink;
