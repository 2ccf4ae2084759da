//! Our MCP server in Codex's `config.toml`.
//!
//! The table is added and removed as text, so that everything else stays byte for byte (line endings included), and the
//! result is parsed to verify that exactly our table was added or removed. Codex itself rewrites this file and adds tables at
//! its end, so no end marker is used: what Codex wrote must never end up inside a block of ours.

use std::ops::Range;

use toml_edit::{Document, DocumentMut, Item};

use super::{Problem, managed_block::newline_of};

const SERVERS: &str = "mcp_servers";

/// Our table.
#[derive(Debug, Clone)]
pub(super) struct ServerTable {
    /// The server's name.
    pub name: &'static str,
    /// `key = value` lines below the header.
    pub lines: Vec<String>,
}

/// Returns the text with our table in it.
pub(super) fn upsert(text: &str, table: &ServerTable) -> Result<String, Problem> {
    let document = parse(text)?;
    let newline = newline_of(text);
    let body = render(table, newline);
    if server(&document, table.name).is_none() {
        let gap = if text.is_empty() || text.ends_with(&newline.repeat(2)) {
            String::new()
        } else if text.ends_with('\n') {
            newline.to_owned()
        } else {
            newline.repeat(2)
        };
        // As with managed blocks: a file without a newline at its end gets none.
        let kept_end = if text.is_empty() || text.ends_with('\n') {
            body.as_str()
        } else {
            body.trim_end()
        };
        return verified(format!("{text}{gap}{kept_end}"), table.name, true);
    }
    let range = main_table(text, table.name).ok_or_else(|| foreign_form(table.name))?;
    if text[range.clone()].trim_end() == body.trim_end() {
        return Ok(text.to_owned());
    }
    // The blank lines that set the next table off are not part of ours.
    let own = range.start..range.start + text[range.clone()].trim_end().len();
    verified(
        format!("{}{}{}", &text[..own.start], body.trim_end(), &text[own.end..]),
        table.name,
        true,
    )
}

/// Returns the text without our table, or `None` when it has none.
pub(super) fn remove(text: &str, name: &str) -> Result<Option<String>, Problem> {
    if server(&parse(text)?, name).is_none() {
        return Ok(None);
    }
    let mut out = text.to_owned();
    let mut found = false;
    while let Some(range) = our_tables(&out, name).first().cloned() {
        found = true;
        let newline = newline_of(&out);
        let before = &out[..range.start];
        let set_off = if out.ends_with('\n') {
            newline.to_owned()
        } else {
            newline.repeat(2)
        };
        let start = match before.strip_suffix(set_off.as_str()) {
            Some(shorter) if range.end == out.len() && before.ends_with(&newline.repeat(2)) => shorter.len(),
            _ => range.start,
        };
        out.replace_range(start..range.end, "");
    }
    if !found {
        return Err(foreign_form(name));
    }
    verified(out, name, false).map(Some)
}

/// Tells whether the text declares our server, in whatever form.
pub(super) fn is_declared(text: &str, name: &str) -> Result<bool, Problem> {
    Ok(server(&parse(text)?, name).is_some())
}

fn render(table: &ServerTable, newline: &str) -> String {
    let mut out = format!("[{SERVERS}.{}]{newline}", table.name);
    for line in &table.lines {
        out.push_str(line);
        out.push_str(newline);
    }
    out
}

fn parse(text: &str) -> Result<DocumentMut, Problem> {
    Document::parse(text.to_owned())
        .map(Document::into_mut)
        .map_err(|error| {
            let at = error.span().map_or(0, |span| span.start).min(text.len());
            let before = &text.as_bytes()[..at];
            let line_start = before
                .iter()
                .rposition(|byte| *byte == b'\n')
                .map_or(0, |newline| newline + 1);
            Problem::Syntax {
                line: before.iter().filter(|byte| **byte == b'\n').count() + 1,
                column: String::from_utf8_lossy(&before[line_start..]).chars().count() + 1,
                message: error.message().to_owned(),
            }
        })
}

fn server<'a>(document: &'a DocumentMut, name: &str) -> Option<&'a Item> {
    document.get(SERVERS)?.get(name)
}

/// Returns the text if it parses, and declares our server if and only if it should.
fn verified(text: String, name: &str, is_expected: bool) -> Result<String, Problem> {
    match parse(&text) {
        Ok(document) if server(&document, name).is_some() == is_expected => Ok(text),
        _ => Err(foreign_form(name)),
    }
}

fn foreign_form(name: &str) -> Problem {
    Problem::ForeignForm {
        member: format!("{SERVERS}.{name}"),
    }
}

fn main_table(text: &str, name: &str) -> Option<Range<usize>> {
    our_tables(text, name).into_iter().next()
}

/// Finds our table and its sub-tables, each from its header to the next header or the end.
fn our_tables(text: &str, name: &str) -> Vec<Range<usize>> {
    let mut tables: Vec<Range<usize>> = Vec::new();
    let mut inside = false;
    let mut offset = 0;
    for line in text.split_inclusive('\n') {
        let header = header_of(line);
        let (start, end) = (offset, offset + line.len());
        offset = end;
        if let Some(header) = header {
            inside = is_our_header(header, name);
            if inside {
                tables.push(start..end);
            }
        } else if inside && let Some(table) = tables.last_mut() {
            table.end = end;
        }
    }
    tables
}

fn header_of(line: &str) -> Option<&str> {
    let line = line.trim();
    let inner = line.strip_prefix('[')?;
    let close = inner.rfind(']')?;
    Some(inner[..close].trim())
}

fn is_our_header(header: &str, name: &str) -> bool {
    let full = format!("{SERVERS}.{name}");
    header == full
        || header
            .strip_prefix(&full)
            .is_some_and(|rest| rest.starts_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> ServerTable {
        ServerTable {
            name: "cueme",
            lines: vec![
                "command = \"cueme\"".to_owned(),
                "tool_timeout_sec = 86400".to_owned(),
            ],
        }
    }

    #[test]
    fn adding_and_removing_restores_every_kind_of_file() {
        for text in [
            "",
            "model = \"gpt\" # mine\n",
            "model = \"gpt\"\n\n[mcp_servers.other]\ncommand = \"x\"\n",
            "a = 1\r\n\r\n[b]\r\nc = 2\r\n",
            "a = 1",
        ] {
            let with = upsert(text, &table()).unwrap();
            assert!(with.contains("tool_timeout_sec"));
            assert_eq!(remove(&with, "cueme").unwrap().as_deref(), Some(text), "{with:?}");
            assert_eq!(upsert(&with, &table()).unwrap(), with);
        }
    }

    #[test]
    fn tables_that_codex_added_later_stay() {
        let mut text = upsert("a = 1\n", &table()).unwrap();
        text.push_str(
            "[mcp_servers.cueme.tools.cue]\napproval_mode = \"approve\"\n\n[projects.x]\ntrust = true\n",
        );
        let without = remove(&text, "cueme").unwrap().unwrap();
        assert_eq!(without, "a = 1\n\n[projects.x]\ntrust = true\n");
    }

    #[test]
    fn an_older_table_is_updated_where_it_stands() {
        let text = "[mcp_servers.cueme]\ncommand = \"old\"\n\n[z]\ny = 1\n";
        let with = upsert(text, &table()).unwrap();
        assert_eq!(
            with,
            "[mcp_servers.cueme]\ncommand = \"cueme\"\ntool_timeout_sec = 86400\n\n[z]\ny = 1\n"
        );
    }

    #[test]
    fn what_cannot_be_parsed_or_was_written_by_hand_is_refused() {
        assert!(matches!(
            upsert("a = \n", &table()),
            Err(Problem::Syntax { line: 1, .. })
        ));
        assert!(matches!(
            upsert("x = 1\ny = [1,\n", &table()),
            Err(Problem::Syntax { .. })
        ));
        let inline = "mcp_servers = { cueme = { command = \"x\" } }\n";
        assert!(matches!(
            upsert(inline, &table()),
            Err(Problem::ForeignForm { .. })
        ));
        assert!(matches!(
            remove(inline, "cueme"),
            Err(Problem::ForeignForm { .. })
        ));
        assert!(matches!(
            upsert("mcp_servers = {}\n", &table()),
            Err(Problem::ForeignForm { .. })
        ));
    }
}
