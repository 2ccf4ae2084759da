//! Brokers that share one database: an agent on one, a human on another, and either may die.

use std::ops::ControlFlow;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use cueme_broker::engine::{Batch, Clock, CommitOutput, DiskReserve, Order, Work, Write};
use cueme_rules::{Now, Ticket};
use cueme_store::{Pass, StoreError, Token};
use cueme_store_copy::{back_up, copy_into_postgres, copy_into_sqlite};
use cueme_store_postgres::{PostgresStorage, Runtime, Settings};
use cueme_test_kit::postgres::Server;
use cueme_test_kit::postgres_proxy::{Cut, Proxy};
use cueme_test_kit::{eventually, free_port, within};
use protocol_spec::answer::Answer;
use protocol_spec::id::{CueId, RequestId};
use protocol_spec::message::{ErrorCode, Reply, TokenScope};
use protocol_spec::outcome::{Kind, Origin};
use protocol_spec::time::Timestamp;
use uuid::Uuid;

use crate::place::AnyPlace;
use crate::{Little, WALL_MS};

/// Makes a broker apply the changes of the others, as the listener does.
fn wake(broker: &mut Little) -> Vec<(Ticket, Box<Reply>)> {
    broker.say(Work::Tick)
}

fn answer(cue: CueId, text: &str) -> Work {
    Work::Answer {
        cue,
        answer: Answer {
            text: Some(text.into()),
            ..Answer::default()
        },
        by: None,
        hold_ms: 0,
    }
}

fn outcomes(replies: &[(Ticket, Box<Reply>)]) -> Vec<(u64, String, bool)> {
    let told = replies.iter().filter_map(|(to, reply)| match &**reply {
        Reply::Outcome(told) => Some((to.0, told.text.clone(), told.repeat_of.is_some())),
        _ => None,
    });
    told.collect()
}

#[test]
fn an_answer_given_at_one_broker_reaches_the_client_that_waits_at_another() {
    let Some(place) = AnyPlace::postgres() else { return };
    let mut agents = Little::open(&place, WALL_MS).unwrap();
    let mut humans = place.open_beside(WALL_MS);
    let agent = agents.join();
    let cue = agents.ask(&agent);
    let client = agents.tickets;
    wake(&mut humans);
    assert_eq!(humans.core.machine().waiting(cue).unwrap().clients, 1);
    let replies = humans.say(answer(cue, "8080"));
    let [(_, reply)] = &replies[..] else {
        panic!("{replies:?}")
    };
    assert!(
        matches!(&**reply, Reply::Decided(decided) if decided.handed_to == 1),
        "{reply:?}"
    );
    let told = outcomes(&wake(&mut agents));
    assert!(
        matches!(&told[..], [(to, text, false)] if *to == client && text.contains("8080")),
        "{told:?}"
    );
    assert_eq!(outcomes(&wake(&mut agents)), [], "it is told once");
    agents.acknowledge(cue);
    wake(&mut humans);
    assert!(!humans.core.machine().knows(cue), "it is settled");
}

#[test]
fn an_agent_whose_broker_dies_gets_its_answer_at_the_next_one() {
    let Some(place) = AnyPlace::postgres() else { return };
    let mut dying = Little::open(&place, WALL_MS).unwrap();
    let mut other = place.open_beside(WALL_MS);
    let agent = dying.join();
    let request = RequestId(Uuid::new_v4());
    let ask = || {
        Work::ask(
            agent.clone(),
            Kind::Cue,
            "Which port?".into(),
            None,
            Origin::Agent,
        )
    };
    let replies = dying.say_as(request, ask());
    let Reply::Asked(asked) = &*replies[0].1 else {
        panic!("{replies:?}")
    };
    let cue = asked.cue_id;
    drop(dying);
    // Until its lease ends the client counts as waiting; then it does not.
    wake(&mut other);
    assert_eq!(other.core.machine().waiting(cue).unwrap().clients, 1);
    place.end_leases();
    wake(&mut other);
    let waiting = other.core.machine().waiting(cue).unwrap();
    assert!(waiting.clients == 0 && waiting.detached_at.is_some());
    other.answer(cue, "8080", 0);
    let told = outcomes(&other.say_as(request, ask()));
    assert!(
        matches!(&told[..], [(_, text, false)] if text.contains("8080")),
        "{told:?}"
    );
    other.acknowledge(cue);
}

#[test]
fn a_broker_that_was_taken_for_dead_goes_on_and_its_client_is_told() {
    let Some(place) = AnyPlace::postgres() else { return };
    let mut stopped = Little::open(&place, WALL_MS).unwrap();
    let mut other = place.open_beside(WALL_MS);
    let agent = stopped.join();
    let cue = stopped.ask(&agent);
    let client = stopped.tickets;
    place.end_leases();
    wake(&mut other);
    assert_eq!(other.core.machine().waiting(cue).unwrap().clients, 0);
    let replies = other.say(answer(cue, "8080"));
    assert!(
        matches!(&*replies[0].1, Reply::Decided(decided) if decided.handed_to == 0),
        "{replies:?}"
    );
    let told = outcomes(&wake(&mut stopped));
    assert!(
        matches!(&told[..], [(to, text, false)] if *to == client && text.contains("8080")),
        "{told:?}"
    );
    stopped.acknowledge(cue);
    wake(&mut other);
    assert!(!other.core.machine().knows(cue));
}

#[test]
fn of_many_who_decide_at_once_one_does() {
    const DECIDERS: usize = 4;
    const QUESTIONS: usize = 25;
    let Some(place) = AnyPlace::postgres() else { return };
    let mut asking = Little::open(&place, WALL_MS).unwrap();
    let agents: Vec<_> = (0..QUESTIONS).map(|_| asking.join()).collect();
    let cues: Vec<CueId> = agents.iter().map(|agent| asking.ask(agent)).collect();
    let brokers: Vec<Little> = (0..DECIDERS).map(|_| place.open_beside(WALL_MS)).collect();
    let won: Vec<Vec<CueId>> = std::thread::scope(|scope| {
        let decide = |(number, mut broker): (usize, Little)| {
            let cues = &cues;
            scope.spawn(move || {
                let mut won = Vec::new();
                for cue in cues {
                    let request = RequestId(Uuid::new_v4());
                    let work = answer(*cue, &format!("answer {number}"));
                    let replies = broker.say_as(request, work.clone());
                    // The same decision again gets the same reply.
                    let again = broker.say_as(request, work);
                    match (&*replies[0].1, &*again[0].1) {
                        (Reply::Decided(_), Reply::Decided(_)) => won.push(*cue),
                        (Reply::Error(first), Reply::Error(second)) => {
                            assert_eq!(first.code, ErrorCode::AlreadyDecided, "{first:?}");
                            assert_eq!(first.code, second.code);
                        }
                        other => panic!("{other:?}"),
                    }
                }
                won
            })
        };
        let threads: Vec<_> = brokers.into_iter().enumerate().map(decide).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let mut decided: Vec<CueId> = won.iter().flatten().copied().collect();
    decided.sort_unstable();
    let mut wanted = cues.clone();
    wanted.sort_unstable();
    assert_eq!(decided, wanted, "each question has one decision");
    let told = outcomes(&wake(&mut asking));
    assert_eq!(told.len(), QUESTIONS);
    for (place, (_, text, _)) in told.iter().enumerate() {
        let cue = cues[place];
        let winner = won.iter().position(|won| won.contains(&cue)).unwrap();
        assert!(text.contains(&format!("answer {winner}")), "{text}");
    }
}

fn order(broker: &mut Little, work: Work) -> Order {
    broker.tickets += 1;
    Order {
        ticket: Ticket(broker.tickets),
        request: RequestId(Uuid::new_v4()),
        work,
    }
}

/// Decides as a caller with a token; returns the error, if there is one.
fn decide_with(broker: &mut Little, token: &str, cue: CueId) -> Option<ErrorCode> {
    let order = order(broker, answer(cue, "8080"));
    let mut batch = Batch::default();
    let pass = Some(Pass::Token(token.to_owned()));
    broker.core.add_for(broker.now, pass, order, &mut batch);
    let replies = broker.core.commit(broker.now, &mut batch).replies;
    match &*replies[0].1 {
        Reply::Decided(_) => None,
        Reply::Error(failure) => Some(failure.code),
        other => panic!("{other:?}"),
    }
}

fn token(number: u8) -> Token {
    Token {
        token_id: format!("token-{number}"),
        hash: [number; 32],
        scope: TokenScope::Human,
        agent: None,
        name: None,
        created_at: Timestamp::from_millis(WALL_MS),
        expires_at: None,
        used_at: None,
    }
}

#[test]
fn a_token_that_was_revoked_at_another_broker_decides_nothing_any_more() {
    let Some(place) = AnyPlace::postgres() else { return };
    let mut asking = Little::open(&place, WALL_MS).unwrap();
    let mut revoking = place.open_beside(WALL_MS);
    let mut deciding = place.open_beside(WALL_MS);
    let agent = asking.join();
    let cue = asking.ask(&agent);
    let now = revoking.now;
    for number in [1, 2] {
        let add = move |records: &dyn cueme_store::Records| records.add_token(&token(number));
        revoking.core.write(now, DiskReserve::Keep, add).unwrap();
    }
    // The door of the deciding broker let it in a moment before.
    let revoke = |records: &dyn cueme_store::Records| records.drop_token("token-1");
    revoking.core.write(now, DiskReserve::Keep, revoke).unwrap();
    assert_eq!(
        decide_with(&mut deciding, "token-1", cue),
        Some(ErrorCode::Forbidden)
    );
    assert_eq!(deciding.core.machine().waiting(cue).unwrap().clients, 1);
    assert_eq!(decide_with(&mut deciding, "token-2", cue), None);
}

#[test]
fn a_connection_that_was_cut_costs_nobody_an_error() {
    let Some(place) = AnyPlace::postgres() else { return };
    let mut broker = Little::open(&place, WALL_MS).unwrap();
    let agent = broker.join();
    place.cut_connections();
    let cue = broker.ask(&agent);
    let client = broker.tickets;
    place.cut_connections();
    let mut replies = broker.say(answer(cue, "8080"));
    assert!(
        replies
            .iter()
            .any(|(_, reply)| matches!(**reply, Reply::Decided(_))),
        "{replies:?}"
    );
    replies.append(&mut wake(&mut broker));
    let told = outcomes(&replies);
    assert!(
        matches!(&told[..], [(to, text, _)] if *to == client && text.contains("8080")),
        "{told:?}"
    );
}

#[test]
fn a_broker_that_stops_reading_a_large_agent_holds_up_the_others_for_seconds_only() {
    /// More than the buffers of the connection hold.
    const NOTES: &str = "INSERT INTO messages (request_id, agent_id, text, said_at, purpose)
        SELECT gen_random_uuid(), agent_id, repeat('x', 1000000), 0, 0 FROM agents, generate_series(1, 40)";
    const PATIENCE: Duration = Duration::from_secs(25);
    let Some(server) = Server::start() else { return };
    let url = server.database();
    let proxy = Proxy::start(server.port());
    let open = |url: &str| {
        let storage = PostgresStorage::at(url, back_up).unwrap();
        Little::open_on(Box::new(storage), WALL_MS).unwrap()
    };
    let mut writing = open(&url);
    let mut stopped = open(&proxy.url(&url));
    let agent = writing.join();
    wake(&mut stopped);
    server.run(&url, NOTES);
    let cue = writing.ask(&agent);
    proxy.hold(Cut::Large(1_000_000));
    std::thread::scope(|scope| {
        scope.spawn(|| wake(&mut stopped));
        eventually("the result is held back", || proxy.holds().then_some(()));
        let started = Instant::now();
        // The other broker must go on whether the network acknowledges what nobody reads or not.
        let committed = scope.spawn(|| writing.answer(cue, "8080", 0));
        let has_committed = within(PATIENCE, || committed.is_finished().then_some(()));
        proxy.release();
        assert!(
            has_committed.is_some(),
            "still waiting after {:?}",
            started.elapsed()
        );
    });
    let again = wake(&mut stopped);
    assert!(stopped.core.machine().knows(cue), "{again:?}");
}

#[test]
fn who_waits_for_a_question_that_the_database_has_lost_is_told() {
    let Some(place) = AnyPlace::postgres() else { return };
    let mut broker = Little::open(&place, WALL_MS).unwrap();
    let agent = broker.join();
    let kept = broker.ask(&agent);
    broker.ask_this(&agent, "Which host?");
    let client = broker.tickets;
    // As a standby that was promoted without the last commit, or a backup that was restored.
    place.run_beside(
        "DELETE FROM cues WHERE seq = (SELECT max(seq) FROM cues); UPDATE head SET identity = gen_random_uuid()",
    );
    let mut replies = wake(&mut broker);
    replies.append(&mut wake(&mut broker));
    let errors: Vec<(u64, ErrorCode)> = replies
        .iter()
        .filter_map(|(to, reply)| match &**reply {
            Reply::Error(failure) => Some((to.0, failure.code)),
            _ => None,
        })
        .collect();
    assert_eq!(errors, [(client, ErrorCode::UnknownCue)]);
    assert_eq!(wake(&mut broker).len(), 0, "it is told once");
    assert_eq!(broker.core.machine().waiting(kept).unwrap().clients, 1);
}

/// A broker that reaches its database through a proxy, with a question that waits.
fn broker_behind_a_proxy() -> Option<(Proxy, Little, CueId)> {
    let server = Server::start()?;
    let url = server.database();
    let proxy = Proxy::start(server.port());
    let storage = PostgresStorage::at(&proxy.url(&url), back_up).unwrap();
    let mut broker = Little::open_on(Box::new(storage), WALL_MS).unwrap();
    let agent = broker.join();
    let cue = broker.ask(&agent);
    Some((proxy, broker, cue))
}

#[test]
fn a_reply_waits_until_the_server_that_restarted_tells_whether_a_commit_happened() {
    const AWAY: Duration = Duration::from_secs(2);
    for cut in [Cut::Commit, Cut::Confirmation] {
        let Some((proxy, mut broker, cue)) = broker_behind_a_proxy() else {
            return;
        };
        let clock = RealClock(Instant::now());
        let server = proxy.lead_to(free_port());
        proxy.cut(cut);
        let output = std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(AWAY);
                proxy.lead_to(server);
            });
            clock.carry_out(&mut broker, answer(cue, "8080"))
        });
        let replies: Vec<&Reply> = output.replies.iter().map(|(_, reply)| &**reply).collect();
        assert!(
            replies.iter().any(|reply| matches!(reply, Reply::Decided(_))),
            "cut at {cut:?}: {replies:?}"
        );
    }
}

#[test]
fn a_broker_that_stops_does_not_wait_for_a_server_that_is_away() {
    const STOP_AFTER: Duration = Duration::from_millis(500);
    const STOPPED_MAX: Duration = Duration::from_secs(5);
    let Some((proxy, mut broker, cue)) = broker_behind_a_proxy() else {
        return;
    };
    let clock = RealClock(Instant::now());
    proxy.lead_to(free_port());
    proxy.cut(Cut::Confirmation);
    let is_stopping = broker.core.stopping();
    let started = Instant::now();
    let output = std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(STOP_AFTER);
            is_stopping.store(true, Ordering::Relaxed);
        });
        clock.carry_out(&mut broker, answer(cue, "8080"))
    });
    assert!(started.elapsed() < STOPPED_MAX, "{:?}", started.elapsed());
    let [(_, reply)] = &output.replies[..] else {
        panic!("{output:?}")
    };
    assert!(
        matches!(&**reply, Reply::Error(failure) if failure.message.contains("not known")),
        "{reply:?}"
    );
}

#[test]
fn what_other_brokers_changed_is_heard_of_also_where_a_batch_is_taken_apart() {
    let Some(place) = AnyPlace::postgres() else { return };
    let mut broker = Little::open(&place, WALL_MS).unwrap();
    let mut other = place.open_beside(WALL_MS);
    broker.join();
    let now = other.now;
    let add = |records: &dyn cueme_store::Records| records.add_token(&token(1));
    other.core.write(now, DiskReserve::Keep, add).unwrap();
    let refuse = |_: &dyn cueme_store::Records, _| -> Result<(), StoreError> {
        Err(StoreError::BadValue {
            what: "a value",
            value: "none".into(),
        })
    };
    let mut batch = Batch::default();
    let tick = order(&mut broker, Work::Tick);
    broker.core.add(now, tick, &mut batch);
    let refused = Write::new(DiskReserve::Keep, refuse, drop);
    broker.core.add_write(now, refused, &mut batch);
    let output = broker.core.commit(now, &mut batch);
    assert!(output.has_foreign_records, "{output:?}");
}

#[test]
fn a_client_that_leaves_one_broker_is_missed_at_the_other() {
    let Some(place) = AnyPlace::postgres() else { return };
    let mut one = Little::open(&place, WALL_MS).unwrap();
    let mut two = place.open_beside(WALL_MS);
    let agent = one.join();
    let cue = one.ask(&agent);
    let client = Ticket(one.tickets);
    wake(&mut two);
    two.say(Work::Attach(cue));
    wake(&mut one);
    let clients = |broker: &Little| broker.core.machine().waiting(cue).unwrap().clients;
    assert_eq!((clients(&one), clients(&two)), (2, 2));
    let gone = Order {
        ticket: client,
        request: RequestId(Uuid::nil()),
        work: Work::Gone,
    };
    let now = one.now;
    one.core.carry_out(now, [gone]);
    wake(&mut two);
    assert_eq!((clients(&one), clients(&two)), (1, 1));
    assert_eq!(one.core.machine().waiting(cue).unwrap().detached_at, None);
}

/// The clock of the machine.
struct RealClock(Instant);

impl Clock for RealClock {
    fn now(&self) -> Now {
        let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis();
        Now {
            wall: Timestamp::from_millis(i64::try_from(wall).unwrap()),
            steady: u64::try_from(self.0.elapsed().as_millis()).unwrap(),
        }
    }

    fn pause(&self, time: Duration) -> bool {
        std::thread::sleep(time);
        true
    }
}

impl RealClock {
    fn carry_out(&self, broker: &mut Little, work: Work) -> CommitOutput {
        let order = order(broker, work);
        broker.core.carry_out(self, [order])
    }

    /// Returns for how long the broker still holds the next answer.
    fn left(&self, broker: &Little) -> u64 {
        broker.core.next_due().unwrap().saturating_sub(self.now().steady)
    }
}

/// Locks the head for as long as a slow broker would.
const LOCK: &str = "BEGIN; SELECT 1 FROM head FOR UPDATE";
const UNLOCK_LATER: &str = "SELECT pg_sleep(3); COMMIT";

#[test]
fn an_answer_is_held_for_its_whole_time_however_long_the_lock_was_waited_for() {
    const HOLD_MS: u64 = 60_000;
    /// Far less than the wait for the lock.
    const TOLERANCE_MS: u64 = 1_500;
    let Some(place) = AnyPlace::postgres() else { return };
    let mut deciding = Little::open(&place, WALL_MS).unwrap();
    let mut other = place.open_beside(WALL_MS);
    let clock = RealClock(Instant::now());
    let agent = deciding.join();
    let cue = deciding.ask(&agent);
    clock.carry_out(&mut other, Work::Tick);
    let mut session = place.session();
    session.run(LOCK);
    session.begin(UNLOCK_LATER);
    let mut answer = answer(cue, "8080");
    if let Work::Answer { hold_ms, .. } = &mut answer {
        *hold_ms = HOLD_MS;
    }
    let decided = clock.carry_out(&mut deciding, answer);
    let left = clock.left(&deciding);
    session.end();
    assert!(
        decided
            .replies
            .iter()
            .any(|(_, reply)| matches!(**reply, Reply::Decided(_))),
        "{decided:?}"
    );
    let by_the_database = || {
        let left =
            "SELECT (extract(epoch FROM release_at - clock_timestamp()) * 1000)::bigint FROM decisions";
        place.run_beside(left).parse::<u64>().unwrap()
    };
    let wanted = by_the_database();
    assert!(
        left + TOLERANCE_MS >= wanted,
        "{left} ms are left, and {wanted} ms by the database"
    );
    // A broker that hears of it behind the same lock.
    session.run(LOCK);
    session.begin(UNLOCK_LATER);
    clock.carry_out(&mut other, Work::Tick);
    let left = clock.left(&other);
    session.end();
    let wanted = by_the_database();
    assert!(
        left + TOLERANCE_MS >= wanted,
        "{left} ms are left, and {wanted} ms by the database"
    );
}

#[test]
fn a_broker_that_lives_on_the_empty_database_serves_the_agents_that_are_moved_there() {
    let Some(place) = AnyPlace::postgres() else { return };
    let file = AnyPlace::sqlite();
    let mut moving = Little::open(&file, WALL_MS).unwrap();
    let agent = moving.join();
    let cue = moving.ask(&agent);
    moving.core.flush();
    drop(moving);
    let AnyPlace::Sqlite(directory) = &file else {
        panic!("a file")
    };
    let mut living = Little::open(&place, WALL_MS).unwrap();
    wake(&mut living);
    let settings = Settings::from_url(place.url()).unwrap();
    let mut go_on = |_| ControlFlow::Continue(());
    copy_into_postgres(
        &directory.path().join("cueme.db"),
        &settings,
        &Runtime::start().unwrap(),
        &mut go_on,
    )
    .unwrap();
    wake(&mut living);
    assert!(
        living.core.machine().knows(cue),
        "the waiting question was not loaded"
    );
    let second = living.ask_this(&agent, "Which host?");
    living.answer(second, "localhost", 0);
}

#[test]
fn a_broker_that_slept_through_a_move_into_a_file_does_not_go_on_with_the_database() {
    let Some(place) = AnyPlace::postgres() else { return };
    let mut asleep = Little::open(&place, WALL_MS).unwrap();
    let agent = asleep.join();
    place.end_leases();
    let home = tempfile::tempdir().unwrap();
    let (settings, runtime) = (
        Settings::from_url(place.url()).unwrap(),
        Runtime::start().unwrap(),
    );
    let file = home.path().join("cueme.db");
    let attachments = home.path().join("attachments");
    let mut go_on = |_| ControlFlow::Continue(());
    copy_into_sqlite(&settings, &file, &attachments, &runtime, &mut go_on).unwrap();
    let ask = || {
        let prompt = "Which port?".into();
        Work::ask(agent.clone(), Kind::Cue, prompt, None, Origin::Agent)
    };
    let replies = asleep.say(ask());
    assert!(matches!(&*replies[0].1, Reply::Error(_)), "{replies:?}");
    let replies = asleep.say(ask());
    let [(_, reply)] = &replies[..] else {
        panic!("{replies:?}")
    };
    assert!(
        matches!(&**reply, Reply::Error(failure) if failure.message.contains("was moved to the file")),
        "{reply:?}"
    );
    // The move was not finished: the configuration of that machine still names the database.
    let storage = || PostgresStorage::at(place.url(), back_up).unwrap();
    let open = |storage: PostgresStorage| Little::open_on(Box::new(storage), WALL_MS).map(drop);
    assert!(open(storage()).is_err());
    open(storage().instead_of(file)).unwrap();
    open(storage()).unwrap();
}

#[test]
fn a_transaction_that_a_deadlock_undid_is_carried_out_again() {
    let Some(place) = AnyPlace::postgres() else { return };
    let mut broker = Little::open(&place, WALL_MS).unwrap();
    let agent = broker.join();
    // A migration, or an administrator, locks in another order.
    let mut other = place.session();
    other.run("BEGIN; SET LOCAL deadlock_timeout = '1min'; UPDATE agents SET pinned = pinned");
    let ask = Work::ask(agent, Kind::Cue, "Which port?".into(), None, Origin::Agent);
    let now = broker.now;
    let ask = order(&mut broker, ask);
    let mut batch = Batch::default();
    broker.core.add(now, ask, &mut batch);
    other.begin("SELECT 1 FROM head FOR UPDATE; COMMIT");
    eventually("the other transaction waits", || {
        let waiting = "SELECT count(*) FROM pg_stat_activity
            WHERE datname = current_database() AND wait_event_type = 'Lock'";
        (place.run_beside(waiting) == "1").then_some(())
    });
    let output = broker.core.commit(now, &mut batch);
    other.end();
    let [(_, reply)] = &output.replies[..] else {
        panic!("{output:?}")
    };
    assert!(matches!(**reply, Reply::Asked(_)), "{reply:?}");
}
