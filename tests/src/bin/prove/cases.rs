//! Cases that know nothing of one another, tried on all processors at once.

use std::panic::resume_unwind;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use cueme_tests::Random;

use crate::trial::{NotRun, Trial};

/// When there have been enough of them.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Extent {
    /// After so many.
    Count(u64),
    /// After so long.
    Time(Duration),
}

/// Tries cases with `play`, and has `judge` look at how each ended, in any order. Returns how many there were.
///
/// A case has a directory that nobody else uses meanwhile. Its chance follows from the seed and from its number alone, so
/// that the same seed tries the same cases on every machine.
pub(crate) fn try_all<T: Send>(
    trial: &mut Trial,
    extent: Extent,
    play: impl Fn(&Path, u64, Random) -> T + Sync,
    mut judge: impl FnMut(&mut Trial, u64, T),
) -> Result<u64, NotRun> {
    let places = (0..processors())
        .map(|_| tempfile::tempdir())
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| NotRun(error.to_string()))?;
    let (chance, next, started) = (trial.random.next_number(), AtomicU64::new(0), Instant::now());
    let mut tried = 0;
    thread::scope(|scope| {
        let (say, endings) = mpsc::channel();
        let workers: Vec<_> = places
            .iter()
            .map(|place| {
                let (say, next, play) = (say.clone(), &next, &play);
                scope.spawn(move || {
                    loop {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        if extent.is_reached(number, started) {
                            break;
                        }
                        let ending = play(place.path(), number, chance_of(chance, number));
                        // The receiver lives until all workers have ended.
                        let _ = say.send((number, ending));
                    }
                })
            })
            .collect();
        drop(say);
        for (number, ending) in endings {
            judge(trial, number, ending);
            tried += 1;
            match extent {
                Extent::Count(total) => trial.progress(tried, total),
                Extent::Time(lasts) => trial.progress(started.elapsed().as_secs(), lasts.as_secs()),
            }
        }
        for worker in workers {
            worker.join().unwrap_or_else(|panic| resume_unwind(panic));
        }
    });
    Ok(tried)
}

impl Extent {
    fn is_reached(self, number: u64, started: Instant) -> bool {
        match self {
            Self::Count(total) => number >= total,
            Self::Time(lasts) => started.elapsed() >= lasts,
        }
    }
}

/// Returns how much can be done at once.
pub(crate) fn processors() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// Begins the chance of one case; neighbours have nothing in common.
fn chance_of(chance: u64, number: u64) -> Random {
    Random::new(chance.wrapping_add(number)).fork()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::tier::Tier;

    /// Returns what each case drew, by its number.
    fn drawn(seed: u64, total: u64) -> BTreeMap<u64, u64> {
        let mut trial = Trial::new("cases", Tier::Ci, seed);
        let mut drawn = BTreeMap::new();
        let tried = try_all(
            &mut trial,
            Extent::Count(total),
            |_, _, mut random| random.next_number(),
            |_, number, number_drawn| {
                drawn.insert(number, number_drawn);
            },
        );
        assert_eq!(tried.ok(), Some(total));
        drawn
    }

    #[test]
    fn every_case_is_tried_once_with_the_chance_of_its_seed_and_number() {
        let first = drawn(7, 1000);
        assert_eq!(first.len(), 1000);
        assert_eq!(first, drawn(7, 1000));
        let other = drawn(8, 1000);
        assert!(first.iter().all(|(number, drawn)| other[number] != *drawn));
    }

    #[test]
    fn cases_at_the_same_moment_have_directories_of_their_own() {
        let mut trial = Trial::new("cases", Tier::Ci, 1);
        let alone = |place: &Path, _, _| {
            let mark = place.join("taken");
            let is_alone = std::fs::File::create_new(&mark).is_ok();
            thread::yield_now();
            is_alone && std::fs::remove_file(&mark).is_ok()
        };
        let mut all_alone = true;
        let tried = try_all(&mut trial, Extent::Count(200), alone, |_, _, is_alone| {
            all_alone &= is_alone;
        });
        assert_eq!((tried.ok(), all_alone), (Some(200), true));
    }

    #[test]
    #[should_panic(expected = "this one cannot go on")]
    fn a_case_that_panics_is_not_passed_over() {
        let mut trial = Trial::new("cases", Tier::Ci, 1);
        let play = |_: &Path, number, _| assert_ne!(number, 5, "this one cannot go on");
        let _ = try_all(&mut trial, Extent::Count(10), play, |_, _, ()| {});
    }
}
