//! R3: each operation on the disk fails once, in each of the ways it can.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use cueme_store_sqlite::Synchronous;
use cueme_tests::{Client, Home, Random, Wire, eventually};
use protocol_spec::id::{AgentId, RequestId};
use protocol_spec::message::{Reply, Request};

use crate::cases::{Extent, try_all};
use crate::load::{millis, within};
use crate::promises::{Little, Promises};
use crate::r02_power::{look, prepare};
use crate::raw::{Fault, Plan, SimDisk};
use crate::trial::{NotRun, Trial};
use cueme_test_kit::request::ask;

/// The number of rounds after a failure within which everything must work again.
const RECOVERS_WITHIN: usize = 2;
/// The time after a failed sync within which the broker must accept the same order.
const TAKEN_AGAIN_WITHIN: Duration = Duration::from_secs(1);
/// The syncs of a broker, one of which fails.
const SYNCS: usize = 200;
/// The most orders until the sync has failed.
const ORDERS_MAX: usize = 2 * SYNCS;
/// The mark that strace writes beside a call that it let fail.
const INJECTED: &str = "(INJECTED)";
/// The ways to fail.
const FAULTS: [Fault; 3] = [Fault::Io, Fault::Full, Fault::Short];

/// Fails at each operation.
pub(crate) fn run(trial: &mut Trial) -> Result<(), NotRun> {
    let scripts = trial.size(1, 10, 40);
    // Fourteen rounds of orders are some two hundred operations and more.
    let rounds = trial.size(5, 14, 14);
    let (image, agents) = prepare(&mut trial.random)?;
    let (mut cases, mut failed_orders, mut promised) = (0, 0, 0);
    for script in 0..scripts {
        let seed = trial.random.fork();
        let play = |directory: &Path, plan: Plan| -> (SimDisk, Played) {
            let disk = SimDisk::insert(directory, &image, plan);
            let played = play(directory, &agents, rounds, seed.clone());
            (disk, played)
        };
        let operations = {
            let directory = tempfile::tempdir().map_err(|error| NotRun(error.to_string()))?;
            play(directory.path(), Plan::Sound).0.operations()
        };
        cases += try_all(
            trial,
            Extent::Count(operations * FAULTS.len() as u64),
            |directory, number, mut random| {
                let (at, fault) = fault_of(number);
                let (disk, played) = play(directory, Plan::FailsAt(at, fault));
                // As another broker of this machine finds it, and as one does after the power was lost: what was
                // promised must have been synced, with the fault before it as without.
                let lefts = [disk.contents(), disk.cut(&mut random)];
                drop(disk);
                let broken = lefts.map(|left| look(directory, &left, &played.promises, &mut random));
                (played, broken.concat())
            },
            |trial, number, (played, broken)| {
                let (at, fault) = fault_of(number);
                failed_orders += played.failed;
                promised += played.promises.count();
                trial.check(played.has_recovered, || {
                    format!("{fault:?} at operation {at} of script {script}: it did not work again")
                });
                trial.check(broken.is_empty(), || {
                    format!("{fault:?} at operation {at} of script {script}: {broken:?}")
                });
            },
        )?;
    }
    trial.check(failed_orders > 0, || "no fault was ever noticed".into());
    under_strace(trial);
    trial.figure("faults", cases);
    trial.figure("orders that failed with them", failed_orders);
    trial.figure("promises kept", promised);
    Ok(())
}

/// Returns which operation fails in a case, and how.
fn fault_of(number: u64) -> (u64, Fault) {
    let ways = FAULTS.len() as u64;
    let way = usize::try_from(number % ways).unwrap_or(0);
    (number / ways, FAULTS[way])
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

/// Lets system calls of a real broker fail, where strace can do that.
fn under_strace(trial: &mut Trial) {
    let every = trial.size(90, 1, 1);
    let is_there = std::process::Command::new("strace").arg("-V").output().is_ok();
    if !is_there {
        return trial.lack("failing system calls", "strace");
    }
    let mut recoveries = Vec::new();
    for when in (1..=SYNCS).step_by(every) {
        match fail_a_sync(trial, when) {
            Ok(recovery) => recoveries.extend(recovery),
            Err(NotRun(why)) => return trial.omit("failing system calls", &why),
        }
        trial.progress(when as u64, SYNCS as u64);
    }
    let slowest = recoveries.iter().max().copied().unwrap_or_default();
    trial.figure("failed fdatasync calls", recoveries.len());
    trial.figure("the same order taken after one within", millis(slowest));
}

/// Lets the so-manieth sync of a broker fail; returns how long after it the order was taken, if it failed at all.
fn fail_a_sync(trial: &mut Trial, when: usize) -> Result<Option<Duration>, NotRun> {
    let home = Home::new();
    home.configure("reminder = false\nlisten = \"off\"\n");
    let agent = home.join();
    // Something is promised before, whichever sync it is.
    let mut promised = vec![ask_at_last(
        &home,
        None,
        Wire::mint(),
        &ask(&agent, "before it fails"),
    )];
    home.kill_brokers(&home.brokers());
    // The threads of a killed process may end after it, and with them its socket.
    eventually("nobody listens any more", || {
        Wire::connect(&home.socket()).is_none().then_some(())
    });
    let mut traced = Traced::start(&home, when)?;
    let refused = traced.ask_until_it_fails(trial, &home, &agent, &mut promised);
    if !traced.has_failed() {
        trial.violation(format!("sync {when} never came in {ORDERS_MAX} orders"));
        return Ok(None);
    }
    let since = Instant::now();
    let (request, order) = refused.unwrap_or_else(|| (Wire::mint(), ask(&agent, "after it failed")));
    promised.push(ask_at_last(&home, Some(&mut traced), request, &order));
    let took = since.elapsed();
    let limit = within(trial, TAKEN_AGAIN_WITHIN, 10);
    trial.check(took <= limit, || {
        format!("fdatasync {when} failed, and the order was taken only after {took:?}")
    });
    home.kill_brokers(&home.brokers());
    let stored = stored(&home);
    for cue in promised {
        trial.check(stored.contains(&cue), || {
            format!("fdatasync {when} failed, and {cue} was confirmed and is gone")
        });
    }
    Ok(Some(took))
}

/// Sends an order until the broker accepts it; returns the question. If the broker has ended, as it may after a
/// failure, the next one is started as by any command; while it runs, no other broker answers in its place.
fn ask_at_last(home: &Home, mut traced: Option<&mut Traced>, request: RequestId, order: &Request) -> String {
    eventually("an order is taken at last", || {
        if traced
            .as_mut()
            .is_some_and(|traced| traced.client.ended().is_some())
        {
            home.ok(&["agents"]);
        }
        let mut wire = Wire::connect(&home.socket())?;
        wire.send_as(request, order);
        match wire.hear() {
            Some(Reply::Asked(asked)) => Some(asked.cue_id.to_string()),
            _ => None,
        }
    })
}

/// A broker one of whose syncs fails.
struct Traced {
    client: Client,
    /// The file to which strace writes every sync, before the broker goes on.
    trace: PathBuf,
    when: usize,
}

impl Traced {
    /// Starts it; one that could not start because of the failure has ended when this returns.
    fn start(home: &Home, when: usize) -> Result<Self, NotRun> {
        let trace = home.scratch().join("trace");
        let script = format!(
            "exec strace -f -o {} -e trace=fdatasync -e inject=fdatasync:error=EIO:when={when} \"$CUEME_BIN\" broker run",
            trace.display()
        );
        let mut client = Client::start(&mut home.command_of("/bin/sh".as_ref(), &["-c", &script]), b"");
        let is_listening = eventually("a broker under strace starts, or not", || {
            let is_there = Wire::connect(&home.socket()).is_some();
            is_there.then_some(true).or_else(|| client.ended().map(|_| false))
        });
        let traced = Self { client, trace, when };
        if !is_listening && !traced.has_failed() {
            let why = traced.client.stderr();
            return Err(NotRun(format!("a traced broker does not start: {}", why.trim())));
        }
        Ok(traced)
    }

    fn syncs(&self) -> String {
        std::fs::read_to_string(&self.trace).unwrap_or_default()
    }

    fn has_failed(&self) -> bool {
        self.syncs().contains(INJECTED)
    }

    /// Asks until a sync has failed, and notes what was promised; returns the order that was refused for it, if it was
    /// an order that needed the sync and not the broker's own work between two.
    fn ask_until_it_fails(
        &mut self,
        trial: &mut Trial,
        home: &Home,
        agent: &str,
        promised: &mut Vec<String>,
    ) -> Option<(RequestId, Request)> {
        let mut wire = Wire::connect(&home.socket());
        for number in 0..ORDERS_MAX {
            if self.has_failed() {
                return None;
            }
            let order = ask(agent, &format!("question {number}"));
            let before = self.syncs().len();
            let heard = wire.as_mut().map(|wire| (wire.send(&order), wire.hear()));
            let Some((request, reply)) = heard else {
                trial.violation(format!("fdatasync {}: nobody listens", self.when));
                return None;
            };
            let syncs = self.syncs().split_off(before);
            match reply {
                Some(Reply::Asked(asked)) => {
                    // A checkpoint runs between two orders; even if it failed, the broker waited for a sync of this
                    // order.
                    let was_waited_for = syncs.lines().any(|line| line.ends_with("= 0"));
                    trial.check(was_waited_for, || {
                        format!(
                            "fdatasync {} failed, and {} was confirmed",
                            self.when, asked.cue_id
                        )
                    });
                    promised.push(asked.cue_id.to_string());
                }
                _ if syncs.contains(INJECTED) => return Some((request, order)),
                other => {
                    trial.violation(format!(
                        "order {number} was refused before fdatasync {} failed: {other:?}",
                        self.when
                    ));
                    return None;
                }
            }
        }
        None
    }
}

fn stored(home: &Home) -> BTreeSet<String> {
    let history = home.json(&["history", "--json", "--limit", "1000"]);
    let cues = history.as_array().into_iter().flatten();
    cues.filter_map(|cue| cue["cue_id"].as_str().map(str::to_owned))
        .collect()
}
