//! Records are read as they were written.

use cueme_broker::engine::Work;

use protocol_spec::id::CueId;
use protocol_spec::outcome::{Kind, Origin, Outcome};

use crate::{Little, WALL_MS};

use crate::place::{AnyPlace, on_every_store};

on_every_store!(
    lists_are_visited_in_order_until_enough_was_seen,
    ids_are_found_by_their_beginning_and_never_more_than_two,
    a_question_its_payload_its_answer_and_its_receipt_are_read_back,
    events_are_read_from_a_place_on_and_at_most_so_many,
);

fn lists_are_visited_in_order_until_enough_was_seen(database: &AnyPlace) {
    let mut broker = Little::open(database, WALL_MS).unwrap();
    let (one, other) = (broker.join(), broker.join());
    let asked = [(&one, "A?"), (&other, "B?"), (&one, "C?"), (&one, "D?")]
        .map(|(agent, prompt)| broker.ask_this(agent, prompt));
    broker.answer(asked[2], "yes", 0);
    let reader = crate::open_reader(database);
    let inbox = |enough: usize| {
        let mut seen: Vec<CueId> = Vec::new();
        let visited = reader.inbox(&mut |cue| {
            seen.push(cue.cue_id);
            seen.len() < enough
        });
        visited.map(|()| seen).unwrap()
    };
    assert_eq!(inbox(9), [asked[0], asked[1], asked[3]]);
    assert_eq!(inbox(2), asked[..2]);
    let agents = |enough: usize| {
        let mut seen = 0;
        let visited = reader.agents(&mut |_| {
            seen += 1;
            seen < enough
        });
        visited.map(|()| seen).unwrap()
    };
    assert_eq!((agents(9), agents(1)), (2, 1));
}

fn ids_are_found_by_their_beginning_and_never_more_than_two(database: &AnyPlace) {
    let mut broker = Little::open(database, WALL_MS).unwrap();
    let agents = [(); 3].map(|()| broker.join());
    let cues = ["A?", "B?", "C?"].map(|prompt| broker.ask_this(&agents[0], prompt));
    let reader = crate::open_reader(database);
    assert_eq!(reader.cues_with_prefix(cues[1].as_str()).unwrap(), [cues[1]]);
    assert_eq!(
        reader.cues_with_prefix(&cues[1].as_str()[..11]).unwrap(),
        [cues[1]]
    );
    assert_eq!(reader.cues_with_prefix("").unwrap().len(), 2);
    assert_eq!(
        reader.agents_with_prefix(agents[2].as_str()).unwrap(),
        [agents[2].clone()]
    );
    assert_eq!(reader.agents_with_prefix("").unwrap().len(), 2);
    assert!(reader.agents_with_prefix("#").unwrap().is_empty());
}

fn a_question_its_payload_its_answer_and_its_receipt_are_read_back(database: &AnyPlace) {
    const PAYLOAD: &str = r#"{"type":"confirm","text":"Sure?"}"#;
    let mut broker = Little::open(database, WALL_MS).unwrap();
    let (agent, silent) = (broker.join(), broker.join());
    let plain = broker.ask_this(&agent, "Plain?");
    let work = Work::ask(
        agent.clone(),
        Kind::Cue,
        "Sure?".into(),
        Some(PAYLOAD.into()),
        Origin::Agent,
    );
    broker.say(work);
    let reader = crate::open_reader(database);
    let mut asked = Vec::new();
    reader
        .inbox(&mut |cue| {
            asked.push(cue.cue_id);
            true
        })
        .unwrap();
    assert_eq!(asked[0], plain);
    assert_eq!(reader.payload(plain).unwrap(), Some(None));
    assert_eq!(reader.payload(asked[1]).unwrap(), Some(Some(PAYLOAD.to_owned())));
    assert_eq!(reader.payload("000000000000".parse().unwrap()).unwrap(), None);
    assert!(reader.last_answered(&agent).unwrap().is_none());
    broker.answer(plain, "8080", 0);
    assert_eq!(reader.last_answered(&agent).unwrap().unwrap().cue_id, plain);
    assert!(reader.last_answered(&silent).unwrap().is_none());
    assert!(reader.receipts("turn").unwrap().is_empty());
    broker.say(Work::Ack {
        cues: vec![plain],
        nonce: Some("turn".into()),
    });
    let receipts = reader.receipts("turn").unwrap();
    assert_eq!(receipts.len(), 1);
    assert_eq!(
        (receipts[0].cue_id, &receipts[0].agent_id, receipts[0].outcome),
        (plain, &agent, Outcome::Answered)
    );
    assert_eq!(reader.agent_of_cue(plain).unwrap(), Some(agent));
}

fn events_are_read_from_a_place_on_and_at_most_so_many(database: &AnyPlace) {
    let mut broker = Little::open(database, WALL_MS).unwrap();
    let reader = crate::open_reader(database);
    assert_eq!(reader.newest_event().unwrap(), 0);
    let agent = broker.join();
    broker.ask(&agent);
    let all = reader.events_after(0, 100).unwrap();
    let ids: Vec<i64> = all.iter().filter_map(|event| event.id).collect();
    assert!(ids.len() >= 2 && ids.is_sorted(), "{all:?}");
    assert_eq!(reader.newest_event().unwrap(), ids[ids.len() - 1]);
    assert_eq!(reader.events_after(ids[0], 1).unwrap()[0].id, Some(ids[1]));
    assert_eq!(reader.events_after(0, 1).unwrap().len(), 1);
}

#[test]
fn the_answers_of_a_project_and_what_a_question_asks_are_found() {
    let directory = tempfile::tempdir().unwrap();
    let database = directory.path().join("cueme.db");
    let mut broker = Little::open(&database, WALL_MS).unwrap();
    let (one, other) = (broker.join(), broker.join());
    let asked = [(&one, "A?"), (&other, "B?"), (&one, "C?"), (&other, "A?")]
        .map(|(agent, prompt)| broker.ask_this(agent, prompt));
    broker.answer(asked[0], "yes", 0);
    broker.answer(asked[1], "no", 0);
    let reader = crate::open_reader(&database);
    let project = reader.cue(asked[0]).unwrap().unwrap().project_dir;
    let answered = |project: &str, limit: u32| {
        let mut seen: Vec<CueId> = Vec::new();
        let visited = reader.answered_in_project(project, limit, &mut |cue| {
            seen.push(cue.cue_id);
            true
        });
        visited.map(|()| seen).unwrap()
    };
    assert_eq!(answered(&project, 9), [asked[1], asked[0]]);
    assert_eq!(answered(&project, 1), [asked[1]]);
    assert!(answered("/elsewhere", 9).is_empty());
    let content = |cue| reader.cue_row(cue).unwrap().unwrap().content;
    assert_eq!(content(asked[0]), content(asked[3]));
    assert_ne!(content(asked[0]), content(asked[2]));
}
