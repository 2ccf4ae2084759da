//! R17: three brokers share one PostgreSQL database, and everything that can die does.
//!
//! R1's attack on one broker happens to three at once; besides, the database ends connections from its side, and the
//! server itself is killed and comes back, while others read events (T1, T4, T6). The attacks that need exact timing
//! are in `r17_attacks`.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use cueme_test_kit::postgres::Server;
use cueme_tests::{Home, eventually};
use rustix::process::{Pid, Signal, kill_process};

use crate::ledger::Ledger;
use crate::r17_attacks::{
    READERS, t1_told_after_the_commit, t2_eight_deciders, t3_commit_cut, t4_read_events,
    t5_notifications_dropped, t6_each_killed, t7_stopped_in_a_commit, t8_revoked_while_deciding,
    t9_promoted_standby,
};
use crate::town::{AGENTS, Crowd, HUMANS, Town};
use crate::trial::{NotRun, Trial};

/// Brokers that share the database.
const BROKERS: usize = 3;
/// Longer than a broker counts as alive without being heard of.
pub(crate) const BEYOND_LEASE: Duration = Duration::from_secs(11);
/// The time within which every broker must know a decision made at another one.
pub(crate) const CATCH_UP_MAX: Duration = Duration::from_secs(2);

/// Kills everybody, and judges.
pub(crate) fn run(trial: &mut Trial) -> Result<(), NotRun> {
    let Some(server) = Server::own(&[]) else {
        trial.lack("everything", "PostgreSQL");
        return Err(NotRun("PostgreSQL is not installed".into()));
    };
    let url = server.database();
    let homes: Vec<Home> = (0..BROKERS)
        .map(|_| {
            let home = Home::new();
            home.configure(&format!(
                "reminder = false\nlisten = \"off\"\nstore = \"{url}\"\n"
            ));
            home
        })
        .collect();
    let ledger = Ledger::create(&homes[0].scratch().join("ledger"));
    let town = Town::new(&homes, &ledger);
    let cycles = trial.size(100, 2_000, 10_000);
    let mut kills = [0; 6];
    let (is_over, gaps) = (AtomicBool::new(false), Mutex::default());
    std::thread::scope(|scope| {
        for reader in 0..READERS {
            let (home, random) = (&homes[reader % BROKERS], trial.random.fork());
            let (is_over, gaps) = (&is_over, &gaps);
            scope.spawn(move || t4_read_events(home, random, is_over, gaps));
        }
        town.live(trial, cycles, |trial, crowd| {
            kills[kill(trial, &town, crowd, &server, &url)] += 1;
        });
        is_over.store(true, Ordering::Relaxed);
        for home in &homes {
            home.kill_brokers(&home.brokers());
        }
    });
    trial.violations(gaps.into_inner().unwrap_or_else(PoisonError::into_inner));
    t7_stopped_beyond_its_lease(trial, &homes);
    judge(trial, &ledger, &homes[0]);
    t1_told_after_the_commit(trial, &server);
    t2_eight_deciders(trial, &homes);
    t3_commit_cut(trial, &server);
    t5_notifications_dropped(trial, &server);
    t6_each_killed(trial, &server);
    t7_stopped_in_a_commit(trial, &server);
    t8_revoked_while_deciding(trial, &server);
    t9_promoted_standby(trial);
    let gaps = server.run(
        &url,
        "SELECT count(*) FROM events e WHERE id > 1 AND NOT EXISTS (SELECT 1 FROM events p WHERE p.id = e.id - 1)",
    );
    trial.check(gaps == "0", || {
        format!("T4: {gaps} gaps in the numbers of events")
    });
    for home in &homes {
        home.kill_brokers(&home.brokers());
    }
    let totals = ledger.totals();
    trial.figure("cycles", cycles);
    trial.figure(
        "of them broker, agent, human, connection, server, all",
        format!("{kills:?}"),
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
fn kill(trial: &mut Trial, town: &Town<'_>, crowd: &mut Crowd<'_>, server: &Server, url: &str) -> usize {
    match trial.random.below(100) {
        0..40 => {
            crowd.kill_broker(trial.random.index(BROKERS));
            0
        }
        40..60 => {
            crowd.kill_agent(trial.random.index(AGENTS));
            1
        }
        60..70 => {
            town.cut(trial.random.index(HUMANS));
            2
        }
        70..92 => {
            server.run(
                url,
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                 WHERE application_name = 'cueme' AND pid <> pg_backend_pid() ORDER BY random() LIMIT 1",
            );
            3
        }
        92..96 => {
            server.kill();
            server.restart();
            4
        }
        _ => {
            (0..BROKERS).for_each(|broker| crowd.kill_broker(broker));
            (0..AGENTS).for_each(|seat| crowd.kill_agent(seat));
            (0..HUMANS).for_each(|human| town.cut(human));
            5
        }
    }
}

/// T7: a broker that stood still for longer than its lease goes on, and its agent gets what was decided meanwhile.
fn t7_stopped_beyond_its_lease(trial: &mut Trial, homes: &[Home]) {
    const PROMPT: &str = "Are you still there?";
    let (agents, humans) = (&homes[0], &homes[1]);
    humans.ok(&["inbox"]);
    let agent = agents.join();
    let client = agents.start_cue(&agent, PROMPT, None);
    let cue = humans.wait_for(PROMPT, 1);
    let broker = i32::try_from(agents.broker_pid()).ok().and_then(Pid::from_raw);
    let Some(broker) = broker else {
        return trial.violation("no broker to stop");
    };
    let stopped = kill_process(broker, Signal::STOP);
    trial.check(stopped.is_ok(), || format!("not stopped: {stopped:?}"));
    std::thread::sleep(BEYOND_LEASE);
    eventually("it counts as dead", || {
        (humans.show(&cue)["waiting"] == 0).then_some(())
    });
    humans.ok(&["answer", &cue, "yes"]);
    // It is gone or it goes on; whatever it does, the agent has its answer.
    let _ = kill_process(broker, Signal::CONT);
    let started = Instant::now();
    let run = client.finish();
    trial.check(run.stdout.ends_with("yes\n"), || {
        format!("T7: the agent of a stopped broker got {run:?}")
    });
    trial.check(started.elapsed() < CATCH_UP_MAX + trial.noise(), || {
        format!("T7: it took {:?}", started.elapsed())
    });
}

/// Holds the ledger against a copy of the database.
fn judge(trial: &mut Trial, ledger: &Ledger, home: &Home) {
    let copy = home.scratch().join("judged.db");
    home.ok(&["backup", &copy.display().to_string()]);
    trial.violations(ledger.judge(&copy));
}
