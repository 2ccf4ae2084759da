//! R14: the broker dies while thousands wait, and all of them come back at once.

use std::time::{Duration, Instant};

use cueme_tests::{Home, Wire, eventually};
use protocol_spec::id::{CueId, RequestId};
use protocol_spec::message::{Reply, Request};
use rusqlite::Connection;

use crate::load::{join_all, millis};
use crate::r12_load::raise_descriptor_limit;
use crate::trial::{NotRun, Trial};
use cueme_test_kit::request::{ack, answer, ask};

/// The time within which the new broker must answer its first caller.
const READY_WITHIN: Duration = Duration::from_secs(1);
/// The number of agents that share the questions.
const AGENTS: usize = 64;
/// The number of returning callers that are answered.
const ANSWERED: usize = 300;

/// One question, as its caller knows it.
struct Pending {
    request: RequestId,
    call: Request,
    cue: CueId,
}

/// Kills, restarts, and counts who is back.
pub(crate) fn run(trial: &mut Trial) -> Result<(), NotRun> {
    let count = trial.size(1_000, 10_000, 10_000);
    raise_descriptor_limit();
    let home = Home::new();
    home.configure("listen = \"off\"\n");
    let agents = join_all(&home, AGENTS);
    let mut held = Vec::new();
    let mut pending = Vec::new();
    for number in 0..count {
        let call = ask(&agents[number % AGENTS], &format!("question {number} comes back"));
        let mut wire = home.wire();
        let request = wire.send(&call);
        let Some(Reply::Asked(asked)) = wire.hear() else {
            panic!("not asked");
        };
        held.push(wire);
        pending.push(Pending {
            request,
            call,
            cue: asked.cue_id,
        });
        trial.progress(number as u64, count as u64);
    }
    home.kill_broker();
    drop(held);
    let started = Instant::now();
    let mut first = start_again(&home);
    let ready = started.elapsed();
    let mut back = Vec::new();
    for known in &pending {
        let mut wire = first.take().unwrap_or_else(|| home.wire());
        wire.send_as(known.request, &known.call);
        back.push(wire);
    }
    let mut lost = 0;
    for (wire, known) in back.iter_mut().zip(&pending) {
        match wire.hear() {
            Some(Reply::Asked(asked)) if asked.cue_id == known.cue && asked.again => {}
            other => {
                lost += 1;
                trial.violation(format!("{} came back as {other:?}", known.cue));
            }
        }
    }
    let all_back = started.elapsed();
    trial.check(ready <= READY_WITHIN, || {
        format!("the new broker was ready after {ready:?}")
    });
    let waiting = eventually("the counts settle", || Some(home.status().waiting));
    trial.check(waiting as usize == count, || format!("{waiting} of {count} wait"));
    let rows = rows(&home);
    trial.check(rows == count as i64, || {
        format!("{rows} questions are stored, {count} were asked")
    });
    let heard = some_are_answered(trial, &home, &mut back, &pending);
    trial.figure("pending", count);
    trial.figure("lost", lost);
    trial.figure("answered afterwards, each with its own", heard);
    trial.figure("ready after", millis(ready));
    trial.figure("all back after", millis(all_back));
    Ok(())
}

/// Any command starts a broker; this one returns when it answers.
fn start_again(home: &Home) -> Option<Wire> {
    home.ok(&["agents"]);
    Wire::connect(&home.socket())
}

/// Answers some of those who came back, spread over all of them; returns how many heard their own answer.
///
/// All answers are given before anybody listens, so that one that went to another is heard there.
fn some_are_answered(trial: &mut Trial, home: &Home, back: &mut [Wire], pending: &[Pending]) -> usize {
    let every = pending.len().div_ceil(ANSWERED);
    let text = |cue: CueId| format!("only for {cue}");
    let mut human = home.wire();
    for known in pending.iter().step_by(every) {
        let decided = human.call(&answer(known.cue.as_str(), &text(known.cue)));
        trial.check(matches!(decided, Some(Reply::Decided(_))), || {
            format!("{} could not be answered: {decided:?}", known.cue)
        });
    }
    let mut heard = 0;
    for (wire, known) in back.iter_mut().zip(pending).step_by(every) {
        let told = wire.hear();
        let is_own = matches!(&told, Some(Reply::Outcome(told))
            if told.cue_id == known.cue && told.text == text(known.cue));
        let acked = wire.call(&ack(known.cue));
        trial.check(is_own && matches!(acked, Some(Reply::Acked(_))), || {
            format!("{} heard {told:?}, then {acked:?}", known.cue)
        });
        heard += usize::from(is_own);
    }
    let waiting = home.status().waiting as usize;
    trial.check(waiting == pending.len() - heard, || {
        format!("{waiting} wait after {heard} of {} heard", pending.len())
    });
    heard
}

fn rows(home: &Home) -> i64 {
    let database = Connection::open(home.database()).unwrap_or_else(|error| panic!("{error}"));
    database
        .query_row("SELECT count(*) FROM cues", [], |row| row.get(0))
        .unwrap_or_else(|error| panic!("{error}"))
}
