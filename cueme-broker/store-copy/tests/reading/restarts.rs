//! A server that comes back is read again, and one that is away says so.

use cueme_store::{DatabaseFault, FaultKind, QuestionReads, StoreError};
use cueme_test_kit::eventually;
use cueme_test_kit::postgres::Server;

use crate::world::Writer;
use crate::{open_postgres, read_postgres};

#[test]
fn reads_go_on_when_the_server_was_restarted_and_fail_plainly_while_it_is_away() {
    let Some(server) = Server::own(&[]) else { return };
    let url = server.database();
    let (_storage, store) = open_postgres(&url);
    let mut writer = Writer::new(&*store);
    let agent = writer.join(1, "cursor", "/p");
    let cue = writer.ask(1, &agent, "Which port?", None);
    let reader = read_postgres(&url);
    assert_eq!(reader.cue(cue).unwrap().unwrap().prompt, "Which port?");
    // Both connections of the pool die.
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| (0..20).all(|_| reader.newest_event().is_ok()));
        }
    });
    server.stop("immediate");
    let error = reader.cue(cue).unwrap_err();
    let (StoreError::Statement(DatabaseFault { kind, .. })
    | StoreError::Database {
        source: DatabaseFault { kind, .. },
        ..
    }) = &error
    else {
        panic!("{error:?}");
    };
    assert_eq!(*kind, FaultKind::Unreachable, "{error}");
    assert!(!error.is_alarming());
    server.restart();
    assert_eq!(reader.cue(cue).unwrap().unwrap().prompt, "Which port?");
    server.stop("fast");
    server.restart();
    assert_eq!(reader.newest_event().unwrap(), 2);
}

#[test]
fn a_reader_holds_two_connections_at_most_also_where_a_recall_reads_for_each_agent() {
    const COUNT: &str = "SELECT count(*) FROM pg_stat_activity
        WHERE datname = current_database() AND application_name = 'cueme' AND pid <> pg_backend_pid()";
    let Some(server) = Server::start() else { return };
    let url = server.database();
    let (storage, store) = open_postgres(&url);
    let mut writer = Writer::new(&*store);
    for number in 1..4 {
        let agent = writer.join(number, "cursor", "/p");
        writer.ask(number.into(), &agent, "Is the kettle on?", None);
    }
    crate::index(&*store);
    drop((store, storage));
    eventually("the writer is gone", || {
        (server.run(&url, COUNT) == "0").then_some(())
    });
    let reader = read_postgres(&url);
    let is_wanted = |_: &protocol_spec::id::AgentId| reader.newest_event().map(|_| true);
    std::thread::scope(|scope| {
        let recalls = [(); 8].map(|()| scope.spawn(|| reader.recall_among("kettle", None, &is_wanted)));
        for recall in recalls {
            assert_eq!(recall.join().unwrap().unwrap().matches.len(), 3);
        }
    });
    assert_eq!(server.run(&url, COUNT), "2");
}

#[test]
fn a_task_of_another_runtime_may_read() {
    let Some(server) = Server::start() else { return };
    let url = server.database();
    drop(open_postgres(&url));
    let reader = std::sync::Arc::new(read_postgres(&url));
    let broker = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .build()
        .unwrap();
    let (task, thread) = (reader.clone(), reader);
    let read = broker.block_on(async move {
        let task = tokio::spawn(async move { task.newest_event().unwrap() });
        let thread = tokio::task::spawn_blocking(move || thread.newest_event().unwrap());
        (task.await.unwrap(), thread.await.unwrap())
    });
    assert_eq!(read, (0, 0));
}
