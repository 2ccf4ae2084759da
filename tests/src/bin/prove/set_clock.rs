//! Real programs whose wall clock is set while they wait, by libfaketime; the clock that only goes on is left alone.

use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use cueme_tests::{Client, Home, envelope};
use protocol_spec::exit::Exit;
use protocol_spec::message::{GiveAnswer, History, Reply, Request};

use crate::trial::Trial;

/// The times that the clock is set to while somebody waits.
const PLACES: [Place; 5] = [
    Place::off("+1d", DAY_S),
    Place::off("-1d", -DAY_S),
    Place::off("+10y", 3650 * DAY_S),
    Place {
        name: "@1970-01-02 00:00:00",
        lies: Lies::At(DAY_S),
    },
    Place::off("+0", 0),
];
const DAY_S: i64 = 24 * 60 * 60;
/// The tolerance of the clock's place, in seconds: the time that passes meanwhile.
const PLACE_OFF_S_MAX: i64 = 15 * 60;
/// The duration of a call's wait, and of holding back an answer.
const WAIT: Duration = Duration::from_secs(2);
/// The tolerance of its end, late or early: this much, and the time the machine needs to run the programs.
const OFF_MAX: Duration = Duration::from_secs(1);
const LIBRARY: &str = "faketime/libfaketimeMT.so.1";

/// A place of the clock.
struct Place {
    /// As libfaketime is told.
    name: &'static str,
    lies: Lies,
}

/// The time of a place, in seconds.
#[derive(Clone, Copy)]
enum Lies {
    /// So far from the real time.
    Off(i64),
    /// At this moment.
    At(i64),
}

impl Place {
    const fn off(name: &'static str, seconds: i64) -> Self {
        Self {
            name,
            lies: Lies::Off(seconds),
        }
    }
}

/// Lets calls run out of time, and answers be held, while the clock jumps.
pub(crate) fn run(trial: &mut Trial) {
    let calls = trial.size(4, 20, 50);
    let places = &PLACES[..trial.size(2, PLACES.len(), PLACES.len())];
    let home = Home::new();
    home.configure("reminder = false\nlisten = \"off\"\n");
    let Some(clock) = Clock::of(&home) else {
        return trial.lack("real programs", "libfaketime");
    };
    clock.set("+0");
    let joined = Client::start(&mut clock.command(&home, &["join", "patient"]), b"").finish();
    let agent = joined
        .stdout
        .lines()
        .find_map(|line| line.strip_prefix("agent_id="))
        .unwrap_or_else(|| panic!("not joined: {joined:?}"))
        .to_owned();
    let mut asked = Vec::new();
    for Place { name: place, lies } in places {
        let prompts: Vec<String> = (0..calls)
            .map(|call| format!("call {call} until {place}"))
            .collect();
        clock.set("+0");
        let mut held = hold(&home, &agent, place);
        let waiting: Vec<Waiting> = prompts
            .iter()
            .map(|prompt| Waiting::start(&clock, &home, &agent, prompt))
            .collect();
        asked.push(held.prompt.clone());
        clock.set(place);
        let probe = format!("asked at {place}");
        judge_place(trial, &home, &agent, &probe, *lies);
        asked.push(probe);
        held.judge(trial);
        for waiting in waiting {
            waiting.judge(trial, place);
        }
        asked.extend(prompts);
    }
    judge_order(trial, &home, asked.len());
    trial.figure("calls under libfaketime", asked.len());
}

/// A wall clock that is read from a file.
struct Clock {
    library: PathBuf,
    file: PathBuf,
}

impl Clock {
    /// Returns a clock for a home, if libfaketime is installed.
    fn of(home: &Home) -> Option<Self> {
        let folders = std::fs::read_dir("/usr/lib").ok()?;
        let library = folders
            .flatten()
            .map(|folder| folder.path().join(LIBRARY))
            .find(|path| path.exists())?;
        Some(Self {
            library,
            file: home.scratch().join("clock"),
        })
    }

    fn set(&self, place: &str) {
        let next = self.file.with_extension("next");
        // Renamed, so that nobody reads half of it.
        std::fs::write(&next, format!("{place}\n"))
            .and_then(|()| std::fs::rename(&next, &self.file))
            .unwrap_or_else(|error| panic!("{error}"));
    }

    fn command(&self, home: &Home, words: &[&str]) -> Command {
        let mut command = home.command(words);
        command
            .env("LD_PRELOAD", &self.library)
            .env("FAKETIME_TIMESTAMP_FILE", &self.file)
            .env("FAKETIME_NO_CACHE", "1")
            .env("FAKETIME_DONT_FAKE_MONOTONIC", "1")
            .env("DONT_FAKE_MONOTONIC", "1")
            .env("NO_FAKE_STAT", "1");
        command
    }
}

/// A call without an answer.
struct Waiting {
    client: Client,
    since: Instant,
}

impl Waiting {
    fn start(clock: &Clock, home: &Home, agent: &str, prompt: &str) -> Self {
        let mut command = clock.command(home, &["cue", agent, "-"]);
        command.env("CUEME_WAIT", format!("{}s", WAIT.as_secs()));
        Self {
            since: Instant::now(),
            client: Client::start(&mut command, envelope(prompt, None).as_bytes()),
        }
    }

    fn judge(self, trial: &mut Trial, place: &str) {
        let run = self.client.finish();
        let took = self.since.elapsed();
        trial.check(run.code == Some(Exit::StillOpen as i32), || {
            format!("with the clock at {place} a call ended with {run:?}")
        });
        trial.check(took >= WAIT && took <= WAIT + OFF_MAX + trial.noise(), || {
            format!("with the clock at {place} a call of {WAIT:?} took {took:?}")
        });
    }
}

/// An answer that can be taken back for a while.
struct Held {
    prompt: String,
    wire: cueme_tests::Wire,
    since: Instant,
}

fn hold(home: &Home, agent: &str, place: &str) -> Held {
    let prompt = format!("held until {place}");
    let mut wire = home.wire();
    let asked = match wire.call(&cueme_test_kit::request::ask(agent, &prompt)) {
        Some(Reply::Asked(asked)) => asked,
        other => panic!("not asked: {other:?}"),
    };
    let since = Instant::now();
    let given = Request::Answer(GiveAnswer {
        cue: asked.cue_id.to_string(),
        answer: protocol_spec::answer::Answer {
            text: Some("yes".into()),
            ..Default::default()
        },
        by: None,
        hold_ms: WAIT.as_millis() as u64,
    });
    let decided = home.wire().call(&given);
    assert!(
        matches!(decided, Some(Reply::Decided(_))),
        "not answered: {decided:?}"
    );
    Held { prompt, wire, since }
}

impl Held {
    fn judge(&mut self, trial: &mut Trial) {
        let heard = self.wire.hear();
        let took = self.since.elapsed();
        match heard {
            Some(Reply::Outcome(told)) => {
                let acked = self.wire.call(&cueme_test_kit::request::ack(told.cue_id));
                assert!(
                    matches!(acked, Some(Reply::Acked(_))),
                    "not acknowledged: {acked:?}"
                );
            }
            other => trial.violation(format!("{}: heard {other:?}", self.prompt)),
        }
        trial.check(took >= WAIT && took <= WAIT + OFF_MAX + trial.noise(), || {
            format!("{}: an answer held for {WAIT:?} came after {took:?}", self.prompt)
        });
    }
}

/// Asks once while the clock is set: the broker must have seen the place, or nothing was tried.
fn judge_place(trial: &mut Trial, home: &Home, agent: &str, prompt: &str, lies: Lies) {
    let mut wire = home.wire();
    let asked = wire.call(&cueme_test_kit::request::ask(agent, prompt));
    assert!(matches!(asked, Some(Reply::Asked(_))), "not asked: {asked:?}");
    let cues = home.open_cues();
    let seen_ms = cues
        .iter()
        .find(|cue| cue.prompt == prompt)
        .map(|cue| cue.asked_at.as_millis());
    let now = std::time::UNIX_EPOCH.elapsed().unwrap_or_default().as_secs();
    let place_s = match lies {
        Lies::Off(seconds) => now.cast_signed() + seconds,
        Lies::At(moment) => moment,
    };
    let is_there = seen_ms.is_some_and(|ms| (ms / 1000 - place_s).abs() <= PLACE_OFF_S_MAX);
    trial.check(is_there, || {
        format!("{prompt}: the broker saw {seen_ms:?} ms, the clock was set to {place_s} s")
    });
}

/// A list by age has the order of the questions' numbers, whatever the clock showed.
fn judge_order(trial: &mut Trial, home: &Home, count: usize) {
    let mut wire = home.wire();
    wire.send(&Request::History(History {
        limit: u32::try_from(count).ok(),
        ..History::default()
    }));
    let mut numbers = Vec::new();
    while let Some(Reply::Cue(cue)) = wire.hear() {
        numbers.push(cue.seq);
    }
    trial.check(
        numbers.len() == count && numbers.is_sorted_by(|a, b| a > b),
        || format!("{count} were asked, listed are {numbers:?}"),
    );
}
