//! Tells the program where it comes from: commit, compiler, target and features, for `cueme --version --verbose`.

use std::path::Path;
use std::process::Command;

fn main() {
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    let compiler = first_line(&variable("RUSTC"), &["--version"]).unwrap_or_else(|| "rustc".to_owned());
    let facts = [
        ("CUEME_COMMIT", commit().unwrap_or_else(|| "unknown".to_owned())),
        (
            "CUEME_BUILD",
            format!("{}, {}, {compiler}", variable("TARGET"), variable("PROFILE")),
        ),
        ("CUEME_FEATURES", features()),
    ];
    for (name, value) in facts {
        println!("cargo::rustc-env={name}={value}");
    }
    println!("cargo::rerun-if-changed=build.rs");
}

/// Returns the commit: the one that a packager without git names, cargo's record in a published package, which may lie in
/// anybody's repository, otherwise git's.
fn commit() -> Option<String> {
    const RECORD: &str = ".cargo_vcs_info.json";
    const NAMED: &str = "CUEME_COMMIT";
    println!("cargo::rerun-if-env-changed={NAMED}");
    if let Some(named) = std::env::var(NAMED).ok().filter(|named| !named.is_empty()) {
        return Some(named.chars().take(12).collect());
    }
    if let Ok(record) = std::fs::read_to_string(RECORD) {
        println!("cargo::rerun-if-changed={RECORD}");
        let (_, after) = record.split_once("\"sha1\": \"")?;
        return after.get(..12).map(str::to_owned);
    }
    if !Path::new("../.git").exists() {
        return None;
    }
    // Grows with every commit and checkout.
    let log = first_line("git", &["rev-parse", "--git-path", "logs/HEAD"])?;
    if Path::new(&log).exists() {
        println!("cargo::rerun-if-changed={log}");
    }
    first_line("git", &["rev-parse", "--short=12", "HEAD"])
}

fn features() -> String {
    let set =
        std::env::vars().filter_map(|(name, _)| Some(name.strip_prefix("CARGO_FEATURE_")?.to_lowercase()));
    let mut names: Vec<String> = set.filter(|name| name != "default").collect();
    names.sort();
    if names.is_empty() {
        "default".to_owned()
    } else {
        names.join(", ")
    }
}

fn first_line(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let line = text.lines().next()?.to_owned();
    output.status.success().then_some(line)
}
