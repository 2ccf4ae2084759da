//! Makes the page at build time, so that a broker that starts has nothing left to do for it.

mod document;
mod link;
mod minify;
mod page;
mod shrink;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

use page::{File, Page, assemble, digest};

fn main() {
    println!("cargo::rerun-if-changed=ui");
    println!("cargo::rerun-if-changed=build");
    let ui = Path::new(&variable("CARGO_MANIFEST_DIR")).join("ui");
    let page =
        assemble(&ui, minify::minify).unwrap_or_else(|error| panic!("the page cannot be made: {error}"));
    let out = PathBuf::from(variable("OUT_DIR"));
    write(&out.join("page.rs"), list(&page, &out).as_bytes());
}

/// Writes each file beside the list of them, which the broker includes.
fn list(page: &Page, out: &Path) -> String {
    let Page { files, document } = page;
    let mut list = format!(
        "const INLINE_SCRIPTS: &str = {:?};\nconst INLINE_STYLES: &str = {:?};\nconst STATE_AT: usize = {};\n",
        document.scripts.join(" "),
        document.styles.join(" "),
        document.state_at
    );
    list.push_str("const ASSETS: &[Asset] = &[\n");
    for (index, file) in files.iter().enumerate() {
        let File {
            path,
            bytes,
            is_named_by_digest,
        } = file;
        let place = out.join(format!("page-{index}"));
        write(&place, bytes);
        let etag = format!("\"{}\"", digest(bytes));
        // Writing to a `String` does not fail.
        let _ = writeln!(
            list,
            "    Asset {{ path: {path:?}, bytes: include_bytes!({place:?}), etag: {etag:?}, is_named_by_digest: {is_named_by_digest} }},"
        );
    }
    list.push_str("];\n");
    list
}

fn write(path: &Path, bytes: &[u8]) {
    fs::write(path, bytes).unwrap_or_else(|error| panic!("could not write {}: {error}", path.display()));
}

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_else(|error| panic!("cargo says no {name}: {error}"))
}
