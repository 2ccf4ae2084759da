//! Brokers that die, stop or come back.

use std::time::Duration;

use cueme_store::Storage;
use cueme_test_kit::{eventually, postgres::Server, remains};

use super::{Broker, NOW, agent, cue, server};

/// The time in which a listener polls the database at least once more.
pub(crate) const TWO_POLLS: Duration = Duration::from_millis(2_500);

/// Lets every lease end now.
pub(crate) fn end_leases(server: &Server, url: &str) {
    server.run(
        url,
        "UPDATE brokers SET lease_until = now() - interval '1 second'",
    );
}

#[test]
fn clients_of_a_dead_broker_do_not_wait_any_more() {
    let Some(server) = server() else { return };
    let url = server.database();
    let (mut dead, mut living) = (Broker::open(&url), Broker::open(&url));
    let (asking, question) = (agent(1), cue(1));
    dead.join(&asking);
    dead.ask(&asking, question);
    living.look();
    let found = living.store.cue(NOW, question).unwrap().unwrap().cue;
    assert_eq!((found.elsewhere, found.detached), (1, None));
    end_leases(server, &url);
    let foreign = living.look();
    assert_eq!(foreign.agents, std::slice::from_ref(&asking));
    let found = living.store.cue(NOW, question).unwrap().unwrap().cue;
    assert_eq!(found.elsewhere, 0);
    assert_eq!(server.run(&url, "SELECT detached_at IS NOT NULL FROM cues"), "t");
    assert!(living.look().agents.is_empty());
    // It was only stopped, and goes on: it learns that it has to say again who waits.
    let foreign = dead.store.begin().unwrap();
    assert!(foreign.is_expelled);
    assert_eq!(foreign.agents, std::slice::from_ref(&asking));
    dead.store.set_waiting(&[question]).unwrap();
    dead.store.commit(cueme_store::BatchId(50)).unwrap();
    assert!(!dead.look().is_expelled);
    assert_eq!(living.look().agents, [asking]);
    let found = living.store.cue(NOW, question).unwrap().unwrap().cue;
    assert_eq!((found.elsewhere, found.detached), (1, None));
    assert_eq!(server.run(&url, "SELECT detached_at IS NULL FROM cues"), "t");
}

#[test]
fn a_broker_that_stops_in_order_is_missed_at_once() {
    let Some(server) = server() else { return };
    let url = server.database();
    let (mut leaving, mut staying) = (Broker::open(&url), Broker::open(&url));
    let (asking, question) = (agent(1), cue(1));
    leaving.join(&asking);
    leaving.ask(&asking, question);
    staying.look();
    leaving.store.flush().unwrap();
    drop(leaving);
    assert_eq!(staying.look().agents, [asking]);
    let found = staying.store.cue(NOW, question).unwrap().unwrap().cue;
    assert_eq!(found.elsewhere, 0);
}

#[test]
fn one_broker_leads_and_another_one_does_when_it_is_gone() {
    let Some(server) = server() else { return };
    let url = server.database();
    let (mut one, mut two) = (Broker::open(&url), Broker::open(&url));
    assert!(!one.storage.leadership().leads());
    one.storage.listen(Box::new(|| {}));
    eventually("the first broker leads", || {
        one.storage.leadership().leads().then_some(())
    });
    two.storage.listen(Box::new(|| {}));
    remains("one broker leads", TWO_POLLS, || {
        one.storage.leadership().leads() && !two.storage.leadership().leads()
    });
    // It stops in order, so the others need not wait for its lease to end.
    one.store.flush().unwrap();
    assert!(!one.storage.leadership().leads());
    eventually("the second broker leads", || {
        two.storage.leadership().leads().then_some(())
    });
    // Without the database it may not be sure of it for longer than its lease.
    drop(one);
    let leadership = two.storage.leadership();
    drop(two);
    assert!(!leadership.leads());
}

#[test]
fn a_late_broker_that_nobody_took_for_dead_renews_its_lease_with_a_commit() {
    let Some(server) = server() else { return };
    let url = server.database();
    let mut one = Broker::open(&url);
    end_leases(server, &url);
    // No broker expelled it: its own next commit renews the lease.
    one.join(&agent(1));
    assert_eq!(
        server.run(
            &url,
            "SELECT count(*) FROM brokers WHERE lease_until > now() AND NOT expelled"
        ),
        "1"
    );
}

#[test]
fn a_broker_that_stops_inside_a_transaction_holds_the_others_up_for_its_lease_at_most() {
    let Some(server) = server() else { return };
    let url = server.database();
    let (mut stopped, mut other) = (Broker::open(&url), Broker::open(&url));
    stopped.store.begin().unwrap();
    super::join(&*stopped.store, &agent(1));
    let started = std::time::Instant::now();
    other.join(&agent(2));
    let took = started.elapsed();
    assert!(took < std::time::Duration::from_secs(20), "it took {took:?}");
    // It goes on, and nothing of what it had begun is there.
    let error = stopped.store.commit(cueme_store::BatchId(3)).unwrap_err();
    assert!(
        error.is_unreachable(),
        "it is made again, and refused to nobody: {error}"
    );
    stopped.reopen();
    assert!(!stopped.store.has_committed(cueme_store::BatchId(3)).unwrap());
    assert_eq!(
        server.run(&url, "SELECT string_agg(agent_id, ',') FROM agents"),
        "agent-2"
    );
}

#[test]
fn a_broker_that_was_expelled_does_not_lead_before_it_is_back() {
    let Some(server) = server() else { return };
    let url = server.database();
    let mut one = Broker::open(&url);
    let wakes = super::listening::counted(server, &url, &mut one);
    eventually("it leads", || one.storage.leadership().leads().then_some(()));
    server.run(
        &url,
        "UPDATE brokers SET expelled = true; UPDATE leader SET broker = NULL, lease_until = '-infinity'",
    );
    // It looks, and wakes the engine because it is expelled.
    let before = wakes.load(std::sync::atomic::Ordering::SeqCst);
    eventually("it looked twice", || {
        (wakes.load(std::sync::atomic::Ordering::SeqCst) > before + 1).then_some(())
    });
    assert_eq!(server.run(&url, "SELECT broker IS NULL FROM leader"), "t");
    assert!(!one.storage.leadership().leads());
    one.look();
    eventually("it is back, and leads", || {
        one.storage.leadership().leads().then_some(())
    });
}

#[test]
fn leases_from_before_the_clock_of_the_database_was_set_back_end() {
    let Some(server) = server() else { return };
    let url = server.database();
    let dead = Broker::open(&url);
    drop(dead);
    server.run(
        &url,
        "UPDATE brokers SET lease_until = now() + interval '1 hour';
         UPDATE leader SET broker = (SELECT broker FROM brokers), lease_until = now() + interval '1 hour'",
    );
    let mut living = Broker::open(&url);
    living.storage.listen(Box::new(|| {}));
    eventually("the living broker leads", || {
        living.storage.leadership().leads().then_some(())
    });
    eventually("the dead broker is expelled", || {
        living.look();
        let living = server.run(&url, "SELECT count(*) FROM brokers WHERE NOT expelled");
        (living == "1").then_some(())
    });
}
