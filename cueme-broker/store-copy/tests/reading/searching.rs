//! Search and recall over many questions, and how the index follows the writes.

use cueme_store::Storage;
use cueme_test_kit::postgres::Server;

use crate::world::{Writer, decision};
use crate::{index, open_postgres, open_sqlite};

const FIXTURE: &str = include_str!("../../../tests/storage/fixtures/recall.txt");

/// Joins and asks as the fixture says; returns the hints.
fn live(writer: &mut Writer<'_>) -> Vec<(&'static str, Option<&'static str>)> {
    let mut hints = Vec::new();
    let (mut agents, mut cues, mut project) = (0, 0, "");
    for line in FIXTURE.lines().filter(|line| !line.starts_with('#')) {
        let (mark, rest) = line.split_once(' ').unwrap();
        if matches!(mark, ">" | "?" | "!") {
            hints.push(match rest.strip_prefix("@ ") {
                Some(words) => (words, Some(project)),
                None => (rest, None),
            });
            continue;
        }
        let mut parts = line.split(" | ");
        let runtime = parts.next().unwrap();
        project = parts.next().unwrap();
        agents += 1;
        let agent = writer.join(agents, runtime, project);
        for part in parts {
            let (question, answer) = part.split_once(" => ").unwrap();
            cues += 1;
            let cue = writer.ask(cues, &agent, question, None);
            writer.answer(cue, answer, None);
            writer.deliver(cue, "turn");
        }
    }
    hints
}

#[test]
fn every_hint_recalls_the_same_agents_from_both_stores() {
    let Some(server) = Server::start() else { return };
    let home = tempfile::tempdir().unwrap();
    let (embedded, sqlite) = open_sqlite(&home.path().join("cueme.db"));
    let (shared, postgres) = open_postgres(&server.database());
    let hints = live(&mut Writer::new(&*sqlite));
    live(&mut Writer::new(&*postgres));
    index(&*sqlite);
    index(&*postgres);
    let (embedded, shared) = (embedded.reader(), shared.reader());
    assert!(hints.len() > 50);
    for (words, project) in hints {
        let recalled = |reader: &dyn cueme_store::Reader| {
            let found = reader.recall(words, project).unwrap();
            let agents = found
                .matches
                .into_iter()
                .map(|found| (found.agent.agent_id, found.why));
            (found.is_clear, agents.collect::<Vec<_>>())
        };
        assert_eq!(recalled(&*shared), recalled(&*embedded), "{words}");
    }
}

#[test]
fn indexing_goes_on_batch_by_batch_until_everything_is_found() {
    let Some(server) = Server::start() else { return };
    let (storage, store) = open_postgres(&server.database());
    let mut writer = Writer::new(&*store);
    let agent = writer.join(1, "cursor", "/p");
    for number in 0..201 {
        writer.ask(number, &agent, &format!("question number{number}"), None);
    }
    let reader = storage.reader();
    let count = || reader.search_cues("question", None, None, 1000).unwrap().len();
    assert!(
        store.is_behind() && store.index_some().unwrap(),
        "there is more than one batch"
    );
    assert_eq!(count(), 200);
    assert!(!store.index_some().unwrap() && !store.is_behind());
    assert_eq!(count(), 201);
}

#[test]
fn long_texts_are_indexed_a_few_at_a_time() {
    let Some(server) = Server::start() else { return };
    let (storage, store) = open_postgres(&server.database());
    let mut writer = Writer::new(&*store);
    let agent = writer.join(1, "cursor", "/p");
    // The newest are indexed first.
    let long: String = (0..90_000u32)
        .filter_map(|number| char::from_u32(0x4e00 + number * 7919 % 20_000))
        .collect();
    writer.ask(10, &agent, &long, None);
    writer.ask(11, &agent, &"x".repeat(90_000), None);
    for number in 0..10 {
        writer.ask(
            number,
            &agent,
            &format!("{number} {}", "long text ".repeat(10_000)),
            None,
        );
    }
    let reader = storage.reader();
    let count = |words: &str| reader.search_cues(words, None, None, 100).unwrap().len();
    assert!(store.index_some().unwrap(), "there is more to do");
    assert_eq!(count("text"), 3);
    index(&*store);
    assert_eq!(count("text"), 10);
    assert_eq!(count(&long.chars().take(3).collect::<String>()), 1);
    assert_eq!(count("xxxx"), 1);
}

#[test]
fn an_answer_that_was_taken_back_is_not_found_and_the_next_one_is() {
    let Some(server) = Server::start() else { return };
    let (storage, store) = open_postgres(&server.database());
    let mut writer = Writer::new(&*store);
    let agent = writer.join(1, "cursor", "/p");
    let cue = writer.ask(1, &agent, "Where?", None);
    let reader = storage.reader();
    let count = |words: &str| reader.search_cues(words, None, None, 100).unwrap().len();
    writer.answer(cue, "in the zeppelin", None);
    index(&*store);
    assert_eq!(count("zeppelin"), 1);
    let reopened = cueme_rules::Change::Reopen {
        cue,
        outcome: protocol_spec::outcome::Outcome::Open,
        erase: false,
    };
    writer.apply(std::slice::from_ref(&reopened));
    assert_eq!(count("zeppelin"), 0);
    // Decided and taken back before it was indexed, and decided again.
    writer.apply(&[
        decision(cue, "in the balloon", None),
        reopened,
        decision(cue, "in the kettle", None),
    ]);
    index(&*store);
    assert_eq!((count("zeppelin"), count("balloon"), count("kettle")), (0, 0, 1));
}

#[test]
fn a_deleted_question_is_not_found() {
    let Some(server) = Server::start() else { return };
    let url = server.database();
    let (storage, store) = open_postgres(&url);
    let mut writer = Writer::new(&*store);
    let agent = writer.join(1, "cursor", "/p");
    let cue = writer.ask(1, &agent, "Is the kettle on?", None);
    writer.answer(cue, "yes", None);
    writer.deliver(cue, "turn");
    index(&*store);
    let reader = storage.reader();
    let count = || reader.search_cues("kettle", None, None, 100).unwrap().len();
    assert_eq!(count(), 1);
    let later = protocol_spec::time::Timestamp::from_millis(crate::world::WALL_MS * 2);
    assert_eq!(writer.write(|store, _| store.purge_some(later).unwrap()).0, 1);
    assert_eq!(count(), 0);
    assert_eq!(server.run(&url, "SELECT count(*) FROM words"), "0");
}
