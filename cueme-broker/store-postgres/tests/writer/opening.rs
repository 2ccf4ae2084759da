//! Opening: the schema, and servers that are refused.

use std::path::PathBuf;

use cueme_store::{Storage, Store, StoreError};
use cueme_store_postgres::SCHEMA;
use cueme_test_kit::eventually;
use cueme_test_kit::postgres::Server;

use super::{Broker, agent, ids, server, storage_at};

fn open(url: &str) -> Result<Box<dyn Store>, StoreError> {
    storage_at(url)?.open(true)
}

#[track_caller]
fn refused(url: &str, what: &str, remedy: &str) {
    let error = open(url).expect_err("it was opened");
    assert!(error.to_string().contains(what), "{error}");
    let hint = error.hint().unwrap_or_default();
    assert!(hint.contains(remedy), "{hint}");
}

#[test]
fn brokers_that_start_together_make_the_schema_once() {
    let Some(server) = server() else { return };
    let url = server.database();
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| open(&url).unwrap());
        }
    });
    open(&url).unwrap();
    assert_eq!(
        server.run(&url, "SELECT count(*), max(number) FROM cueme_schema"),
        format!("1|{SCHEMA}")
    );
    assert_eq!(server.run(&url, "SELECT count(*) FROM head"), "1");
}

#[test]
fn a_migration_waits_for_a_broker_that_still_runs() {
    const OLD: [&str; 1] = [include_str!("../../migrations/0001_init.sql")];
    let Some(server) = server() else { return };
    let url = server.database();
    server.run(&url, &OLD.concat());
    server.run(
        &url,
        "CREATE TABLE cueme_schema (number bigint NOT NULL); INSERT INTO cueme_schema VALUES (1)",
    );
    // A broker of the version before, in the middle of a transaction.
    let mut older = server.session(&url);
    older.run("BEGIN; SELECT 1 FROM head FOR UPDATE");
    std::thread::scope(|scope| {
        let opened = scope.spawn(|| open(&url).map(drop));
        eventually("the migration waits", || {
            let waiting = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
            (server.run(&url, waiting) == "1").then_some(())
        });
        older.run("SELECT count(*) FROM tokens; SELECT count(*) FROM decisions; COMMIT");
        opened.join().unwrap().unwrap();
    });
}

#[test]
fn a_newer_schema_is_refused_and_left_as_it_is() {
    let Some(server) = server() else { return };
    let url = server.database();
    open(&url).unwrap();
    server.run(&url, "UPDATE cueme_schema SET number = 99");
    refused(&url, "has schema 99", "update cueme");
    assert_eq!(server.run(&url, "SELECT number FROM cueme_schema"), "99");
}

#[test]
fn a_server_that_would_lose_answers_is_refused() {
    let Some(server) = server() else { return };
    let url = server.database();
    let name = url.rsplit('/').next().unwrap();
    let set = |sql: &str| server.run(&server.url("postgres"), &format!("ALTER DATABASE {name} {sql}"));
    set("SET synchronous_commit = off");
    refused(&url, "synchronous_commit is off", "ALTER DATABASE");
    set("SET synchronous_commit = local");
    open(&url).unwrap();
    set("RESET synchronous_commit");
    set("SET default_transaction_read_only = on");
    refused(&url, "read-only", "default_transaction_read_only off");
    server.run(
        &server.url("postgres"),
        "CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0",
    );
    refused(&server.url("latin"), "encoding is LATIN1", "ENCODING 'UTF8'");
}

#[test]
fn a_server_without_fsync_is_refused() {
    let Some(server) = Server::own(&["fsync = off"]) else {
        return;
    };
    refused(&server.database(), "fsync is off", "fsync = on");
}

#[test]
fn a_password_opens_the_database_and_a_wrong_one_is_not_repeated() {
    let Some(server) = Server::own(&[]) else { return };
    let url = server.database();
    server.add_user("ada", "hunter2");
    let with = |password: &str| url.replace("cueme@", &format!("ada:{password}@"));
    cueme_test_kit::eventually("the user is asked for a password", || open(&with("wrong")).err());
    let error = open(&with("wr0ng")).unwrap_err();
    let said = format!("{error} {error:?}");
    assert!(
        said.contains("password authentication failed") && !said.contains("wr0ng"),
        "{said}"
    );
    open(&with("hunter2")).unwrap();
}

#[test]
fn a_pooler_that_drops_notifications_is_refused() {
    let Some(server) = server() else { return };
    let pooler = cueme_test_kit::postgres_proxy::Proxy::start(server.port());
    let url = pooler.url(&server.database());
    open(&url).unwrap();
    pooler.drop_notifications();
    refused(&url, "notifications do not arrive", "session mode");
}

#[test]
fn a_standby_is_refused() {
    let Some(server) = Server::own(&[]) else { return };
    let url = server.database();
    open(&url).unwrap();
    server.become_standby();
    refused(&url, "standby", "primary");
}

#[test]
fn a_url_that_names_several_servers_leads_to_the_primary() {
    let Some(primary) = Server::own(&[]) else { return };
    let url = primary.database();
    open(&url).unwrap();
    let standby = primary.standby();
    standby.stop_following();
    let port = |server: &Server| format!("127.0.0.1:{}", server.port());
    let both = url.replace(&port(&primary), &format!("{},{}", port(&standby), port(&primary)));
    let mut broker = Broker::open(&both);
    broker.join(&agent(1));
    assert_eq!(broker.storage.reader().newest_event().unwrap(), 1);
}

#[test]
fn a_database_that_was_replaced_is_noticed_and_read_anew() {
    let Some(server) = server() else { return };
    let url = server.database();
    let mut broker = Broker::open(&url);
    broker.join(&agent(1));
    broker.join(&agent(2));
    server.run(&url, "UPDATE head SET event = 1, revision = 1; DELETE FROM events WHERE id > 1; DELETE FROM agents WHERE agent_id = 'agent-2'");
    let gone = broker.store.begin().unwrap_err();
    assert!(matches!(gone, StoreError::Gone { .. }), "{gone}");
    broker.reopen();
    assert_eq!(ids(&broker.join(&agent(3))), [] as [i64; 0]);
    server.run(&url, "UPDATE head SET identity = gen_random_uuid()");
    assert!(broker.store.begin().is_err());
    broker.reopen();
    broker.look();
    assert_eq!(
        server.run(&url, "SELECT string_agg(id::text, ',' ORDER BY id) FROM events"),
        "1,2"
    );
}

#[test]
fn a_history_that_lost_its_newest_part_and_grew_again_is_noticed() {
    let Some(server) = server() else { return };
    let url = server.database();
    let (mut broker, mut other) = (Broker::open(&url), Broker::open(&url));
    broker.join(&agent(1));
    broker.join(&agent(2));
    // The state of a standby that was promoted without the last commit; the other broker went on with it.
    server.run(
        &url,
        "UPDATE head SET event = 1, revision = 1; DELETE FROM events WHERE id > 1; DELETE FROM agents WHERE agent_id = 'agent-2'",
    );
    other.join(&agent(3));
    other.join(&agent(4));
    let gone = broker.store.begin().unwrap_err();
    assert!(matches!(gone, StoreError::Gone { .. }), "{gone}");
    broker.reopen();
    let foreign = broker.look();
    assert!(foreign.has_records, "devices and settings are read anew, too");
    assert!(!broker.look().has_records, "once");
}

#[test]
fn timeouts_of_the_user_do_not_end_a_transaction() {
    let Some(server) = server() else { return };
    let url = server.database();
    let name = url.rsplit('/').next().unwrap();
    let mut broker = Broker::open(&url);
    let alter = format!("ALTER DATABASE {name} SET statement_timeout = '1s'");
    server.run(&server.url("postgres"), &alter);
    broker.reopen();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let hold =
                "SET statement_timeout = 0; BEGIN; SELECT 1 FROM head FOR UPDATE; SELECT pg_sleep(2); COMMIT";
            server.run(&url, hold);
        });
        let waiting = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(2)%' AND datname = current_database() AND pid <> pg_backend_pid()";
        cueme_test_kit::eventually("somebody holds the head", || {
            (server.run(&url, waiting) == "1").then_some(())
        });
        broker.join(&agent(1));
    });
}

#[test]
fn a_server_that_cannot_be_reached_is_named_without_the_password() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let url = format!("postgres://ada:hunter2@127.0.0.1:{port}/inbox");
    let error = open(&url).unwrap_err();
    let said = format!("{error} {error:?} {:?}", error.hint());
    assert!(
        said.contains(&format!("postgres://ada@127.0.0.1:{port}/inbox")),
        "{said}"
    );
    assert!(said.contains("can be reached"), "{said}");
    assert!(!said.contains("hunter2"), "{said}");
    let storage = storage_at(&url).unwrap();
    assert!(!format!("{storage:?}").contains("hunter2"));
    assert_eq!(
        storage.location(),
        PathBuf::from(format!("postgres://ada@127.0.0.1:{port}/inbox"))
    );
}

#[test]
fn a_server_that_was_killed_is_used_again_when_it_is_back() {
    let Some(server) = Server::own(&[]) else { return };
    let url = server.database();
    let mut broker = Broker::open(&url);
    broker.join(&agent(1));
    server.stop("immediate");
    assert!(broker.store.begin().is_err());
    assert!(broker.storage.open(true).is_err());
    server.restart();
    broker.reopen();
    assert_eq!(ids(&broker.join(&agent(2))), [] as [i64; 0]);
    assert_eq!(server.run(&url, "SELECT count(*) FROM agents"), "2");
}

#[test]
fn a_lost_tail_without_events_is_noticed() {
    let Some(server) = server() else { return };
    let url = server.database();
    let mut broker = Broker::open(&url);
    broker.join(&agent(1));
    broker.transact(|store| store.set("language", "\"zh\"").unwrap());
    broker.transact(|store| store.set("language", "\"en\"").unwrap());
    // As on a standby that was promoted without the last commit: a revoked token would be valid again.
    server.run(&url, "UPDATE head SET records = records - 1");
    let gone = broker.store.begin().unwrap_err();
    assert!(matches!(gone, StoreError::Gone { .. }), "{gone}");
    broker.reopen();
    assert!(broker.look().has_records);
    assert!(!broker.look().has_records, "once");
}

#[test]
fn a_standby_that_took_over_is_noticed_even_where_nothing_is_seen_to_be_missing() {
    let Some(primary) = Server::own(&[]) else { return };
    let url = primary.database();
    let proxy = cueme_test_kit::postgres_proxy::Proxy::start(primary.port());
    let mut broker = Broker::open(&proxy.url(&url));
    broker.join(&agent(1));
    assert!(!broker.look().has_records);
    let standby = primary.standby();
    primary.stop("immediate");
    standby.promote();
    proxy.lead_to(standby.port());
    assert!(broker.store.begin().is_err());
    broker.reopen();
    assert!(broker.look().has_records, "its history may have grown again");
    assert!(!broker.look().has_records, "once");
}
