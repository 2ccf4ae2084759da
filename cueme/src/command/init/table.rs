//! `cueme init --status`: what is connected, outdated or broken.

use adapter_core::runtime::install::{Scope, Status};
use protocol_spec::exit::Exit;

use super::{Connection, InitArgs, Machine, all_connections, parse_runtime};
use crate::display::{Paint, pad};
use crate::error::CliError;
use crate::output;

/// How wide the columns are.
const RUNTIME_COLUMNS: usize = 13;
const STATUS_COLUMNS: usize = 15;

pub(super) fn run(args: &InitArgs, machine: &Machine) -> Result<Exit, CliError> {
    let only = args.runtime.as_deref().map(parse_runtime).transpose()?;
    let found = machine.runtimes();
    let paint = Paint::for_stdout();
    let heading = row("RUNTIME", "USER", "THIS PROJECT", "ON THIS MACHINE");
    output::print_line(&paint.bold(&heading))?;
    let connections = all_connections(machine);
    let mut broken = Vec::new();
    for pair in connections.chunks(2) {
        let [user, project] = pair else { continue };
        if only.is_some_and(|only| only != user.runtime) {
            continue;
        }
        let here = if found.contains(&user.runtime) {
            "found"
        } else {
            "-"
        };
        let (user_word, project_word) = (standing(user, &mut broken), standing(project, &mut broken));
        output::print_line(&row(user.runtime.tag(), &user_word, &project_word, here))?;
    }
    for line in &broken {
        output::print_line(&paint.red(line))?;
    }
    Ok(Exit::Done)
}

fn row(runtime: &str, user: &str, project: &str, here: &str) -> String {
    let line = format!(
        "{}{}{}{here}",
        pad(runtime, RUNTIME_COLUMNS),
        pad(user, STATUS_COLUMNS),
        pad(project, STATUS_COLUMNS)
    );
    line.trim_end().to_owned()
}

/// Describes a connection in a word; what is broken is explained below the table.
fn standing(connection: &Connection<'_>, broken: &mut Vec<String>) -> String {
    let mut explain = |why: String| {
        let scope = match connection.scope {
            Scope::User => "user",
            Scope::Project => "project",
        };
        broken.push(format!("{} ({scope}): {why}", connection.runtime));
    };
    match connection.status() {
        Ok(Status::NotInstalled) => "-".to_owned(),
        Ok(Status::Installed) => "connected".to_owned(),
        Ok(Status::Outdated) => "outdated".to_owned(),
        Ok(Status::Broken { why }) => {
            for refusal in why {
                explain(format!("{}: {}", refusal.path.display(), refusal.why));
            }
            "broken".to_owned()
        }
        Err(error) => {
            explain(error.to_string());
            "broken".to_owned()
        }
    }
}
