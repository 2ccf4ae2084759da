//! `cueme init --status`: the state of each connection, part by part.

use protocol_spec::exit::Exit;
use runtimes::install::{PartStatus, Role, Scope, Status};

use super::{Connection, InitArgs, Machine, all_connections, parse_runtime};
use crate::display::{Grade, Paint, finding, pad};
use crate::error::CliError;
use crate::output;

const HEADINGS: [&str; 9] = [
    "RUNTIME",
    "SCOPE",
    "STATE",
    "RULE",
    "PERMISSION",
    "HOOKS",
    "MCP",
    "CHECKED WITH",
    "HERE",
];
/// The widths of all columns but the last.
const COLUMNS: [usize; 8] = [13, 9, 11, 12, 12, 12, 12, 14];
/// The cell of a state or part that is not there.
const NOTHING: &str = "-";

/// Prints the table. The exit is [`Exit::NotFound`] if a connection is outdated or broken, or if the runtime that was named
/// is not connected.
pub(super) fn run(args: &InitArgs, machine: &Machine) -> Result<Exit, CliError> {
    let only = args.runtime.as_deref().map(parse_runtime).transpose()?;
    let found = machine.runtimes();
    let paint = Paint::for_stdout();
    output::print_line(&paint.bold(&row(&HEADINGS.map(str::to_owned))))?;
    let mut notes = TableNotes::default();
    for connection in all_connections(machine) {
        if only.is_some_and(|only| only != connection.runtime) {
            continue;
        }
        let here = if found.contains(&connection.runtime) {
            "found"
        } else {
            NOTHING
        };
        if let Some(cells) = cells(&connection, here, &mut notes) {
            output::print_line(&row(&cells))?;
        }
    }
    for (what, why) in &notes.broken {
        output::print(&finding(Grade::Fail, what, why, None, paint))?;
    }
    for line in &notes.remarks {
        output::print_line(&paint.dim(line))?;
    }
    let is_whole = notes.are_whole && (only.is_none() || notes.connected > 0);
    Ok(if is_whole { Exit::Done } else { Exit::NotFound })
}

/// The notes below the table.
struct TableNotes {
    /// The broken connections, each with the reason.
    broken: Vec<(String, String)>,
    remarks: Vec<String>,
    /// The number of connections.
    connected: usize,
    /// Whether no connection is outdated or broken.
    are_whole: bool,
}

impl Default for TableNotes {
    fn default() -> Self {
        Self {
            broken: Vec::new(),
            remarks: Vec::new(),
            connected: 0,
            are_whole: true,
        }
    }
}

/// Describes a connection; a project without one has no row.
fn cells(connection: &Connection<'_>, here: &str, notes: &mut TableNotes) -> Option<[String; 9]> {
    let scope = connection.scope.word();
    let state = state_of(connection, notes);
    if state == NOTHING && connection.scope == Scope::Project {
        return None;
    }
    if state != NOTHING {
        notes.connected += 1;
        notes.are_whole &= state == "connected";
        let remarks = connection.remarks();
        notes.remarks.extend(
            remarks
                .iter()
                .map(|remark| format!("{} ({scope}): {remark}", connection.runtime)),
        );
    }
    let is_there = state != NOTHING;
    let parts = connection
        .parts()
        .unwrap_or([PartStatus::Broken; Role::ALL.len()]);
    let [rule, permission, hooks, mcp] = parts.map(|part| word(part, is_there).to_owned());
    let checked = connection.runtime.facts().checked.unwrap_or("never tried");
    Some([
        connection.runtime.tag().to_owned(),
        scope.to_owned(),
        state.to_owned(),
        rule,
        permission,
        hooks,
        mcp,
        checked.to_owned(),
        here.to_owned(),
    ])
}

fn row(cells: &[String; 9]) -> String {
    let line: String = cells
        .iter()
        .enumerate()
        .map(|(place, cell)| pad(cell, COLUMNS.get(place).copied().unwrap_or_default()))
        .collect();
    line.trim_end().to_owned()
}

fn word(part: PartStatus, is_connected: bool) -> &'static str {
    match part {
        PartStatus::Impossible => "impossible",
        PartStatus::NotNeeded => "not needed",
        PartStatus::Missing if is_connected => "missing",
        PartStatus::Missing => NOTHING,
        PartStatus::Current => "yes",
        PartStatus::Outdated => "outdated",
        PartStatus::Broken => "broken",
    }
}

/// Returns the state of a connection; the reasons of a broken one are listed below the table.
fn state_of(connection: &Connection<'_>, notes: &mut TableNotes) -> &'static str {
    let scope = connection.scope.word();
    let mut explain = |why: String| {
        notes
            .broken
            .push((format!("{} ({scope})", connection.runtime), why));
    };
    match connection.status() {
        Ok(Status::NotInstalled) => NOTHING,
        Ok(Status::Installed) => "connected",
        Ok(Status::Outdated) => "outdated",
        Ok(Status::Broken { why }) => {
            for refusal in why {
                explain(format!("{}: {}", refusal.path.display(), refusal.why));
            }
            "broken"
        }
        Err(error) => {
            explain(error.to_string());
            "broken"
        }
    }
}
