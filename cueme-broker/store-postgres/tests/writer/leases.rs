//! Brokers that die, stop or come back.

use cueme_store::Storage;
use cueme_test_kit::{eventually, postgres::Server};

use super::{Broker, NOW, agent, cue, server};

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
    std::thread::sleep(std::time::Duration::from_millis(2_500));
    assert!(!two.storage.leadership().leads());
    // It stops in order, so nobody has to wait for its lease.
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
    // Nobody took it for dead: its own next commit keeps it alive.
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
    stopped.store.commit(cueme_store::BatchId(3)).unwrap_err();
    stopped.reopen();
    assert!(!stopped.store.has_committed(cueme_store::BatchId(3)).unwrap());
    assert_eq!(
        server.run(&url, "SELECT string_agg(agent_id, ',') FROM agents"),
        "agent-2"
    );
}
