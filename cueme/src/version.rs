//! `cueme --version --verbose`: what this program was built from, for a bug report.

use std::ffi::OsString;

use protocol_spec::version::PROTOCOL;

/// Says whether the words behind `cueme` ask for the long version.
pub(crate) fn is_asked_for(words: &[OsString]) -> bool {
    let is = |word: &OsString, names: [&str; 2]| names.iter().any(|name| word == name);
    let (version, verbose) = (["--version", "-V"], ["--verbose", "-v"]);
    match words {
        [one, other] => is(one, version) && is(other, verbose) || is(one, verbose) && is(other, version),
        _ => false,
    }
}

/// Returns the version with commit, build, SQLite, features and protocol, one to a line.
pub(crate) fn verbose() -> String {
    // From `.cargo/config.toml`, which cargo reads in a clone only. SQLite does not tell these of itself.
    let flags = option_env!("LIBSQLITE3_FLAGS").unwrap_or("its default flags");
    format!(
        "cueme {}\ncommit: {}\nbuild: {}\nSQLite: {}, built with {flags}\nSQLite options: {}\nfeatures: {}\nprotocol: {PROTOCOL}\n",
        env!("CARGO_PKG_VERSION"),
        env!("CUEME_COMMIT"),
        env!("CUEME_BUILD"),
        cueme_store_sqlite::library_version(),
        cueme_store_sqlite::library_options(),
        env!("CUEME_FEATURES"),
    )
}
