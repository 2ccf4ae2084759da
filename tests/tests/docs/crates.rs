//! The dependencies of the crates on each other, on SQLite's library, and on features that only macOS needs.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use crate::markdown::root;

/// Each crate's folder, and the crates of ours that its product code needs.
const NEEDS: [(&str, &[&str]); 12] = [
    ("protocol-spec", &[]),
    ("cueme-broker/rules", &["protocol-spec"]),
    ("cueme-broker/store", &["cueme-rules", "protocol-spec"]),
    (
        "cueme-broker/store-sqlite",
        &["cueme-rules", "cueme-store", "protocol-spec"],
    ),
    (
        "cueme-broker/store-postgres",
        &["cueme-rules", "cueme-store", "protocol-spec"],
    ),
    (
        "cueme-broker/store-copy",
        &["cueme-store", "cueme-store-postgres", "cueme-store-sqlite"],
    ),
    (
        "cueme-broker",
        &[
            "cloud-settings",
            "cueme-rules",
            "cueme-store",
            "cueme-store-copy",
            "cueme-store-postgres",
            "cueme-store-sqlite",
            "protocol-spec",
            "runtime-settings",
        ],
    ),
    ("adapter-core/cloud-settings", &[]),
    ("adapter-core/runtime-settings", &[]),
    ("adapter-core/runtimes", &["protocol-spec"]),
    ("adapter-core", &["cloud-settings", "protocol-spec", "runtimes"]),
    (
        "cueme",
        &[
            "adapter-core",
            "cueme-broker",
            "cueme-store",
            "cueme-store-copy",
            "cueme-store-postgres",
            "cueme-store-sqlite",
            "protocol-spec",
            "runtime-settings",
            "runtimes",
        ],
    ),
];

/// The chats reader and the importer read files of other programs.
const NAME_SQLITE: [&str; 3] = ["cueme-broker/store-sqlite", "adapter-core", "cueme"];

/// Returns the names below `[dependencies]` of a crate.
fn dependencies(folder: &str) -> BTreeSet<String> {
    let manifest = fs::read_to_string(root().join(folder).join("Cargo.toml")).unwrap();
    let manifest: toml::Table = manifest.parse().unwrap();
    let named = |table: &toml::Value| table.as_table().unwrap().keys().cloned().collect();
    manifest.get("dependencies").map(named).unwrap_or_default()
}

#[test]
fn crates_need_what_they_say_and_nothing_above_them() {
    let workspace = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let workspace: toml::Table = workspace.parse().unwrap();
    let known = workspace["workspace"]["dependencies"].as_table().unwrap();
    let is_ours = |name: &String| known[name].get("path").is_some();
    for (folder, needs) in NEEDS {
        let found: BTreeSet<String> = dependencies(folder).into_iter().filter(is_ours).collect();
        let needs: BTreeSet<String> = needs.iter().map(|name| (*name).to_owned()).collect();
        assert_eq!(found, needs, "{folder}");
        let names_sqlite = dependencies(folder).contains("rusqlite");
        assert_eq!(names_sqlite, NAME_SQLITE.contains(&folder), "{folder}");
    }
}

/// No machine of ours compiles for macOS; there, the client asks `getpeereid` of nix for the owner of a socket.
#[test]
fn nix_has_both_features_of_getpeereid_on_macos() {
    let arguments =
        "tree --locked --package cueme --target aarch64-apple-darwin --edges features --invert nix --depth 1";
    let output = Command::new(env!("CARGO"))
        .args(arguments.split(' '))
        .current_dir(root())
        .output()
        .unwrap();
    let tree = String::from_utf8(output.stdout).unwrap();
    let why = String::from_utf8_lossy(&output.stderr);
    for feature in ["socket", "user"] {
        assert!(
            tree.contains(&format!("nix feature \"{feature}\"")),
            "{tree}{why}"
        );
    }
}
