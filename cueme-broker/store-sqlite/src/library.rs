//! The SQLite library itself.

/// Returns its version.
pub fn library_version() -> &'static str {
    rusqlite::version()
}

/// Returns the options that it says it was compiled with, or why it does not say.
pub fn library_options() -> String {
    options().unwrap_or_else(|error| error.to_string())
}

fn options() -> rusqlite::Result<String> {
    let connection = rusqlite::Connection::open_in_memory()?;
    let mut statement = connection.prepare("PRAGMA compile_options")?;
    let options = statement.query_map([], |row| row.get::<_, String>(0))?;
    Ok(options.collect::<Result<Vec<_>, _>>()?.join(" "))
}
