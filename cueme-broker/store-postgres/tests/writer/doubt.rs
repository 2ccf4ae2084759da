//! A commit whose connection breaks: whether it happened is found out, and it is never told wrongly.

use cueme_store::BatchId;

use super::{Broker, agent, ids, join, server};
use cueme_test_kit::postgres_proxy::{Cut, Proxy};

#[test]
fn a_commit_that_is_cut_at_any_message_is_resolved() {
    let Some(server) = server() else { return };
    for make in [Cut::Sent as fn(u32) -> Cut, Cut::Received] {
        let url = server.database();
        let proxy = Proxy::start(server.port());
        let mut watcher = Broker::open(&url);
        let mut broker = Broker::open(&proxy.url(&url));
        let mut watched = Vec::new();
        let (mut committed, mut undone) = (0, 0);
        for place in 0u32.. {
            // Statements are prepared, and the broker is registered, in a transaction that is not cut.
            broker.join(&agent(10_000 + place));
            let (batch, joining) = (BatchId(1_000_000 + u64::from(place)), agent(place));
            broker.store.begin().unwrap();
            join(&*broker.store, &joining);
            proxy.cut(make(place));
            let told = broker.store.commit(batch);
            let was_spared = proxy.spare();
            let stored = || {
                let count = format!("SELECT count(*) FROM agents WHERE agent_id = '{joining}'");
                server.run(&url, &count) == "1"
            };
            if told.is_ok() {
                assert!(stored(), "{place}: confirmed and not stored");
                assert!(was_spared, "{place}: cut, and yet confirmed");
                break;
            }
            broker.reopen();
            let has_committed = broker.store.has_committed(batch).unwrap();
            assert_eq!(has_committed, stored(), "at message {place}: {told:?}");
            match has_committed {
                true => committed += 1,
                false => undone += 1,
            }
            // Resolving the batch has published the committed events, and they are not published again.
            let foreign = broker.look();
            assert_eq!(ids(&foreign), [] as [i64; 0], "at message {place}");
            assert!(foreign.is_expelled, "the others do not know who waits here");
            watched.extend(ids(&watcher.look()));
        }
        assert!(undone > 0 || matches!(make(0), Cut::Received(_)), "never undone");
        assert!(
            committed > 0 || matches!(make(0), Cut::Sent(_)),
            "never committed"
        );
        watched.extend(ids(&watcher.look()));
        assert_eq!(watched, (1..=watched.len() as i64).collect::<Vec<_>>());
        assert_eq!(
            server.run(
                &url,
                "SELECT count(*) = max(id) AND max(id) = (SELECT event FROM head) FROM events"
            ),
            "t"
        );
    }
}

#[test]
fn an_event_of_a_commit_that_nobody_resolved_is_told_later() {
    let Some(server) = server() else { return };
    let url = server.database();
    let proxy = Proxy::start(server.port());
    let mut broker = Broker::open(&proxy.url(&url));
    broker.join(&agent(1));
    broker.store.begin().unwrap();
    join(&*broker.store, &agent(2));
    proxy.cut(Cut::Confirmation);
    broker.store.commit(BatchId(9)).unwrap_err();
    // The engine could not find out, so it published nothing.
    broker.reopen();
    let foreign = broker.look();
    assert_eq!(ids(&foreign), [2]);
}

#[test]
fn a_broker_that_others_took_for_dead_still_finds_its_commit() {
    let Some(server) = server() else { return };
    let url = server.database();
    let proxy = Proxy::start(server.port());
    let (mut broker, mut other) = (Broker::open(&proxy.url(&url)), Broker::open(&url));
    broker.join(&agent(1));
    broker.store.begin().unwrap();
    join(&*broker.store, &agent(2));
    proxy.cut(Cut::Confirmation);
    broker.store.commit(BatchId(9)).unwrap_err();
    super::leases::end_leases(server, &url);
    other.look();
    broker.reopen();
    assert!(broker.store.has_committed(BatchId(9)).unwrap());
}
