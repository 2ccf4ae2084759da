//! Everything a database holds, as text: two of them are the same when nothing was changed.

use cueme_tests::Home;
use rusqlite::Connection;

/// Tables that follow others by themselves, after the commit they follow: what they say is said by those too.
const FOLLOWING: [&str; 3] = ["search", "words", "marks"];

/// Columns that move without anybody having changed anything: when somebody was there last, let in or not.
const MOVING: [(&str, &str); 1] = [("devices", "seen_at")];

/// Writes down every row of every table there is.
pub(crate) fn everything(home: &Home) -> Vec<String> {
    let database = Connection::open(home.database()).unwrap_or_else(|error| panic!("{error}"));
    let tables = tables(&database).unwrap_or_else(|error| panic!("{error}"));
    assert!(tables.len() > 15, "too few tables are looked at: {tables:?}");
    let rows = |table: &String| rows(&database, table).unwrap_or_else(|error| panic!("{table}: {error}"));
    tables.iter().flat_map(rows).collect()
}

/// Returns what one of two says and the other does not.
pub(crate) fn difference(before: &[String], after: &[String]) -> Vec<String> {
    let missing = before.iter().filter(|row| !after.contains(row));
    let new = after.iter().filter(|row| !before.contains(row));
    missing
        .map(|row| format!("- {row}"))
        .chain(new.map(|row| format!("+ {row}")))
        .collect()
}

fn tables(database: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut statement =
        database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")?;
    let mut names: Vec<String> = statement
        .query_map([], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    names.retain(|name| !FOLLOWING.iter().any(|other| is_part_of(name, other)));
    Ok(names)
}

/// The full text keeps its own tables, named after it.
fn is_part_of(name: &str, table: &str) -> bool {
    name.strip_prefix(table)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
}

fn rows(database: &Connection, table: &str) -> rusqlite::Result<Vec<String>> {
    let mut statement = database.prepare(&format!("SELECT * FROM {table}"))?;
    let columns: Vec<String> = statement.column_names().map(str::to_owned).collect();
    let mut seen = Vec::new();
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let mut text = table.to_owned();
        for (number, column) in columns.iter().enumerate() {
            if !MOVING.contains(&(table, column.as_str())) {
                text.push_str(&format!(" {column}={:?}", row.get_ref(number)?));
            }
        }
        seen.push(text);
    }
    Ok(seen)
}
