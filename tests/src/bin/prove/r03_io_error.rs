//! R3: each operation on the disk fails once, in each of the ways it can.

use std::collections::BTreeSet;
use std::path::Path;

use cueme_broker::store::Synchronous;
use cueme_tests::{Client, Home, Random, Wire, eventually};
use protocol_spec::id::AgentId;
use protocol_spec::message::Reply;

use crate::promises::{Little, Promises};
use crate::r02_power::{look, prepare};
use crate::raw::{Fault, Plan, SimDisk};
use crate::talk::ask;
use crate::trial::{NotRun, Trial};

/// How many rounds after a failure everything must work again.
const RECOVERS_WITHIN: usize = 2;
/// The ways to fail.
const FAULTS: [Fault; 3] = [Fault::Io, Fault::Full, Fault::Short];

/// Fails at each operation.
pub(crate) fn run(trial: &mut Trial) -> Result<(), NotRun> {
    let scripts = trial.size(1, 10, 40);
    // Fourteen rounds of orders are some two hundred operations and more.
    let rounds = trial.size(5, 14, 14);
    let directory = tempfile::tempdir().map_err(|error| NotRun(error.to_string()))?;
    let (image, agents) = prepare(directory.path(), &mut trial.random);
    let (mut cases, mut failed_orders, mut promised) = (0u64, 0, 0);
    for script in 0..scripts {
        let seed = trial.random.fork();
        let play = |plan: Plan| -> (SimDisk, Played) {
            let disk = SimDisk::insert(directory.path(), &image, plan);
            let played = play(directory.path(), &agents, rounds, seed.clone());
            (disk, played)
        };
        let (disk, _) = play(Plan::Sound);
        let operations = disk.operations();
        drop(disk);
        for at in 0..operations {
            for fault in FAULTS {
                cases += 1;
                let (disk, played) = play(Plan::FailsAt(at, fault));
                let left = disk.contents();
                drop(disk);
                failed_orders += played.failed;
                promised += played.promises.count();
                trial.check(played.has_recovered, || {
                    format!("{fault:?} at operation {at} of script {script}: it did not work again")
                });
                let broken = look(directory.path(), &left, &played.promises, &mut trial.random);
                trial.check(broken.is_empty(), || {
                    format!("{fault:?} at operation {at} of script {script}: {broken:?}")
                });
            }
            trial.progress(script * operations + at, scripts * operations);
        }
    }
    trial.check(failed_orders > 0, || "no fault was ever noticed".into());
    under_strace(trial);
    trial.figure("faults", cases);
    trial.figure("orders that failed with them", failed_orders);
    trial.figure("promises kept", promised);
    Ok(())
}

struct Played {
    promises: Promises,
    failed: usize,
    has_recovered: bool,
}

/// Plays the script; after the one failure orders must be carried out again.
fn play(directory: &Path, agents: &[AgentId], rounds: usize, seed: Random) -> Played {
    let database = directory.join("cueme.db");
    let mut opened = Little::open(database.clone(), Synchronous::Full, true, seed.clone());
    if opened.is_err() {
        // A broker that cannot start because of it starts the next time.
        opened = Little::open(database, Synchronous::Full, false, seed);
    }
    let mut little = opened.unwrap_or_else(|error| panic!("it does not start again: {error}"));
    little.speak_for(agents);
    let mut failed = 0;
    let mut rounds_since = None;
    let mut has_recovered = true;
    for _ in 0..rounds {
        let count = little.step();
        failed += count;
        if count > 0 {
            let since = rounds_since.get_or_insert(0);
            *since += 1;
            has_recovered &= *since <= RECOVERS_WITHIN;
        }
    }
    // The fault may hit the first of these; after it everything must be taken.
    let mut is_taken = false;
    for number in 0..RECOVERS_WITHIN {
        let replies = little.ask(&agents[0], &format!("Does it work again? {number}"));
        let is_refused = replies.iter().any(|reply| matches!(reply, Reply::Error(_)));
        is_taken |= !is_refused;
        failed += usize::from(is_refused);
    }
    Played {
        promises: little.promises.clone(),
        failed,
        has_recovered: has_recovered && is_taken,
    }
}

/// The same with the system's own calls, where they can be made to fail.
fn under_strace(trial: &mut Trial) {
    let tries = trial.size(2, 40, 200);
    let is_there = std::process::Command::new("strace").arg("-V").output().is_ok();
    if !is_there {
        return trial.omit("failing system calls", "strace is not installed");
    }
    for (number, when) in (1..=200).step_by(200 / tries).enumerate() {
        let home = Home::new();
        home.configure("reminder = false\nlisten = \"off\"\n");
        let Some(_broker) = broker_that_fails_to_sync(&home, when) else {
            return trial.omit(
                "failing system calls",
                "this system does not allow to trace processes",
            );
        };
        let promised = ask_some(&home);
        home.kill_brokers(&home.brokers());
        let stored = stored(&home);
        for cue in promised {
            trial.check(stored.contains(&cue), || {
                format!("fdatasync {when} failed, and {cue} was confirmed and is gone")
            });
        }
        trial.progress(number as u64, tries as u64);
    }
    trial.figure("failed fdatasync calls", tries);
}

/// Starts a broker whose so-manieth sync fails; one that fails to start because of it is as good as any refusal.
fn broker_that_fails_to_sync(home: &Home, when: usize) -> Option<Client> {
    let script = format!(
        "exec strace -f -o /dev/null -e trace=fdatasync -e inject=fdatasync:error=EIO:when={when} \"$CUEME_BIN\" broker run"
    );
    let mut broker = Client::start(&mut home.command_of("/bin/sh".as_ref(), &["-c", &script]), b"");
    let has_started = eventually("a broker under strace starts, or not", || {
        let is_there = Wire::connect(&home.socket()).is_some();
        is_there.then_some(true).or_else(|| broker.ended().map(|_| false))
    });
    (has_started || !broker.stderr().contains("ptrace")).then_some(broker)
}

/// Asks, whatever fails; returns what was confirmed.
fn ask_some(home: &Home) -> Vec<String> {
    let agent = eventually("an agent joins", || {
        let joined = home.run(&["join", "patient"]);
        let mut lines = joined.stdout.lines();
        lines.find_map(|line| line.strip_prefix("agent_id=").map(str::to_owned))
    });
    let mut promised = Vec::new();
    let mut wire = home.wire();
    for number in 0..60 {
        match wire.call(&ask(&agent, &format!("question {number}"))) {
            Some(Reply::Asked(asked)) => promised.push(asked.cue_id.to_string()),
            Some(_) => {}
            None => wire = home.wire(),
        }
    }
    promised
}

fn stored(home: &Home) -> BTreeSet<String> {
    let history = home.json(&["history", "--json", "--limit", "200"]);
    let cues = history.as_array().into_iter().flatten();
    cues.filter_map(|cue| cue["cue_id"].as_str().map(str::to_owned))
        .collect()
}
