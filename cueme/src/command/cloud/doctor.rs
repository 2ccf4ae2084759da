//! `cueme cloud doctor`: whether a run could work, and what to do where it could not.

use adapter_core::cursor::cloud::{Check, Level, LimitFile, RetryPolicy, diagnose, worst};
use protocol_spec::exit::Exit;

use super::reach::check_way_back;
use super::settings::{configured, reach};
use crate::cli::CloudDoctorArgs;
use crate::command::agent::runtime;
use crate::display::{Grade, Paint, finding};
use crate::error::CliError;
use crate::{environment, output};

/// Remembers requests of a strictly limited kind, beside the database.
const LIMIT_FILE: &str = "cursor-repository-reads.json";

pub(super) fn run(args: &CloudDoctorArgs) -> Result<Exit, CliError> {
    let places = environment::places()?;
    let config = configured(&places, &args.fields)?;
    let reach = reach(args.no_hap);
    let limits = LimitFile::new(places.data_dir.join(LIMIT_FILE));
    let checks = runtime()?.block_on(async {
        let mut checks = diagnose(
            &config,
            reach,
            &environment::variable,
            RetryPolicy::default(),
            &limits,
        )
        .await;
        if let Ok(Some(url)) = config.reachable_at(reach, &environment::variable) {
            checks.push(check_way_back(&places, url).await);
        }
        checks
    });
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
    let lines = checks.iter().map(|check| {
        let grade = match check.level {
            Level::Ok => Grade::Ok,
            Level::Warn => Grade::Warn,
            Level::Error => Grade::Fail,
        };
        finding(grade, &subject(check.code), &check.message, check.hint, paint)
    });
    lines.collect()
}

/// Returns what a check is about, in words.
fn subject(code: &str) -> String {
    code.trim_start_matches("cursor_cloud_").replace('_', " ")
}
