//! `cueme cloud doctor`: whether a run could work, and what to do where it could not.

use adapter_core::cursor::cloud::{Check, Level, RetryPolicy, diagnose, worst};
use protocol_spec::exit::Exit;

use super::settings::configured;
use crate::cli::CloudDoctorArgs;
use crate::command::agent::runtime;
use crate::display::{Paint, visible_line};
use crate::error::CliError;
use crate::{environment, output};

pub(super) fn run(args: &CloudDoctorArgs) -> Result<Exit, CliError> {
    let places = environment::places()?;
    let config = configured(&places, &args.fields)?;
    let checks = runtime()?.block_on(diagnose(&config, &environment::variable, RetryPolicy::default()));
    if args.json || !output::is_terminal() {
        for check in &checks {
            output::print_json(check)?;
        }
    } else {
        output::print(&report(&checks, Paint::for_stdout()))?;
    }
    Ok(if worst(&checks) == Level::Error {
        Exit::NotFound
    } else {
        Exit::Done
    })
}

fn report(checks: &[Check], paint: Paint) -> String {
    let mut text = String::new();
    for check in checks {
        let mark = match check.level {
            Level::Ok => paint.green("ok  "),
            Level::Warn => paint.yellow("note"),
            Level::Error => paint.red("bad "),
        };
        text.push_str(&format!("{mark}  {}\n", visible_line(&check.message)));
        if let Some(hint) = check.hint {
            text.push_str(&format!("      {hint}\n"));
        }
    }
    text
}
