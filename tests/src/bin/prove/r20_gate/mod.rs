//! R20, the gate: what is let through without asking can do nothing but one call of ours, and our calls are let through.
//!
//! Commands are made around a cueme call as an attacker would. Each one that the gate lets through is run in real shells,
//! with a recording program as `cueme`, in a sandbox whose every change shows. The forms that models usually write are
//! listed in [`usual`].

mod hostile;
mod sandbox;
mod usual;

use std::path::Path;

use cueme_tests::Random;
use runtimes::shell::agent_call::is_agent_call;

use crate::cases::{Extent, try_all};
use crate::trial::{NotRun, Trial};
use sandbox::{Call, Done, Sandbox};

/// The number of commands in one case.
const COMMANDS_A_CASE: u64 = 50;
/// The share of usual forms, in percent, that must be let through.
const USUAL_PERCENT_MIN: usize = 99;

/// The result of one case.
#[derive(Default)]
struct Case {
    let_through: u64,
    runs: u64,
    violations: Vec<String>,
}

/// Attacks the gate, then asks it for what it must let through.
pub(crate) fn run(trial: &mut Trial) -> Result<(), NotRun> {
    let shells = sandbox::shells();
    if shells.len() < 2 {
        return Err(NotRun("bash and a POSIX sh are needed".to_owned()));
    }
    let commands = trial.size(2_000, 100_000, 1_000_000);
    let (mut let_through, mut runs) = (0, 0);
    let cases = try_all(
        trial,
        Extent::Count(commands / COMMANDS_A_CASE),
        |place, _, random| attack(place, &shells, random),
        |trial, _, case: Case| {
            let_through += case.let_through;
            runs += case.runs;
            trial.violations(case.violations);
        },
    )?;
    trial.check(let_through > 0, || {
        "nothing was let through, so nothing was proven".to_owned()
    });
    trial.figure("commands made around a call", cases * COMMANDS_A_CASE);
    trial.figure(
        "let through, and run",
        format!("{let_through}, {runs} runs in {}", shells.join(", ")),
    );
    usual_forms(trial, &shells)
}

fn attack(place: &Path, shells: &[&'static str], mut random: Random) -> Case {
    let sandbox = Sandbox::new(place);
    let own = [sandbox.own_path()];
    let mut case = Case::default();
    for _ in 0..COMMANDS_A_CASE {
        let text = hostile::command(&mut random, &own[0]);
        if !is_agent_call(&text, &own) {
            continue;
        }
        case.let_through += 1;
        let done: Vec<Done> = shells.iter().map(|shell| sandbox.run(shell, &text)).collect();
        case.runs += done.len() as u64;
        case.violations.extend(wrong(&text, shells, &done));
    }
    case
}

/// Tells what a command did besides one call of ours.
fn wrong(text: &str, shells: &[&'static str], done: &[Done]) -> Option<String> {
    let verbs = ["join", "recall", "cue", "pause"];
    for (shell, done) in shells.iter().zip(done) {
        let is_one_call = matches!(done.calls.as_slice(), [call] if call.arguments.first().is_some_and(|verb| verbs.contains(&verb.as_str())));
        if !is_one_call || !done.changes.is_empty() {
            return Some(format!("{shell} ran {text:?} and did {done:?}"));
        }
    }
    let is_agreed = done
        .iter()
        .all(|other| same_call(&other.calls[0], &done[0].calls[0]));
    (!is_agreed).then(|| format!("shells disagree about {text:?}: {done:?}"))
}

/// Compares two calls.
///
/// dash drops a byte where a line of a here-document begins with a part of the delimiter and goes on with a character
/// beyond ASCII. The rest of the text must be the same all the same, and `cueme` refuses what is not UTF-8.
fn same_call(one: &Call, other: &Call) -> bool {
    let is_damaged = |call: &Call| call.stdin.contains(char::REPLACEMENT_CHARACTER);
    let ascii = |call: &Call| call.stdin.chars().filter(char::is_ascii).collect::<String>();
    let same_stdin =
        one.stdin == other.stdin || (is_damaged(one) != is_damaged(other) && ascii(one) == ascii(other));
    one.arguments == other.arguments && same_stdin
}

fn usual_forms(trial: &mut Trial, shells: &[&'static str]) -> Result<(), NotRun> {
    let place = tempfile::tempdir().map_err(|error| NotRun(error.to_string()))?;
    let sandbox = Sandbox::new(place.path());
    let own = [sandbox.own_path()];
    let forms = usual::forms(&own[0]);
    let refused: Vec<&String> = forms
        .iter()
        .map(|form| &form.text)
        .filter(|text| !is_agent_call(text, &own))
        .collect();
    let through = forms.len() - refused.len();
    trial.check(through * 100 >= forms.len() * USUAL_PERCENT_MIN, || {
        format!(
            "only {through} of {} usual forms are let through; not {refused:?}",
            forms.len()
        )
    });
    // Every form reads the same in the first shell; in all of them a share of the forms is enough.
    let step = trial.size(29, 3, 1);
    for form in forms.iter().step_by(step) {
        for shell in shells {
            let done = sandbox.run(shell, &form.text);
            let is_meant = matches!(done.calls.as_slice(), [call] if call.arguments == form.arguments && call.stdin == form.stdin);
            trial.check(is_meant && done.changes.is_empty(), || {
                format!("{shell} ran {:?} and did {done:?}", form.text)
            });
        }
    }
    trial.figure("usual forms let through", format!("{through} of {}", forms.len()));
    Ok(())
}
