//! Wakes: by notifications, by polling, and after a connection was lost.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use cueme_store::Storage;
use cueme_test_kit::postgres::Server;
use cueme_test_kit::{eventually, remains};

use super::leases::TWO_POLLS;
use super::{Broker, agent, ids, server};

/// When the newest connection of a broker polled the database last; nothing, if it has not polled.
const LAST_POLL: &str =
    "SELECT CASE WHEN query LIKE '%FROM head%' AND query NOT LIKE '%FOR UPDATE%' THEN query_start END
    FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'cueme'
    ORDER BY backend_start DESC LIMIT 1";

/// Counts the wakes of a listener, once it has connected and its first poll is over.
pub(crate) fn counted(server: &Server, url: &str, broker: &mut Broker) -> Arc<AtomicU32> {
    let wakes = Arc::<AtomicU32>::default();
    let counter = Arc::clone(&wakes);
    broker.storage.listen(Box::new(move || {
        counter.fetch_add(1, Ordering::SeqCst);
    }));
    eventually("a wake", || (wakes.load(Ordering::SeqCst) > 0).then_some(()));
    let last_poll = || Some(server.run(url, LAST_POLL)).filter(|at| !at.is_empty());
    let first = eventually("a poll", last_poll);
    eventually("the poll after it", || last_poll().filter(|at| *at != first));
    wakes
}

/// Waits until there are more wakes than there were, and returns how long that took.
fn next_wake(wakes: &AtomicU32, before: u32) -> Duration {
    let started = Instant::now();
    eventually("a wake", || (wakes.load(Ordering::SeqCst) > before).then_some(()));
    started.elapsed()
}

#[test]
fn a_commit_wakes_the_other_broker_at_once_and_its_own_not_at_all() {
    let Some(server) = server() else { return };
    let url = server.database();
    let (mut one, mut two) = (Broker::open(&url), Broker::open(&url));
    let own = counted(server, &url, &mut one);
    let wakes = counted(server, &url, &mut two);
    let (before, own_before) = (wakes.load(Ordering::SeqCst), own.load(Ordering::SeqCst));
    one.join(&agent(1));
    let took = next_wake(&wakes, before);
    assert!(took < Duration::from_millis(1_500), "it took {took:?}");
    assert_eq!(ids(&two.look()), [1]);
    remains("a broker is not woken by its own commit", TWO_POLLS, || {
        own.load(Ordering::SeqCst) == own_before
    });
}

#[test]
fn without_notifications_a_broker_wakes_by_polling() {
    let Some(server) = server() else { return };
    let url = server.database();
    let proxy = cueme_test_kit::postgres_proxy::Proxy::start(server.port());
    let (mut one, mut two) = (Broker::open(&url), Broker::open(&proxy.url(&url)));
    let _notifying = counted(server, &url, &mut one);
    let wakes = counted(server, &url, &mut two);
    proxy.drop_notifications();
    let before = wakes.load(Ordering::SeqCst);
    one.join(&agent(1));
    let took = next_wake(&wakes, before);
    assert!(took < Duration::from_secs(6), "it took {took:?}");
    assert_eq!(ids(&two.look()), [1]);
}

#[test]
fn a_listener_whose_connection_is_cut_connects_again_and_wakes() {
    let Some(server) = server() else { return };
    let url = server.database();
    let (mut one, mut two) = (Broker::open(&url), Broker::open(&url));
    let wakes = counted(server, &url, &mut two);
    let before = wakes.load(Ordering::SeqCst);
    let database = url.rsplit('/').next().unwrap();
    let cut = format!(
        "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = '{database}' AND query LIKE '%FROM head%' AND query NOT LIKE '%FOR UPDATE%' AND pid <> pg_backend_pid()"
    );
    eventually("the listener is cut", || {
        (server.run(&url, &cut) != "0").then_some(())
    });
    next_wake(&wakes, before);
    let before = wakes.load(Ordering::SeqCst);
    one.join(&agent(1));
    next_wake(&wakes, before);
    assert_eq!(ids(&two.look()), [1]);
}

#[test]
fn an_expired_lease_of_another_broker_wakes() {
    let Some(server) = server() else { return };
    let url = server.database();
    let (one, mut two) = (Broker::open(&url), Broker::open(&url));
    let wakes = counted(server, &url, &mut two);
    drop(one);
    let before = wakes.load(Ordering::SeqCst);
    super::leases::end_leases(server, &url);
    next_wake(&wakes, before);
}
