//! The reported state of runs is stored, with their events.

use cueme_broker::engine::DiskReserve;
use cueme_store::{BootstrapRecord, Records, RunRow, RunsWanted, StoreError};
use protocol_spec::id::{AgentId, RunId};
use protocol_spec::message::{Run, RunEnd, RunEvent, RunKind};
use protocol_spec::time::Timestamp;
use uuid::Uuid;

use crate::{DAY_MS, Little, WALL_MS};

use crate::place::{AnyPlace, on_every_store};

on_every_store!(
    a_run_is_kept_as_it_was_last_reported_and_stays_ended,
    runs_are_listed_newest_first_by_place_name_and_agent,
    the_runs_of_a_conversation_are_found_until_they_end,
    of_a_known_run_the_last_events_are_kept,
    a_notice_is_acted_on_once_for_as_long_as_its_sender_may_repeat_it,
    a_one_time_token_is_taken_once_and_is_gone_when_it_has_expired,
);

const WANTED: RunsWanted = RunsWanted {
    kind: None,
    name: None,
    agent: None,
    limit: 10,
};

fn run(number: u128, kind: RunKind, agent: Option<&AgentId>) -> Run {
    Run {
        run_id: RunId(Uuid::from_u128(number)),
        kind,
        agent_id: agent.cloned(),
        project: "/p".into(),
        title: "Mend the kettle".into(),
        status: "RUNNING".into(),
        end: None,
        error: None,
        session: Some(format!("chat-{number}")),
        session_params: Some(serde_json::json!({"resume": number.to_string()})),
        model: Some("best".into()),
        branch: None,
        pr_url: None,
        url: None,
    }
}

fn keep(broker: &mut Little, run: &Run, at: i64) {
    let now = broker.now;
    let kept = broker.core.write(now, DiskReserve::Keep, |store| {
        store.keep_run(run, Timestamp::from_millis(at))
    });
    kept.unwrap();
}

fn a_run_is_kept_as_it_was_last_reported_and_stays_ended(database: &AnyPlace) {
    let mut broker = Little::open(database, WALL_MS).unwrap();
    let agent = broker.join();
    let reader = crate::open_reader(database);
    let mut reported = run(1, RunKind::Cloud, Some(&agent));
    let stored = || reader.one_run(RunId(Uuid::from_u128(1))).unwrap();
    assert_eq!(stored(), None);
    keep(&mut broker, &reported, 10);
    let expected = |run: &Run, changed_at, ended_at: Option<i64>| {
        Some(RunRow {
            run: run.clone(),
            started_at: Timestamp::from_millis(10),
            changed_at: Timestamp::from_millis(changed_at),
            ended_at: ended_at.map(Timestamp::from_millis),
        })
    };
    assert_eq!(stored(), expected(&reported, 10, None));
    // Facts that a later report leaves out are kept.
    reported.status = "FAILED".into();
    reported.end = Some(RunEnd::Failed);
    reported.error = Some("no kettle".into());
    reported.branch = Some("mended".into());
    let mut shorter = reported.clone();
    (
        shorter.session,
        shorter.session_params,
        shorter.model,
        shorter.agent_id,
    ) = (None, None, None, None);
    keep(&mut broker, &shorter, 20);
    assert_eq!(stored(), expected(&reported, 20, Some(20)));
    let mut late = reported.clone();
    late.status = "RUNNING".into();
    late.end = None;
    keep(&mut broker, &late, 30);
    assert_eq!(stored(), expected(&reported, 20, Some(20)));
}

fn runs_are_listed_newest_first_by_place_name_and_agent(database: &AnyPlace) {
    let mut broker = Little::open(database, WALL_MS).unwrap();
    let agent = broker.join();
    let stranger: AgentId = "nobody-of-note-1".parse().unwrap();
    let runs = [
        run(1, RunKind::Local, Some(&agent)),
        run(2, RunKind::Cloud, Some(&stranger)),
        run(3, RunKind::Cloud, Some(&agent)),
    ];
    for run in &runs {
        keep(&mut broker, run, 10);
    }
    let reader = crate::open_reader(database);
    let listed = |wanted: &RunsWanted| {
        let rows = reader.runs(wanted).unwrap();
        rows.iter()
            .map(|row| row.run.run_id.0.as_u128())
            .collect::<Vec<_>>()
    };
    assert_eq!(listed(&WANTED), [3, 2, 1]);
    assert_eq!(listed(&RunsWanted { limit: 2, ..WANTED }), [3, 2]);
    let cloud = RunsWanted {
        kind: Some(RunKind::Cloud),
        ..WANTED
    };
    assert_eq!(listed(&cloud), [3, 2]);
    for name in ["chat-2", "00000000-0000-0000-0000-000000000002"] {
        let named = RunsWanted {
            name: Some(name.into()),
            ..WANTED
        };
        assert_eq!(listed(&named), [2], "{name}");
    }
    let its = |agent: &AgentId| RunsWanted {
        agent: Some(agent.clone()),
        ..WANTED
    };
    assert_eq!(listed(&its(&agent)), [3, 1]);
    // An agent that has not joined is left out of its run.
    assert_eq!(listed(&its(&stranger)), []);
    let now = broker.now;
    let mut asked = |ask: &(dyn Fn(&dyn Records) -> Result<bool, StoreError> + Sync)| {
        broker
            .core
            .write(now, DiskReserve::Keep, |store| ask(store))
            .unwrap()
    };
    assert!(asked(&|store| store.has_agent(&agent)));
    assert!(!asked(&|store| store.has_agent(&stranger)));
}

fn the_runs_of_a_conversation_are_found_until_they_end(database: &AnyPlace) {
    let mut broker = Little::open(database, WALL_MS).unwrap();
    let mut first = run(1, RunKind::Cloud, None);
    let mut second = run(2, RunKind::Cloud, None);
    second.session = first.session.clone();
    for run in [&first, &second, &run(3, RunKind::Cloud, None)] {
        keep(&mut broker, run, 10);
    }
    let open = |broker: &mut Little| {
        let now = broker.now;
        let found = broker.core.write(now, DiskReserve::Keep, |store| {
            store.open_runs_of_session("chat-1")
        });
        found.unwrap()
    };
    assert_eq!(open(&mut broker), [first.run_id, second.run_id]);
    first.end = Some(RunEnd::Cancelled);
    keep(&mut broker, &first, 20);
    assert_eq!(open(&mut broker), [second.run_id]);
}

fn of_a_known_run_the_last_events_are_kept(database: &AnyPlace) {
    let mut broker = Little::open(database, WALL_MS).unwrap();
    let known = run(1, RunKind::Local, None);
    keep(&mut broker, &known, 10);
    let unknown = RunId(Uuid::from_u128(2));
    let now = broker.now;
    let noted = broker.core.write(now, DiskReserve::Keep, |store| {
        for number in 0..502 {
            let event = RunEvent {
                at: Timestamp::from_millis(number),
                what: "tool".into(),
                text: number.to_string(),
            };
            store.note_run_event(known.run_id, &event)?;
            store.note_run_event(unknown, &event)?;
        }
        Ok(())
    });
    noted.unwrap();
    let reader = crate::open_reader(database);
    let events = reader.run_events(known.run_id).unwrap();
    let texts: Vec<&str> = events.iter().map(|event| event.text.as_str()).collect();
    assert_eq!((texts.len(), texts[0], texts[499]), (500, "2", "501"));
    assert_eq!(events[0].at, Timestamp::from_millis(2));
    assert_eq!(reader.run_events(unknown).unwrap(), []);
}

fn a_notice_is_acted_on_once_for_as_long_as_its_sender_may_repeat_it(database: &AnyPlace) {
    let mut broker = Little::open(database, WALL_MS).unwrap();
    let mut is_new = |delivery: &str, at: i64| {
        let now = broker.now;
        let kept = broker.core.write(now, DiskReserve::Keep, |store| {
            store.keep_delivery(delivery, "chat-1", "FINISHED", Timestamp::from_millis(at))
        });
        kept.unwrap()
    };
    assert!(is_new("one", WALL_MS));
    assert!(!is_new("one", WALL_MS + 30 * DAY_MS));
    assert!(is_new("two", WALL_MS + 30 * DAY_MS));
    assert!(is_new("one", WALL_MS + 30 * DAY_MS + 1));
}

fn a_one_time_token_is_taken_once_and_is_gone_when_it_has_expired(database: &AnyPlace) {
    let mut broker = Little::open(database, WALL_MS).unwrap();
    let agent = broker.join();
    let record = |number: u8, expires_at_ms| BootstrapRecord {
        token_hash: [number; 32],
        agent_id: agent.to_string(),
        run_id: "a-run".into(),
        expires_at_ms,
    };
    let now = broker.now;
    let add = |broker: &mut Little, now_ms, record: &BootstrapRecord| {
        let added = broker.core.write(now, DiskReserve::Keep, |store| {
            store.add_bootstrap(record, Timestamp::from_millis(now_ms))
        });
        added.unwrap();
    };
    let take = |broker: &mut Little, number: u8| {
        let taken = broker.core.write(now, DiskReserve::Keep, |store| {
            store.take_bootstrap(&[number; 32])
        });
        taken.unwrap()
    };
    add(&mut broker, 1, &record(1, 10));
    add(&mut broker, 1, &record(2, 11));
    assert_eq!(take(&mut broker, 3), None);
    // An expired token is deleted when the next one is stored.
    add(&mut broker, 10, &record(3, 20));
    assert_eq!(take(&mut broker, 1), None);
    assert_eq!(take(&mut broker, 2), Some(record(2, 11)));
    assert_eq!(take(&mut broker, 2), None);
}
