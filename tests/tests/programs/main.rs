//! The published agent programs, run headless and in a terminal after a plain `cueme init`, against a scripted model.
//!
//! Each host goes through each scenario; a scenario fills one or more lines of the table in
//! `adapter-core/runtimes/CHECKED.md`. With `CUEME_WRITE_CHECKED=1` a whole run writes the table, otherwise it fails
//! where the table says something else. The programs come from `tests/programs/install`.

mod cases;
mod hosts;
mod limits;
mod programs;
mod scene;
mod table;
mod verdict;

use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};

use libtest_mimic::{Arguments, Failed, Trial};

use crate::cases::Scenario;
use crate::hosts::Host;
use crate::programs::Programs;
use crate::verdict::Row;

/// The number of concurrent scenarios. Most of them wait, so more than there are cores.
const AT_ONCE: usize = 4;

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    arguments.test_threads.get_or_insert(AT_ONCE);
    let Some(programs) = Programs::find() else {
        cueme_tests::not_run_without("the agent programs (tests/programs/install)");
        return ExitCode::SUCCESS;
    };
    let rows = Arc::new(Mutex::new(Vec::<Row>::new()));
    let trials = trials(programs, &rows);
    let is_whole = arguments.filter.is_none() && arguments.skip.is_empty() && !arguments.list;
    let conclusion = libtest_mimic::run(&arguments, trials);
    if !is_whole {
        return conclusion.exit_code();
    }
    let rows = rows.lock().unwrap_or_else(PoisonError::into_inner);
    let compared = table::compare_or_write(programs, &rows);
    if conclusion.has_failed() {
        conclusion.exit_code()
    } else {
        compared
    }
}

/// The slow ones come first, so that the others run beside them. A scenario that went wrong is played once more: programs lose
/// a command's output now and then, and a defect of ours goes wrong twice.
fn trials(programs: &'static Programs, rows: &Arc<Mutex<Vec<Row>>>) -> Vec<Trial> {
    let mut trials = Vec::new();
    for (place, scenario) in cases::ALL.iter().enumerate() {
        for host in hosts::ALL.into_iter().filter(|host| (scenario.runs_on)(host)) {
            let rows = Arc::clone(rows);
            let name = format!("{}::{}", scenario.name, host.tag);
            trials.push(Trial::test(name, move || {
                let (mut seen, mut wrong) = played(programs, scenario, host);
                if !wrong.is_empty() {
                    eprintln!(
                        "{} of {} is played once more: {}",
                        scenario.name, host.tag, wrong[0]
                    );
                    (seen, wrong) = played(programs, scenario, host);
                }
                for row in &mut seen {
                    row.scenario = place;
                }
                // The rows of a scenario share its story.
                for complaint in wrong.iter_mut().skip(1) {
                    complaint.truncate(complaint.find('\n').unwrap_or(complaint.len()));
                }
                rows.lock().unwrap_or_else(PoisonError::into_inner).extend(seen);
                // At once, because the harness tells failures only at its end.
                for complaint in &wrong {
                    eprintln!("{complaint}");
                }
                if wrong.is_empty() {
                    Ok(())
                } else {
                    Err(Failed::from(format!("{} rows, see above", wrong.len())))
                }
            }));
        }
    }
    trials
}

/// Plays a scenario; returns what it has shown, and what is wrong with that.
fn played(programs: &'static Programs, scenario: &Scenario, host: &'static Host) -> (Vec<Row>, Vec<String>) {
    let seen = (scenario.play)(programs, host);
    let wrong = seen.iter().filter_map(Row::complaint).collect();
    (seen, wrong)
}
