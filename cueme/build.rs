//! Links the program so that it starts quickly: an agent starts it for every question.
//!
//! - At a fixed address, where that is supported. A program that may be loaded anywhere has a megabyte of pointers to correct
//!   at every start, page by page. Stack, heap and libraries keep their random addresses.
//! - With the unwinder in it. As a library it is one more file to find, to map and to bind at every start.
//!   The other library that is spared is told of in `mathematics.rs`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let target = |what: &str| env::var(format!("CARGO_CFG_TARGET_{what}")).unwrap_or_default();
    if target("OS") == "linux" && target("ENV") == "gnu" {
        println!("cargo:rustc-link-arg-bins=-no-pie");
        if let (Some(archive), Some(directory)) = (unwinder(), env::var_os("OUT_DIR")) {
            link_unwinder(&archive, Path::new(&directory));
        }
    }
}

/// Returns where the compiler that links keeps the unwinder's archive. Not every one has it; the library serves as well.
fn unwinder() -> Option<PathBuf> {
    let linker = env::var_os("RUSTC_LINKER");
    if linker.is_none() && env::var_os("HOST") != env::var_os("TARGET") {
        // What this machine's own compiler has is for this machine.
        return None;
    }
    let found = Command::new(linker.unwrap_or_else(|| OsString::from("cc")))
        .arg("-print-file-name=libgcc_eh.a")
        .output()
        .ok()?;
    // The bare name is printed where there is none.
    let archive = PathBuf::from(String::from_utf8(found.stdout).ok()?.trim());
    (archive.is_absolute() && archive.is_file()).then_some(archive)
}

/// Lets the linker find the archive under the name of the library, which Rust names in each of its calls.
fn link_unwinder(archive: &Path, directory: &Path) {
    let script = format!("INPUT(\"{}\")\n", archive.display());
    if fs::write(directory.join("libgcc_s.so"), script).is_ok() {
        println!("cargo:rustc-link-arg-bins=-L{}", directory.display());
    }
}
