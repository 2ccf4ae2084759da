//! R13: more callers than the broker has file descriptors for.

use std::time::{Duration, Instant};

use cueme_tests::{Client, Home, Wire, eventually};
use protocol_spec::message::{ErrorCode, Nothing, Reply, Request};

use crate::load::{Times, millis, within};
use crate::r12_load::raise_descriptor_limit;
use crate::trial::{NotRun, Trial};

/// The broker's limit of file descriptors.
const DESCRIPTORS: u32 = 256;
/// The number of concurrent callers.
const CALLERS: usize = 1_000;
/// The time within which each of them must be served or refused.
const TOLD_WITHIN: Duration = Duration::from_secs(2);
/// The time within which the broker must serve again after they have left.
const RECOVERS_WITHIN: Duration = Duration::from_secs(1);

/// Calls with too many at once, and counts who was served and who was told to come again.
pub(crate) fn run(trial: &mut Trial) -> Result<(), NotRun> {
    let _ = raise_descriptor_limit();
    let home = Home::new();
    let script = format!("ulimit -n {DESCRIPTORS} && exec \"$CUEME_BIN\" broker run");
    let mut broker = Client::start(&mut home.command_of("/bin/sh".as_ref(), &["-c", &script]), b"");
    // A `join` before the broker listens would start another broker, without the limit.
    eventually("the broker listens", || Wire::connect(&home.socket()));
    let agent = home.join();
    let (waiting, cue) = home.ask(&agent, "Who waits through it?", None);
    let mut callers = Vec::new();
    for number in 0..CALLERS {
        let since = Instant::now();
        match Wire::connect(&home.socket()) {
            Some(mut wire) => {
                wire.send(&Request::Status(Nothing {}));
                callers.push((since, wire));
            }
            None => trial.violation(format!("caller {number} could not connect")),
        }
    }
    let (mut served, mut told) = (0, 0);
    let mut kept = Vec::new();
    let mut waits = Vec::new();
    let total = callers.len() as u64;
    for (number, (since, mut wire)) in (0..).zip(callers) {
        match wire.hear() {
            Some(Reply::Status(_)) => {
                served += 1;
                kept.push(wire);
            }
            Some(Reply::Error(failure)) if failure.code == ErrorCode::Busy => told += 1,
            other => trial.violation(format!("a caller was neither served nor told: {other:?}")),
        }
        waits.push(since.elapsed());
        trial.progress(number, total);
    }
    let slowest = Times::new(waits).percentile(100);
    let told_within = within(trial, TOLD_WITHIN, 5);
    trial.check(slowest <= told_within, || {
        format!("a caller knew only after {slowest:?} whether it is served")
    });
    trial.check(served > 0 && told > 0, || {
        format!("{served} were served and {told} told: descriptors never ran out")
    });
    let left = Instant::now();
    drop(kept);
    eventually("the broker serves again", || {
        let mut wire = Wire::connect(&home.socket())?;
        wire.send(&Request::Status(Nothing {}));
        matches!(wire.hear(), Some(Reply::Status(_))).then_some(())
    });
    let recovered = left.elapsed();
    let recovers_within = within(trial, RECOVERS_WITHIN, 5);
    trial.check(recovered <= recovers_within, || {
        format!("it took {recovered:?} to serve again")
    });
    home.ok(&["answer", &cue, "all the way"]);
    let run = waiting.finish();
    trial.check(run.stdout.starts_with("all the way\n"), || {
        format!("who waited was lost: {run:?}")
    });
    trial.check(broker.ended().is_none(), || "the broker ended".into());
    trial.figure("callers", CALLERS);
    trial.figure("descriptors", DESCRIPTORS);
    trial.figure("served", served);
    trial.figure("told to come again", told);
    trial.figure("the last of them after", millis(slowest));
    trial.figure("serves again after", millis(recovered));
    Ok(())
}
