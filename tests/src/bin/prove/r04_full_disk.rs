//! R4: the disk is full while a hundred questions wait.

use std::time::{Duration, Instant};

use cueme_tests::{Client, Disk, Home, Wire, envelope, eventually};
use protocol_spec::id::CueId;
use protocol_spec::message::{History, Reply, Request};
use protocol_spec::outcome::Delivery;

use crate::load::{join_all, millis};
use crate::trial::{NotRun, Trial};
use cueme_test_kit::request::{ack, answer, ask};

/// The number of waiting questions.
const PENDING: usize = 100;
/// The size of the disk, in MiB.
const DISK_MIB: u32 = 4;
/// The time within which a new question must be refused, in an optimised build.
const REFUSED_WITHIN: Duration = Duration::from_secs(1);
/// The exit code of storage that failed.
const STORAGE_FAILED: i32 = 74;

/// The time that the disk stays full before the test reads the log.
const STAYS_FULL: Duration = Duration::from_secs(1);

/// Fills a small disk, answers everybody, and frees it; then again, with a broker that is killed while it is full.
pub(crate) fn run(trial: &mut Trial) -> Result<(), NotRun> {
    freed(trial)?;
    killed(trial)
}

/// The broker goes on as soon as there is space.
fn freed(trial: &mut Trial) -> Result<(), NotRun> {
    let outer = Home::new();
    let disk = Disk::mount(outer.scratch(), DISK_MIB).map_err(NotRun)?;
    let home = Home::new().at(disk.path().join("home"));
    let (agents, mut waiting) = wait_all(&home);
    let broker = home.broker_pid();
    disk.fill();
    use_up_the_log(&home, &agents[0]);
    let slowest = new_questions_are_refused(trial, &home, &agents[0]);
    let answered = all_are_answered(trial, &home, &mut waiting);
    std::thread::sleep(STAYS_FULL);
    new_questions_are_refused(trial, &home, &agents[1]);
    trial.check(home.status().storage_error.is_some(), || {
        "nobody is told that the disk is full".into()
    });
    let warnings = home
        .log()
        .lines()
        .filter(|line| line.contains("indexing failed"))
        .count();
    trial.check(warnings <= 3, || {
        format!("the log has {warnings} lines about the same")
    });
    disk.free();
    let freed = Instant::now();
    eventually("questions can be asked again", || {
        let mut command = home.command(&["cue", &agents[2], "-"]);
        command.env("CUEME_WAIT", "200ms");
        let run = Client::start(&mut command, envelope("Again?", None).as_bytes()).finish();
        (run.code == Some(75)).then_some(())
    });
    let recovered = freed.elapsed();
    trial.check(home.broker_pid() == broker, || "the broker was restarted".into());
    trial.check(home.status().storage_error.is_none(), || {
        "it still says that the disk is full".into()
    });
    trial.figure("pending", PENDING);
    trial.figure("answered, heard and acknowledged while full", answered);
    trial.figure("a new question refused within", millis(slowest));
    trial.figure("asked again after freeing", millis(recovered));
    Ok(())
}

/// Answers that the broker accepted while the disk was full survive when it is killed before anything is freed.
fn killed(trial: &mut Trial) -> Result<(), NotRun> {
    let outer = Home::new();
    let disk = Disk::mount(outer.scratch(), DISK_MIB).map_err(NotRun)?;
    let home = Home::new().at(disk.path().join("home"));
    let (agents, mut waiting) = wait_all(&home);
    disk.fill();
    use_up_the_log(&home, &agents[0]);
    all_are_answered(trial, &home, &mut waiting);
    home.kill_broker();
    disk.free();
    home.ok(&["agents"]);
    let mut wire = home.wire();
    wire.send(&Request::History(History {
        limit: Some(1000),
        ..History::default()
    }));
    let mut listed = Vec::new();
    while let Some(Reply::Cue(cue)) = wire.hear() {
        listed.push(*cue);
    }
    let mut kept = 0;
    for (number, (_, cue)) in waiting.iter().enumerate() {
        let found = listed.iter().find(|found| found.cue_id == *cue);
        let is_kept = found.is_some_and(|found| {
            found.text.as_ref() == Some(&text(number)) && found.delivery == Delivery::Acknowledged
        });
        trial.check(is_kept, || {
            format!("{cue} was answered while the disk was full, and is {found:?} after the restart")
        });
        kept += usize::from(is_kept);
    }
    trial.figure("of as many, there after kill -9 while full", kept);
    Ok(())
}

/// Lets a hundred questions wait.
fn wait_all(home: &Home) -> (Vec<String>, Vec<(Wire, CueId)>) {
    home.configure("reminder = false\nlisten = \"off\"\n");
    let agents = join_all(home, PENDING);
    let waiting = agents.iter().map(|agent| {
        let mut wire = home.wire();
        match wire.call(&ask(agent, &format!("{agent} waits through it"))) {
            Some(Reply::Asked(asked)) => (wire, asked.cue_id),
            other => panic!("not asked: {other:?}"),
        }
    });
    let waiting = waiting.collect();
    (agents, waiting)
}

/// The answer to the question with this number.
fn text(number: usize) -> String {
    format!("answer {number}: {}", "word".repeat(40))
}

/// Asks until it is refused: what the log's file has room for already is taken, and kept.
fn use_up_the_log(home: &Home, agent: &str) {
    let mut wire = home.wire();
    for number in 0..200 {
        let words = format!("One more? {number} {}", "x".repeat(100_000));
        match wire.call(&ask(agent, &words)) {
            Some(Reply::Asked(_)) => {}
            Some(Reply::Error(_)) => return,
            other => panic!("neither asked nor refused: {other:?}"),
        }
    }
    panic!("the disk is never full");
}

/// Asks something new as an agent does, and returns how long the refusal took.
fn new_questions_are_refused(trial: &mut Trial, home: &Home, agent: &str) -> Duration {
    let mut slowest = Duration::ZERO;
    for number in 0..3 {
        let stdin = envelope(&format!("New question {number}? {}", "x".repeat(20_000)), None);
        let started = Instant::now();
        let run = home.run_with(&["cue", agent, "-"], stdin.as_bytes());
        slowest = slowest.max(started.elapsed());
        trial.check(
            run.code == Some(STORAGE_FAILED) && run.stderr.contains("disk is full"),
            || format!("a new question on a full disk: {run:?}"),
        );
    }
    // Unoptimised, and among other work, the process alone takes its time.
    let limit = if cfg!(debug_assertions) {
        REFUSED_WITHIN * 5
    } else {
        REFUSED_WITHIN
    };
    trial.check(slowest <= limit, || format!("a refusal took {slowest:?}"));
    slowest
}

/// Answers everybody; returns how many heard it and could acknowledge it.
fn all_are_answered(trial: &mut Trial, home: &Home, waiting: &mut [(Wire, CueId)]) -> usize {
    let mut human = home.wire();
    let mut answered = 0;
    for (number, (wire, cue)) in waiting.iter_mut().enumerate() {
        let text = text(number);
        let decided = human.call(&answer(cue.as_str(), &text));
        if !matches!(decided, Some(Reply::Decided(_))) {
            trial.violation(format!("{cue} could not be answered: {decided:?}"));
            continue;
        }
        let heard = wire.hear();
        let is_right = matches!(&heard, Some(Reply::Outcome(told)) if told.text == text);
        let acked = wire.call(&ack(*cue));
        let is_acked = matches!(acked, Some(Reply::Acked(_)));
        trial.check(is_right && is_acked, || {
            format!("{cue} heard {heard:?}, then {acked:?}")
        });
        answered += usize::from(is_right && is_acked);
    }
    answered
}
