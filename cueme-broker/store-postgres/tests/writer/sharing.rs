//! Brokers that share a database: each gets the changes of the others, in order.

use std::time::Duration;

use cueme_rules::{Change, Now, State};
use cueme_store::{BatchId, Device, DraftPlace, LookUps, Pass, Store, Token};
use protocol_spec::answer::Answer;
use protocol_spec::id::{CueId, DriverId, RequestId, RunId};
use protocol_spec::message::{EventKind, Purpose, Run, RunEnd, RunEvent, RunKind, TokenScope};
use protocol_spec::outcome::Outcome;
use protocol_spec::time::Timestamp;
use uuid::Uuid;

use super::{Broker, NOW, agent, ask, cue, ids, join, server};

#[test]
fn what_one_broker_commits_is_foreign_to_the_other_and_not_to_itself() {
    let Some(server) = server() else { return };
    let url = server.database();
    let (mut one, mut two) = (Broker::open(&url), Broker::open(&url));
    let (first, second) = (agent(1), agent(2));
    one.join(&first);
    one.ask(&first, cue(1));
    assert!(one.look().events.is_empty());
    let foreign = two.join(&second);
    assert_eq!(
        (foreign.agents, ids_of(&foreign.events)),
        (vec![first.clone()], vec![1, 2])
    );
    assert!(!foreign.has_records);
    // Its own event follows, and the first broker learns of that one alone.
    let foreign = one.look();
    assert_eq!((ids(&foreign), foreign.agents), (vec![3], vec![second]));
    assert!(two.look().agents.is_empty());
}

fn ids_of(events: &[protocol_spec::message::EventView]) -> Vec<i64> {
    events.iter().filter_map(|event| event.id).collect()
}

#[test]
fn every_broker_sees_every_event_once_in_order_and_without_gaps() {
    let Some(server) = server() else { return };
    let url = server.database();
    const BROKERS: u32 = 3;
    const ROUNDS: u32 = 25;
    let seen: Vec<Vec<i64>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..BROKERS)
            .map(|number| {
                let url = &url;
                scope.spawn(move || {
                    let mut broker = Broker::open(url);
                    let mut seen = Vec::new();
                    for round in 0..ROUNDS {
                        let mine = agent(number * 1000 + round);
                        let mut own = 0;
                        let foreign = broker.transact(|store| {
                            join(store, &mine);
                            own = store.log(NOW.wall, EventKind::Changed, &mine, None).unwrap();
                        });
                        seen.extend(ids(&foreign));
                        seen.extend([own - 1, own]);
                    }
                    (broker, seen)
                })
            })
            .collect();
        let done: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
        let last = |(mut broker, mut seen): (Broker, Vec<i64>)| {
            seen.extend(ids(&broker.look()));
            seen
        };
        done.into_iter().map(last).collect()
    });
    let total = i64::from(2 * BROKERS * ROUNDS);
    for events in seen {
        // It may have come when others had begun; from then on nothing is missing.
        let first = events[0];
        assert_eq!(events, (first..=total).collect::<Vec<_>>());
    }
}

#[test]
fn records_are_told_apart_from_what_the_rules_concern() {
    let Some(server) = server() else { return };
    let url = server.database();
    let (mut one, mut two) = (Broker::open(&url), Broker::open(&url));
    one.transact(|store| store.set("language", "\"zh\"").unwrap());
    let foreign = two.look();
    assert!(foreign.has_records && foreign.agents.is_empty() && foreign.events.is_empty());
    assert!(!two.look().has_records);
    assert!(!one.look().has_records);
}

/// A write with a name for messages.
type NamedWrite<'a> = (&'a str, &'a dyn Fn(&dyn Store));

#[test]
fn bookkeeping_of_one_broker_makes_the_others_read_nothing_again() {
    let Some(server) = server() else { return };
    let url = server.database();
    let (mut one, mut two) = (Broker::open(&url), Broker::open(&url));
    let (asking, question) = (agent(1), cue(1));
    let (run_id, driver) = (RunId(Uuid::now_v7()), DriverId(Uuid::now_v7()));
    let run = |status: &str, end| Run {
        run_id,
        kind: RunKind::Local,
        agent_id: Some(asking.clone()),
        project: "/p".into(),
        title: "t".into(),
        status: status.into(),
        end,
        error: None,
        session: None,
        session_params: None,
        model: None,
        branch: None,
        pr_url: None,
        url: None,
    };
    let device = Device {
        device_id: "d1".into(),
        hash: [1; 32],
        name: "Firefox".into(),
        created_at: NOW.wall,
        seen_at: NOW.wall,
    };
    let token = Token {
        token_id: "t1".into(),
        hash: [2; 32],
        scope: TokenScope::Join,
        agent: None,
        name: None,
        created_at: NOW.wall,
        expires_at: None,
        used_at: None,
    };
    one.join(&asking);
    one.ask(&asking, question);
    one.transact(|store| {
        store.add_device(&device).unwrap();
        store.add_token(&token).unwrap();
        store.keep_run(&run("running", None), NOW.wall).unwrap();
    });
    assert!(two.look().has_records);
    let quiet: &[NamedWrite<'_>] = &[
        ("a device was seen", &|store| {
            store
                .touch_device("d1", NOW.wall.plus(Duration::from_secs(90)))
                .unwrap();
        }),
        ("a token was used", &|store| {
            store
                .touch_token("t1", NOW.wall.plus(Duration::from_secs(90)))
                .unwrap();
        }),
        ("a sign-in link", &|store| {
            store
                .add_link(&[3; 32], None, NOW.wall.plus(Duration::from_secs(600)))
                .unwrap();
            assert!(store.use_link(&[3; 32], NOW.wall).unwrap().is_some());
        }),
        ("the token of an agent", &|store| {
            store.note_joined_with(&asking, "t1").unwrap()
        }),
        ("a notification", &|store| {
            assert!(store.claim_notice(question, "ntfy", NOW.wall).unwrap());
            assert!(!store.claim_notice(question, "ntfy", NOW.wall).unwrap());
            assert!(store.keep_reference(question, "ntfy", "7").unwrap());
        }),
        ("its end", &|store| store.forget_notice(question, "ntfy").unwrap()),
        ("a rule", &|store| {
            assert!(store.claim_for_policy(question, "go on", NOW.wall).unwrap());
        }),
        ("a webhook", &|store| {
            assert!(store.keep_delivery("1", "s", "FINISHED", NOW.wall).unwrap());
        }),
        ("a report of a run that says the same", &|store| {
            let later = NOW.wall.plus(Duration::from_secs(1));
            store.keep_run(&run("running", None), later).unwrap();
            let event = RunEvent {
                at: later,
                what: "tool".into(),
                text: "ls".into(),
            };
            store.note_run_event(run_id, &event).unwrap();
        }),
        ("the leader of a run", &|store| {
            store.keep_leader(run_id, driver).unwrap();
            store.forget_ended_leads().unwrap();
        }),
        ("drafts that are not there", &|store| {
            store.drop_settled_drafts().unwrap()
        }),
    ];
    for (what, write) in quiet {
        one.transact(|store| write(store));
        assert!(!two.look().has_records, "{what}");
    }
    let counts =
        "SELECT (SELECT count(*) FROM run_events) || ' ' || (SELECT count(*) FROM run_leads) || ' ' ||
        (SELECT count(*) FROM deliveries) || ' ' || (SELECT count(used_at) FROM tokens) || ' ' ||
        (SELECT count(*) FROM automatic) || ' ' || (SELECT changed_at - started_at FROM runs)";
    assert_eq!(server.run(&url, counts), "1 1 1 1 1 1000");
    let heard: &[NamedWrite<'_>] = &[
        ("another status", &|store| {
            store.keep_run(&run("waiting", None), NOW.wall).unwrap()
        }),
        ("the end of a run", &|store| {
            store
                .keep_run(&run("waiting", Some(RunEnd::Succeeded)), NOW.wall)
                .unwrap();
        }),
        ("a draft", &|store| {
            let kept = store.keep_draft(&DraftPlace::cue(question), 0, "{}", None, NOW.wall);
            assert!(kept.unwrap().is_ok());
        }),
        ("the name of a device", &|store| {
            store.rename_device("d1", "phone").unwrap()
        }),
        ("a revoked device", &|store| store.drop_device("d1").unwrap()),
        ("a revoked token", &|store| store.drop_token("t1").unwrap()),
        ("a read mark", &|store| store.mark_read(&asking, 1).unwrap()),
    ];
    for (what, write) in heard {
        one.transact(|store| write(store));
        assert!(two.look().has_records, "{what}");
    }
}

#[test]
fn who_waits_at_another_broker_counts_until_nobody_does() {
    let Some(server) = server() else { return };
    let url = server.database();
    let (mut one, mut two) = (Broker::open(&url), Broker::open(&url));
    let (asking, question) = (agent(1), cue(1));
    one.join(&asking);
    one.ask(&asking, question);
    let seen_by_two = |two: &mut Broker| {
        let foreign = two.store.begin().unwrap();
        let loaded = two.store.load_agents(NOW, &foreign.agents).unwrap();
        two.batches += 1;
        two.store.commit(BatchId(two.batches)).unwrap();
        let waiting = loaded.waiting(question).unwrap();
        (waiting.clients, waiting.detached_at.is_some())
    };
    assert_eq!(seen_by_two(&mut two), (1, false));
    // A client of the second broker waits as well, and goes on when that of the first one leaves.
    let waits = |at| Change::SetDetached { cue: question, at };
    two.transact(|store| store.apply(NOW.wall, &waits(None)).unwrap());
    one.transact(|store| store.apply(NOW.wall, &waits(Some(NOW.wall))).unwrap());
    let found = two.store.cue(NOW, question).unwrap().unwrap().cue;
    assert_eq!((found.elsewhere, found.detached.is_some()), (0, true));
    let detached = server.run(&url, "SELECT detached_at IS NULL FROM cues");
    assert_eq!(detached, "t");
    two.transact(|store| store.apply(NOW.wall, &waits(Some(NOW.wall))).unwrap());
    let found = one.store.cue(NOW, question).unwrap().unwrap().cue;
    assert_eq!(found.detached.map(|(_, at)| at), Some(NOW.wall));
    assert_eq!(server.run(&url, "SELECT count(*) FROM waits"), "0");
}

#[test]
fn text_comes_back_as_it_was_written_whatever_it_is() {
    let Some(server) = server() else { return };
    let url = server.database();
    let (mut one, mut two) = (Broker::open(&url), Broker::open(&url));
    let (asking, question) = (agent(1), cue(1));
    let strange = "a\0b \u{10FFFF}0 'quoted' \\ 日本語 \u{1F600}";
    one.join(&asking);
    one.ask(&asking, question);
    let answer = Answer {
        text: Some(strange.into()),
        ..Answer::default()
    };
    one.transact(|store| {
        let decide = Change::Decide {
            cue: question,
            outcome: Outcome::Answered,
            request: RequestId(Uuid::new_v4()),
            text: strange.into(),
            reminder: Some(strange.into()),
            answer: Some(answer.clone().into()),
            redacted: None,
            by: Some(strange.into()),
            released_at: None,
            from_queue: false,
        };
        store.apply(NOW.wall, &decide).unwrap();
        let say = Change::AddMessage {
            request: RequestId(Uuid::new_v4()),
            agent: asking.clone(),
            text: strange.into(),
            purpose: Purpose::Note,
            by: None,
        };
        store.apply(NOW.wall, &say).unwrap();
    });
    assert_eq!(two.look().agents, [asking]);
    let found = two.store.cue(NOW, question).unwrap().unwrap().cue;
    let State::Decided { decision, .. } = found.state else {
        panic!("{found:?}")
    };
    assert_eq!(&*decision.text, strange);
    assert_eq!(decision.by.as_deref(), Some(strange));
    assert_eq!(decision.answer.as_deref(), Some(&answer));
}

#[test]
fn a_held_answer_is_held_as_long_by_a_broker_whose_clock_is_wrong() {
    let Some(server) = server() else { return };
    let url = server.database();
    let (mut one, two) = (Broker::open(&url), Broker::open(&url));
    let (asking, question) = (agent(1), cue(1));
    one.join(&asking);
    one.ask(&asking, question);
    one.transact(|store| {
        let decide = Change::Decide {
            cue: question,
            outcome: Outcome::Answered,
            request: RequestId(Uuid::new_v4()),
            text: "8080".into(),
            reminder: None,
            answer: None,
            redacted: None,
            by: None,
            released_at: Some(NOW.wall.plus(Duration::from_secs(60))),
            from_queue: false,
        };
        store.apply(NOW.wall, &decide).unwrap();
    });
    let ahead = Now {
        wall: NOW.wall.plus(Duration::from_secs(3600)),
        steady: 5_000_000,
    };
    let found = two.store.cue(ahead, question).unwrap().unwrap().cue;
    let State::Held {
        until, released_at, ..
    } = found.state
    else {
        panic!("{found:?}")
    };
    let left = until - ahead.steady;
    assert!((40_000..=60_000).contains(&left), "{left}");
    assert_eq!(released_at.millis_since(ahead.wall), left);
}

#[test]
fn a_statement_that_is_refused_undoes_its_transaction_and_no_other() {
    let Some(server) = server() else { return };
    let url = server.database();
    let mut one = Broker::open(&url);
    one.join(&agent(1));
    one.store.begin().unwrap();
    join(&*one.store, &agent(2));
    // The same agent twice: nothing is sent before the commit, which fails.
    join(&*one.store, &agent(1));
    one.store.commit(BatchId(77)).unwrap_err();
    one.reopen();
    assert!(!one.store.has_committed(BatchId(77)).unwrap());
    assert_eq!(
        server.run(&url, "SELECT string_agg(agent_id, ',') FROM agents"),
        "agent-1"
    );
    assert_eq!(server.run(&url, "SELECT count(*), max(id) FROM events"), "1|1");
    one.join(&agent(2));
    assert_eq!(
        server.run(&url, "SELECT string_agg(id::text, ',' ORDER BY id) FROM events"),
        "1,2"
    );
}

#[test]
fn a_batch_of_questions_takes_few_round_trips() {
    let Some(server) = server() else { return };
    let url = server.database();
    let slow = cueme_test_kit::postgres_proxy::Proxy::start(server.port());
    let mut one = Broker::open(&slow.url(&url));
    let asking = agent(1);
    one.join(&asking);
    let lead_lives = |one: &mut Broker, numbers: std::ops::Range<u64>| {
        let requests: Vec<RequestId> = numbers.clone().map(request).collect();
        let looked_up = requests.clone();
        one.store.expect(LookUps {
            requests: looked_up,
            passes: Vec::new(),
        });
        one.transact(|store| {
            for (number, request) in numbers.zip(requests) {
                let cue = cue(number);
                assert_eq!(store.cue_of_request(request).unwrap(), None);
                ask(store, &asking, cue);
                let bound = Change::BindRequest { request, cue };
                for change in [bound, decide(cue, number), Change::Hand { cue }] {
                    store.apply(NOW.wall, &change).unwrap();
                }
                assert_eq!(store.cue_of_request(request).unwrap(), Some(cue));
            }
        });
    };
    // The first ones prepare the statements.
    lead_lives(&mut one, 1..3);
    let before = slow.turns();
    lead_lives(&mut one, 3..67);
    let turns = slow.turns() - before;
    assert!(turns <= 4, "{turns} round trips for 64 questions");
    let lives = "SELECT count(*), count(*) FILTER (WHERE text = 'answer ' || cue_number AND delivery = 1 AND handed_at > 0)
        FROM (SELECT *, row_number() OVER (ORDER BY seq) AS cue_number FROM cues JOIN decisions USING (seq)
              JOIN questions USING (seq) JOIN requests USING (seq)) AS lives";
    // Their order is that in which they were asked.
    assert_eq!(server.run(&url, lives), "66|66");
    assert_eq!(server.run(&url, "SELECT count(*) FROM waits"), "66");
}

#[test]
fn a_look_up_knows_what_its_own_transaction_changed() {
    let Some(server) = server() else { return };
    let mut one = Broker::open(&server.database());
    let (asking, pass) = (agent(1), Pass::Token("t1".into()));
    one.join(&asking);
    one.transact(|store| {
        let token = Token {
            token_id: "t1".into(),
            hash: [1; 32],
            scope: TokenScope::Agent,
            agent: Some(asking.clone()),
            name: None,
            created_at: NOW.wall,
            expires_at: Some(Timestamp::from_millis(NOW.wall.as_millis() + 10)),
            used_at: None,
        };
        store.add_token(&token).unwrap();
    });
    let missing = Pass::Device("d1".into());
    let expect = |one: &Broker| {
        one.store.expect(LookUps {
            requests: vec![request(1), request(1)],
            passes: vec![pass.clone(), missing.clone()],
        });
    };
    expect(&one);
    one.transact(|store| {
        let later = Timestamp::from_millis(NOW.wall.as_millis() + 10);
        assert!(store.is_valid(&pass, NOW.wall).unwrap());
        assert!(!store.is_valid(&pass, later).unwrap(), "it has expired");
        assert!(!store.is_valid(&missing, NOW.wall).unwrap());
        ask(store, &asking, cue(1));
        let bound = Change::BindRequest {
            request: request(1),
            cue: cue(1),
        };
        store.apply(NOW.wall, &bound).unwrap();
        assert_eq!(store.cue_of_request(request(1)).unwrap(), Some(cue(1)));
        store.drop_token("t1").unwrap();
        assert!(!store.is_valid(&pass, NOW.wall).unwrap(), "it is revoked");
    });
    // Also while a transaction is open, and what an earlier one found is not kept.
    one.transact(|store| {
        assert!(!store.is_valid(&pass, NOW.wall).unwrap());
        store.expect(LookUps {
            requests: vec![request(1), request(2)],
            passes: Vec::new(),
        });
        assert_eq!(store.cue_of_request(request(1)).unwrap(), Some(cue(1)));
        assert_eq!(store.cue_of_request(request(2)).unwrap(), None);
    });
}

fn request(number: u64) -> RequestId {
    RequestId(Uuid::from_u128(number.into()))
}

fn decide(cue: CueId, number: u64) -> Change {
    Change::Decide {
        cue,
        outcome: Outcome::Answered,
        request: RequestId(Uuid::from_u128(1000 + u128::from(number))),
        text: format!("answer {number}").into(),
        reminder: None,
        answer: None,
        redacted: None,
        by: None,
        released_at: None,
        from_queue: false,
    }
}
