//! R1: every process that works for an answer is killed, again and again, at any moment.
//!
//! The victim is the broker, an agent's process, a human's connection, or all of them at once.

use std::sync::atomic::Ordering;
use std::time::Instant;

use cueme_test_kit::request::ask;
use cueme_tests::{Client, Home, envelope};
use protocol_spec::message::Reply;

use crate::ledger::Ledger;
use crate::town::{AGENTS, Crowd, HUMANS, Town};
use crate::trial::{NotRun, Trial};

/// Kills agents, humans and brokers, and judges.
pub(crate) fn run(trial: &mut Trial) -> Result<(), NotRun> {
    let cycles = trial.size(500, 10_000, 100_000);
    let homes = [Home::new()];
    let home = &homes[0];
    home.configure("reminder = false\nlisten = \"off\"\n");
    let ledger = Ledger::create(&home.scratch().join("ledger"));
    let town = Town::new(&homes, &ledger);
    let mut kills = [0; 4];
    let started = Instant::now();
    town.live(trial, cycles, |trial, crowd| {
        kills[kill(trial, &town, crowd)] += 1;
    });
    let took = started.elapsed();
    killed_with_the_answer_in_hand(trial);
    home.kill_brokers(&home.brokers());
    trial.violations(ledger.judge(&home.database()));
    let totals = ledger.totals();
    trial.figure("cycles", cycles);
    trial.figure("of them broker, agent, human, all", format!("{kills:?}"));
    trial.figure(
        "cycles a minute",
        format!("{:.0}", cycles as f64 * 60.0 / took.as_secs_f64()),
    );
    trial.figure("questions", totals.acked);
    trial.figure("answers accepted", totals.accepted);
    trial.figure("prints", totals.printed);
    trial.figure("repeats", town.repeats.load(Ordering::Relaxed));
    trial.figure(
        "calls told to come again",
        town.come_again.load(Ordering::Relaxed),
    );
    trial.check(totals.accepted > 0 && totals.printed >= totals.accepted, || {
        format!("nothing happened: {totals:?}")
    });
    Ok(())
}

/// Kills somebody; returns of which kind.
fn kill(trial: &mut Trial, town: &Town<'_>, crowd: &mut Crowd<'_>) -> usize {
    match trial.random.below(100) {
        0..60 => {
            crowd.kill_broker(0);
            0
        }
        60..85 => {
            crowd.kill_agent(trial.random.index(AGENTS));
            1
        }
        85..95 => {
            town.cut(trial.random.index(HUMANS));
            2
        }
        _ => {
            crowd.kill_broker(0);
            (0..AGENTS).for_each(|seat| crowd.kill_agent(seat));
            (0..HUMANS).for_each(|human| town.cut(human));
            3
        }
    }
}

/// The moment that chance seldom meets: the answer is with the agent's process, which has not printed it yet.
fn killed_with_the_answer_in_hand(trial: &mut Trial) {
    const PROMPT: &str = "Whose answer is it?";
    let home = Home::new();
    home.configure("reminder = false\nlisten = \"off\"\n");
    let agent = home.join();
    let mut process = home.wire();
    let asked = process.call(&ask(&agent, PROMPT));
    let Some(Reply::Asked(asked)) = asked else {
        return trial.violation(format!("not asked: {asked:?}"));
    };
    home.ok(&["answer", asked.cue_id.as_str(), "mine"]);
    let told = process.hear();
    trial.check(matches!(told, Some(Reply::Outcome(_))), || {
        format!("not told: {told:?}")
    });
    home.kill_broker();
    drop(process);
    let mut again = home.command(&["cue", &agent, "-"]);
    again.env("CUEME_WAIT", "10s");
    let run = Client::start(&mut again, envelope(PROMPT, None).as_bytes()).finish();
    trial.check(run.stdout.ends_with("mine\n"), || {
        format!("what was in the hands of a killed process is lost: {run:?}")
    });
}
