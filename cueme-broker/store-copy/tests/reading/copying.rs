//! A whole store is copied, there and back, or nothing of it is.

use std::ops::ControlFlow;
use std::path::Path;

use cueme_rules::{Change, ContentKey};
use cueme_store::{Reader, Storage, UpkeepReads};
use cueme_store_copy::{
    CopyError, CopyProgress, copy_into_postgres, copy_into_sqlite, restore_into_postgres,
};
use cueme_store_postgres::{Runtime, Settings};
use cueme_store_sqlite::{SqliteReader, check_file};
use cueme_test_kit::free_port;
use cueme_test_kit::postgres::Server;
use cueme_test_kit::postgres_proxy::{Cut, Proxy};
use protocol_spec::id::CueId;
use protocol_spec::outcome::{Kind, Origin};

use crate::pictures::{assert_same, found, picture};
use crate::world::{World, Writer, write_world};
use crate::{index, open_postgres, open_sqlite, read_postgres};

fn go_on(_: CopyProgress) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// A world in a file that no broker uses.
fn world_in(home: &Path) -> World {
    let (_storage, mut store) = open_sqlite(&home.join("cueme.db"));
    let world = write_world(&*store, &home.join("attachments"));
    store.flush().unwrap();
    world
}

#[test]
fn there_and_back_everything_is_the_same() {
    let Some(server) = Server::start() else { return };
    let home = tempfile::tempdir().unwrap();
    let (from, attachments) = (home.path().join("cueme.db"), home.path().join("attachments"));
    let world = world_in(home.path());
    let url = server.database();
    let (settings, runtime) = (Settings::from_url(&url).unwrap(), Runtime::start().unwrap());
    let report = copy_into_postgres(&from, &settings, &runtime, &mut go_on).unwrap();
    assert_eq!((report.files, report.missing_files.len()), (1, 0));
    assert!(
        report
            .tables
            .iter()
            .all(|(table, rows)| *rows > 0 || *table == "upload_uses"),
        "{report:?}"
    );
    // The success was not reported: the same copy again is done already.
    let again = copy_into_postgres(&from, &settings, &runtime, &mut go_on).unwrap();
    assert_eq!(again.tables, report.tables);

    let (shared, mut store) = open_postgres(&url);
    let original = SqliteReader::new(&from);
    assert_same(picture(&original, &world), picture(&*shared.reader(), &world));
    index(&*store);
    let (_embedded, sqlite) = open_sqlite(&from);
    index(&*sqlite);
    drop(sqlite);
    assert_same(found(&original, &world), found(&*shared.reader(), &world));
    assert_eq!(shared.reader().check().unwrap().problems, Vec::<String>::new());

    // While a broker uses the database it is not copied: what the broker changes would be missing.
    let back = home.path().join("back.db");
    let refused = copy_into_sqlite(&settings, &back, &attachments, &runtime, &mut go_on);
    assert!(matches!(refused, Err(CopyError::InUse(_))), "{refused:?}");
    store.flush().unwrap();
    std::fs::remove_dir_all(&attachments).unwrap();
    let returned = copy_into_sqlite(&settings, &back, &attachments, &runtime, &mut go_on).unwrap();
    assert_eq!(returned, report);
    assert_eq!(
        std::fs::read(attachments.join("picture.png")).unwrap(),
        b"a picture"
    );
    assert_eq!(check_file(&back).unwrap().problems, Vec::<String>::new());
    let (embedded, sqlite) = open_sqlite(&back);
    index(&*sqlite);
    let reader = embedded.reader();
    assert_same(picture(&original, &world), picture(&*reader, &world));
    assert_same(found(&original, &world), found(&*reader, &world));
}

#[test]
fn numbers_go_on_where_they_were() {
    let Some(server) = Server::start() else { return };
    let home = tempfile::tempdir().unwrap();
    let from = home.path().join("cueme.db");
    let world = world_in(home.path());
    let last = |reader: &dyn Reader| {
        let seq = reader.cue(world.cues[11]).unwrap().unwrap().seq;
        (seq, reader.newest_event().unwrap())
    };
    let before = last(&SqliteReader::new(&from));
    let url = server.database();
    let (settings, runtime) = (Settings::from_url(&url).unwrap(), Runtime::start().unwrap());
    copy_into_postgres(&from, &settings, &runtime, &mut go_on).unwrap();
    let (shared, mut store) = open_postgres(&url);
    let next = Writer::new(&*store).ask(900, &world.agents[0], "And now?", None);
    let reader = shared.reader();
    assert_eq!(reader.cue(next).unwrap().unwrap().seq, before.0 + 1);
    assert_eq!(reader.newest_event().unwrap(), before.1 + 1);
    store.flush().unwrap();
    let back = home.path().join("back.db");
    copy_into_sqlite(
        &settings,
        &back,
        &home.path().join("attachments"),
        &runtime,
        &mut go_on,
    )
    .unwrap();
    let (embedded, store) = open_sqlite(&back);
    let next = Writer::new(&*store).ask(901, &world.agents[0], "And then?", None);
    let reader = embedded.reader();
    assert_eq!(reader.cue(next).unwrap().unwrap().seq, before.0 + 2);
    assert_eq!(reader.newest_event().unwrap(), before.1 + 2);
}

#[test]
fn a_copy_that_is_stopped_at_any_table_leaves_nothing_and_can_be_made_again() {
    let Some(server) = Server::start() else { return };
    let home = tempfile::tempdir().unwrap();
    let from = home.path().join("cueme.db");
    world_in(home.path());
    let url = server.database();
    let (settings, runtime) = (Settings::from_url(&url).unwrap(), Runtime::start().unwrap());
    let attachments = home.path().join("attachments");
    let mut steps = Vec::new();
    let full = server.database();
    let done = Settings::from_url(&full).unwrap();
    copy_into_postgres(&from, &done, &runtime, &mut |progress| {
        steps.push(progress);
        ControlFlow::Continue(())
    })
    .unwrap();
    assert!(steps.len() > 20);
    for step in steps {
        let mut stop = |progress| match progress == step {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        };
        let stopped = copy_into_postgres(&from, &settings, &runtime, &mut stop);
        assert!(matches!(stopped, Err(CopyError::Stopped)), "{stopped:?}");
        assert_eq!(server.run(&url, "SELECT count(*) FROM agents"), "0", "{step:?}");
        if step.rows == 0 {
            let back = home.path().join("back.db");
            let stopped = copy_into_sqlite(&done, &back, &attachments, &runtime, &mut stop);
            assert!(matches!(stopped, Err(CopyError::Stopped)), "{stopped:?}");
            let left: Vec<_> = std::fs::read_dir(home.path())
                .unwrap()
                .map(|entry| entry.unwrap().file_name())
                .collect();
            assert!(
                left.iter()
                    .all(|name| !name.to_string_lossy().starts_with("back.db")),
                "{left:?}"
            );
        }
    }
    copy_into_postgres(&from, &settings, &runtime, &mut go_on).unwrap();
    copy_into_sqlite(
        &settings,
        &home.path().join("back.db"),
        &attachments,
        &runtime,
        &mut go_on,
    )
    .unwrap();
}

#[test]
fn a_store_that_holds_other_questions_is_not_overwritten() {
    let Some(server) = Server::start() else { return };
    let home = tempfile::tempdir().unwrap();
    let from = home.path().join("cueme.db");
    world_in(home.path());
    let url = server.database();
    let (settings, runtime) = (Settings::from_url(&url).unwrap(), Runtime::start().unwrap());
    let (_storage, store) = open_postgres(&url);
    Writer::new(&*store).join(77, "cursor", "/p");
    let refused = copy_into_postgres(&from, &settings, &runtime, &mut go_on);
    assert!(matches!(refused, Err(CopyError::NotEmpty(_))), "{refused:?}");
    let refused = copy_into_sqlite(&settings, &from, home.path(), &runtime, &mut go_on);
    assert!(matches!(refused, Err(CopyError::NotEmpty(_))), "{refused:?}");
    assert_eq!(server.run(&url, "SELECT count(*) FROM agents"), "1");
}

#[test]
fn a_backup_is_the_same_portable_file() {
    let Some(server) = Server::start() else { return };
    let home = tempfile::tempdir().unwrap();
    let url = server.database();
    let (_shared, store) = open_postgres(&url);
    let world = write_world(&*store, &home.path().join("attachments"));
    let backup = home.path().join("backup.db");
    let reader = read_postgres(&url);
    let report = reader.back_up(&backup).unwrap();
    assert_eq!((report.problems.len(), report.cues), (0, world.cues.len() as u64));
    assert!(reader.back_up(&backup).is_err(), "it overwrites nothing");
    assert_eq!(check_file(&backup).unwrap().problems, Vec::<String>::new());
    let bytes = std::fs::read(&backup).unwrap();
    assert!(
        !bytes.windows(7).any(|some| some == b"hunter2"),
        "a copy holds no passwords"
    );
    let (embedded, _store) = open_sqlite(&backup);
    let restored = embedded.reader();
    assert!(restored.devices().unwrap().is_empty() && restored.tokens().unwrap().is_empty());
    let same = world.cues.iter().filter(|cue| {
        let read = |reader: &dyn Reader| format!("{:?}", reader.cue(**cue).unwrap());
        read(&reader) == read(&*restored)
    });
    // All but the one whose password did not arrive.
    assert_eq!(same.count(), world.cues.len() - 1);
}

#[test]
fn a_copy_whose_connection_breaks_leaves_nothing_and_can_be_made_again() {
    const BREAK: &str = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid()";
    let Some(server) = Server::start() else { return };
    let home = tempfile::tempdir().unwrap();
    let from = home.path().join("cueme.db");
    world_in(home.path());
    let url = server.database();
    let (settings, runtime) = (Settings::from_url(&url).unwrap(), Runtime::start().unwrap());
    let attachments = home.path().join("attachments");
    for table in ["agents", "messages", "bootstraps"] {
        let mut cut = |progress: CopyProgress| {
            if progress.table == table {
                server.run(&url, BREAK);
            }
            ControlFlow::Continue(())
        };
        let broken = copy_into_postgres(&from, &settings, &runtime, &mut cut);
        assert!(matches!(broken, Err(CopyError::Store(_))), "{broken:?}");
        assert_eq!(server.run(&url, "SELECT count(*) FROM agents"), "0");
    }
    copy_into_postgres(&from, &settings, &runtime, &mut go_on).unwrap();
    let back = home.path().join("back.db");
    let mut cut = |progress: CopyProgress| {
        if progress.table == "events" {
            server.run(&url, BREAK);
        }
        ControlFlow::Continue(())
    };
    let broken = copy_into_sqlite(&settings, &back, &attachments, &runtime, &mut cut);
    assert!(matches!(broken, Err(CopyError::Store(_))), "{broken:?}");
    assert!(!back.exists());
    copy_into_sqlite(&settings, &back, &attachments, &runtime, &mut go_on).unwrap();
}

#[test]
fn many_questions_are_copied_in_batches() {
    let Some(server) = Server::start() else { return };
    let home = tempfile::tempdir().unwrap();
    let from = home.path().join("cueme.db");
    let (_storage, mut store) = open_sqlite(&from);
    let mut writer = Writer::new(&*store);
    let agent = writer.join(1, "cursor", "/p");
    writer.write(|store, at| {
        for number in 0..2500 {
            let asked = Change::AddCue {
                cue: CueId::from_random(number),
                agent: agent.clone(),
                kind: Kind::Cue,
                origin: Origin::Agent,
                prompt: format!("Question {number}?").into(),
                payload: None,
                content: ContentKey([0; 32]),
            };
            store.apply(at, &asked).unwrap();
        }
    });
    // Rows that are larger than a batch may be.
    writer.ask(9000, &agent, &"long ".repeat(2_000_000), None);
    store.flush().unwrap();
    drop(store);
    let url = server.database();
    let (settings, runtime) = (Settings::from_url(&url).unwrap(), Runtime::start().unwrap());
    let mut counts = Vec::new();
    let report = copy_into_postgres(&from, &settings, &runtime, &mut |progress| {
        counts.extend((progress.table == "cues").then_some(progress.rows));
        ControlFlow::Continue(())
    });
    assert!(report.unwrap().tables.contains(&("questions", 2501)));
    assert_eq!(counts, [0, 1000, 2000, 2501]);
    let back = home.path().join("back.db");
    copy_into_sqlite(&settings, &back, home.path(), &runtime, &mut go_on).unwrap();
    let (embedded, _store) = open_sqlite(&back);
    let read = |reader: &dyn Reader| reader.cue(CueId::from_random(9000)).unwrap().unwrap().prompt;
    assert_eq!(read(&*embedded.reader()), read(&SqliteReader::new(&from)));
}

#[test]
fn a_backup_takes_the_place_of_everything_and_a_restore_that_is_stopped_changes_nothing() {
    let Some(server) = Server::start() else { return };
    let home = tempfile::tempdir().unwrap();
    let url = server.database();
    let (settings, runtime) = (Settings::from_url(&url).unwrap(), Runtime::start().unwrap());
    let (shared, mut store) = open_postgres(&url);
    let world = write_world(&*store, &home.path().join("attachments"));
    store.flush().unwrap();
    // The file is in the database alone.
    let copy = home.path().join("copy.db");
    copy_into_sqlite(&settings, &copy, home.path(), &runtime, &mut go_on).unwrap();
    restore_into_postgres(&copy, &settings, &runtime, &mut go_on).unwrap();
    std::fs::remove_dir_all(home.path().join("attachments")).unwrap();
    let reader = shared.reader();
    let backup = home.path().join("backup.db");
    reader.back_up(&backup).unwrap();
    let identity = || server.run(&url, "SELECT identity FROM head");
    let (first, blobs) = (identity(), "SELECT count(*) FROM blobs JOIN uploads USING (hash)");

    let (_storage, store) = open_postgres(&url);
    let late = Writer::new(&*store).ask(900, &world.agents[0], "Asked after the backup", None);
    index(&*store);
    drop(store);
    let mut stop = |progress: CopyProgress| match progress.table {
        "settings" => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    };
    let stopped = restore_into_postgres(&backup, &settings, &runtime, &mut stop);
    assert!(matches!(stopped, Err(CopyError::Stopped)), "{stopped:?}");
    assert!(reader.cue(late).unwrap().is_some());
    assert_eq!(identity(), first);

    let report = restore_into_postgres(&backup, &settings, &runtime, &mut go_on).unwrap();
    assert_eq!(
        (report.files, report.missing_files.len()),
        (1, 0),
        "the database has the file already"
    );
    assert_eq!(server.run(&url, blobs), "1");
    assert_ne!(identity(), first);
    assert!(reader.cue(late).unwrap().is_none());
    assert!(
        reader.devices().unwrap().is_empty(),
        "nobody is signed in by a backup"
    );
    let (_storage, store) = open_postgres(&url);
    index(&*store);
    assert_eq!(reader.check().unwrap().problems, Vec::<String>::new());
    let (embedded, sqlite) = open_sqlite(&backup);
    index(&*sqlite);
    assert_same(picture(&*embedded.reader(), &world), picture(&*reader, &world));
    assert_same(found(&*embedded.reader(), &world), found(&*reader, &world));
}

#[test]
fn a_server_that_would_lose_answers_gets_none() {
    let Some(server) = Server::start() else { return };
    let home = tempfile::tempdir().unwrap();
    let from = home.path().join("cueme.db");
    world_in(home.path());
    let url = server.database();
    let (settings, runtime) = (Settings::from_url(&url).unwrap(), Runtime::start().unwrap());
    let name = url.rsplit('/').next().unwrap();
    server.run(
        &server.url("postgres"),
        &format!("ALTER DATABASE {name} SET synchronous_commit = off"),
    );
    for copy in [copy_into_postgres, restore_into_postgres] {
        let refused = copy(&from, &settings, &runtime, &mut go_on).unwrap_err();
        assert!(
            refused.to_string().contains("synchronous_commit is off"),
            "{refused}"
        );
    }
    let tables = "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'";
    assert_eq!(
        server.run(&url, tables),
        "0",
        "it was touched before it was checked"
    );
}

#[test]
fn a_broker_that_starts_during_the_copy_into_a_file_is_noticed() {
    let Some(server) = Server::start() else { return };
    let home = tempfile::tempdir().unwrap();
    let url = server.database();
    let (settings, runtime) = (Settings::from_url(&url).unwrap(), Runtime::start().unwrap());
    let (_storage, mut store) = open_postgres(&url);
    write_world(&*store, &home.path().join("attachments"));
    store.flush().unwrap();
    let (back, attachments) = (home.path().join("back.db"), home.path().join("attachments"));
    // One that stays, and one that writes and is gone again.
    for stays in [true, false] {
        let mut living = None;
        let mut start = |progress: CopyProgress| {
            if progress.table == "cues" && progress.rows == 0 {
                // Its connections are of another runtime, and a thread waits for one at a time.
                living = std::thread::scope(|scope| {
                    let open = || {
                        let (storage, mut store) = open_postgres(&url);
                        Writer::new(&*store).join(if stays { 77 } else { 78 }, "cursor", "/p");
                        if !stays {
                            store.flush().unwrap();
                        }
                        stays.then_some((storage, store))
                    };
                    scope.spawn(open).join().unwrap()
                });
            }
            ControlFlow::Continue(())
        };
        let refused = copy_into_sqlite(&settings, &back, &attachments, &runtime, &mut start);
        match stays {
            true => assert!(matches!(refused, Err(CopyError::InUse(_))), "{refused:?}"),
            false => assert!(matches!(refused, Err(CopyError::Changed(_))), "{refused:?}"),
        }
        assert!(!back.exists());
        if let Some((_storage, mut store)) = living {
            store.flush().unwrap();
        }
    }
    copy_into_sqlite(&settings, &back, &attachments, &runtime, &mut go_on).unwrap();
}

#[test]
fn a_commit_in_doubt_is_resolved_and_never_called_a_failure_that_changed_nothing() {
    let Some(server) = Server::start() else { return };
    let home = tempfile::tempdir().unwrap();
    let from = home.path().join("cueme.db");
    world_in(home.path());
    let runtime = Runtime::start().unwrap();
    for can_reconnect in [true, false] {
        let url = server.database();
        let (_storage, mut store) = open_postgres(&url);
        store.flush().unwrap();
        let proxy = Proxy::start(server.port());
        let settings = Settings::from_url(&proxy.url(&url)).unwrap();
        let mut cut = |progress: CopyProgress| {
            if progress.table == "settings" {
                proxy.cut(Cut::Confirmation);
                if !can_reconnect {
                    proxy.lead_to(free_port());
                }
            }
            ControlFlow::Continue(())
        };
        let restored = restore_into_postgres(&from, &settings, &runtime, &mut cut);
        assert!(!proxy.spare(), "nothing was cut");
        match can_reconnect {
            true => assert!(restored.is_ok(), "{restored:?}"),
            false => assert!(matches!(restored, Err(CopyError::InDoubt(_))), "{restored:?}"),
        }
        assert_ne!(server.run(&url, "SELECT count(*) FROM agents"), "0");
    }
}
