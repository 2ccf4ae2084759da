//! R2: the power is cut at any operation, on a disk that keeps or loses each unsynced sector by chance.
//!
//! The product's own machine and store run on the simulated disk. Two controls must fail, or the test could not see
//! anything: without a sync at each commit answers are lost, and on a disk that lies about syncing databases break.

use std::path::Path;

use cueme_store_sqlite::{Synchronous, damage_in};
use cueme_tests::Random;
use protocol_spec::id::AgentId;

use crate::cases::{Extent, try_all};
use crate::load::by_build;
use crate::promises::{Little, Promises};
use crate::raw::{Image, Plan, SimDisk};
use crate::trial::{NotRun, Trial};

/// Agents that ask.
const AGENTS: usize = 4;
/// The number of rounds of orders before the power is cut for certain.
const ROUNDS: usize = 30;
/// The power is cut before this many operations.
const OPERATIONS_MAX: u64 = 400;
/// In how many of a hundred cases a control must fail.
const CONTROL_PERCENT: u64 = 10;

/// Cuts the power again and again.
pub(crate) fn run(trial: &mut Trial) -> Result<(), NotRun> {
    let total = trial.size(by_build(800, 10_000), 100_000, 1_000_000);
    let controls = trial.size(60, 1_000, 1_000);
    let (image, agents) = prepare(&mut trial.random)?;
    let mut promised = 0;
    try_all(
        trial,
        Extent::Count(total),
        |directory, _, mut random| {
            let at = random.below(OPERATIONS_MAX);
            let stage = Stage::new(directory, &image, &agents);
            (at, stage.play(Synchronous::Full, Plan::CutAt(at), &mut random))
        },
        |trial, number, (at, after)| {
            promised += after.promised;
            trial.check(after.broken.is_empty(), || {
                format!("case {number}, power lost at operation {at}: {:?}", after.broken)
            });
            trial.check(after.log_damage.is_none(), || {
                format!(
                    "case {number}, power lost at operation {at} is taken for damage: {:?}",
                    after.log_damage
                )
            });
        },
    )?;
    let (mut lazy, mut lying) = (Broken::default(), Broken::default());
    try_all(
        trial,
        Extent::Count(controls),
        |directory, _, mut random| {
            let at = random.below(OPERATIONS_MAX);
            let stage = Stage::new(directory, &image, &agents);
            (
                stage.play(Synchronous::Normal, Plan::CutAt(at), &mut random),
                stage.play(Synchronous::Full, Plan::LiesAndIsCutAt(at), &mut random),
            )
        },
        |_, _, (without_syncs, with_lies)| {
            lazy.count(&without_syncs);
            lying.count(&with_lies);
        },
    )?;
    for (what, cases) in [
        ("no sync at commits lost something", lazy.lost),
        ("a disk that lies corrupted something", lying.corrupt),
    ] {
        trial.check(cases * 100 >= controls * CONTROL_PERCENT, || {
            format!("the control with {what} in only {cases} of {controls} cases: this test sees nothing")
        });
    }
    trial.check(promised > 0, || "nothing was promised".into());
    trial.figure("power losses", total);
    trial.figure("promises kept", promised);
    for (what, broken) in [("synchronous=NORMAL", lazy), ("a lying disk", lying)] {
        let Broken { lost, corrupt } = broken;
        trial.figure(
            &format!("control: {what}"),
            format!("lost in {lost}, corrupt in {corrupt} of {controls}"),
        );
    }
    Ok(())
}

/// Makes a database with agents, to begin each case with.
pub(crate) fn prepare(random: &mut Random) -> Result<(Image, Vec<AgentId>), NotRun> {
    let directory = tempfile::tempdir().map_err(|error| NotRun(error.to_string()))?;
    let disk = SimDisk::insert(directory.path(), &Image::new(), Plan::Sound);
    let database = directory.path().join("cueme.db");
    let mut little = Little::open(database, Synchronous::Full, true, random.fork())
        .unwrap_or_else(|error| panic!("{error}"));
    let agents = little.join(AGENTS);
    drop(little);
    Ok((disk.contents(), agents))
}

struct Stage<'a> {
    directory: &'a Path,
    image: &'a Image,
    agents: &'a [AgentId],
}

/// The state after the power came back.
struct After {
    promised: usize,
    broken: Vec<String>,
    /// The damage of the log that the product would report.
    log_damage: Option<String>,
}

/// In how many cases something was broken.
#[derive(Debug, Clone, Copy, Default)]
struct Broken {
    /// A promised record was missing from a sound database.
    lost: u64,
    /// The database was not sound, or could not be opened.
    corrupt: u64,
}

impl Broken {
    fn count(&mut self, after: &After) {
        let is_corrupt = after.broken.iter().any(|broken| broken.starts_with("I6"));
        self.corrupt += u64::from(is_corrupt);
        self.lost += u64::from(!is_corrupt && !after.broken.is_empty());
    }
}

impl<'a> Stage<'a> {
    fn new(directory: &'a Path, image: &'a Image, agents: &'a [AgentId]) -> Self {
        Self {
            directory,
            image,
            agents,
        }
    }

    /// Works until the power is cut, and looks at what is left.
    fn play(&self, synchronous: Synchronous, plan: Plan, random: &mut Random) -> After {
        let disk = SimDisk::insert(self.directory, self.image, plan);
        let promises = self.work(&disk, synchronous, random);
        let left = disk.cut(random);
        drop(disk);
        let broken = look(self.directory, &left, &promises, random);
        After {
            promised: promises.count(),
            broken,
            log_damage: left.get("cueme.db-wal").and_then(|log| damage_in(log)),
        }
    }

    fn work(&self, disk: &SimDisk, synchronous: Synchronous, random: &mut Random) -> Promises {
        let opened = Little::open(self.directory.join("cueme.db"), synchronous, true, random.fork());
        let Ok(mut little) = opened else {
            return Promises::default();
        };
        little.speak_for(self.agents);
        for _ in 0..ROUNDS {
            little.step();
            if !disk.has_power() {
                break;
            }
        }
        little.promises.clone()
    }
}

/// Starts a broker on what is left, as after a crash, and holds it against what was promised.
pub(crate) fn look(directory: &Path, left: &Image, promises: &Promises, random: &mut Random) -> Vec<String> {
    let _disk = SimDisk::insert(directory, left, Plan::Sound);
    let database = directory.join("cueme.db");
    match Little::open(database.clone(), Synchronous::Full, false, random.fork()) {
        Err(error) => return vec![format!("I6: it does not start: {error}")],
        Ok(little) => drop(little),
    }
    promises
        .broken(&database)
        .unwrap_or_else(|error| vec![format!("I6: it cannot be read: {error}")])
}
