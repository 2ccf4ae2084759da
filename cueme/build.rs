//! Links the program at a fixed address where that is supported.
//!
//! A program that may be loaded anywhere has a megabyte of pointers to correct at every start, page by page, and an agent
//! starts this one for every question. Stack, heap and libraries keep their random addresses.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let target = |what: &str| std::env::var(format!("CARGO_CFG_TARGET_{what}")).unwrap_or_default();
    if target("OS") == "linux" && target("ENV") == "gnu" {
        println!("cargo:rustc-link-arg-bins=-no-pie");
    }
}
