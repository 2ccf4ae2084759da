//! Records of another program stand before everything that was asked here.

use cueme_broker::engine::{DiskReserve, PastQuestion, Work};
use cueme_store::{HistoryQuery, Reader, Upload};
use protocol_spec::answer::{Answer, Attachment};
use protocol_spec::id::{AgentId, RequestId};
use protocol_spec::message::{CueView, Imported, PastAgent, PastEnd, Reply};
use protocol_spec::outcome::{Delivery, Kind, Origin, Outcome};
use protocol_spec::time::Timestamp;
use uuid::Uuid;

use crate::{Little, WALL_MS};

use crate::place::{AnyPlace, on_every_store};

on_every_store!(
    the_same_question_twice_in_one_import_is_kept_once,
    what_is_imported_is_past_found_and_in_the_order_of_its_time,
    what_was_open_at_the_first_import_gets_its_end_at_the_next,
    times_beyond_all_calendars_keep_a_place,
);

fn agent() -> PastAgent {
    PastAgent {
        agent_id: "brave-otter-7".parse().unwrap(),
        runtime: "cursor".parse().unwrap(),
        project_dir: "/old".into(),
        terminal: "unknown".into(),
        name: Some("Otter".into()),
        joined_at: Timestamp::from_millis(1000),
        seen_at: Timestamp::from_millis(9000),
    }
}

fn question(number: u128, agent: &AgentId, prompt: &str, asked_at: i64) -> PastQuestion {
    PastQuestion {
        request: RequestId(Uuid::from_u128(number)),
        agent: agent.clone(),
        kind: Kind::Cue,
        prompt: prompt.into(),
        payload: None,
        asked_at: Timestamp::from_millis(asked_at),
        ended: None,
    }
}

fn answered(text: &str, at: i64) -> Option<PastEnd> {
    let answer = Answer {
        text: Some(text.into()),
        ..Answer::default()
    };
    Some(PastEnd {
        answer: Some(answer),
        reason: None,
        at: Timestamp::from_millis(at),
    })
}

fn import(broker: &mut Little, agents: Vec<PastAgent>, cues: Vec<PastQuestion>) -> Imported {
    let work = Work::Import {
        agents,
        cues,
        refused: Vec::new(),
    };
    match &*broker.say(work)[0].1 {
        Reply::Imported(imported) => imported.clone(),
        other => panic!("{other:?}"),
    }
}

fn newest_first(reader: &dyn Reader) -> Vec<CueView> {
    let mut seen = Vec::new();
    let query = HistoryQuery {
        limit: 100,
        ..HistoryQuery::default()
    };
    let visited = reader.history(&query, &mut |cue| {
        seen.push(cue);
        true
    });
    visited.unwrap();
    seen
}

fn the_same_question_twice_in_one_import_is_kept_once(database: &AnyPlace) {
    let mut broker = Little::open(database, WALL_MS).unwrap();
    let past = agent();
    let twice = question(1, &past.agent_id, "Twice?", 2000);
    let imported = import(&mut broker, vec![past], vec![twice.clone(), twice]);
    assert_eq!((imported.cues, imported.known), (1, 1));
    assert_eq!(newest_first(&*crate::open_reader(database)).len(), 1);
}

fn what_is_imported_is_past_found_and_in_the_order_of_its_time(database: &AnyPlace) {
    let mut broker = Little::open(database, WALL_MS).unwrap();
    let here = broker.join();
    broker.ask_this(&here, "Asked here?");
    let past = agent();
    let id = &past.agent_id;
    let mut closed = question(3, id, "Third?", 5000);
    closed.ended = Some(PastEnd {
        answer: None,
        reason: Some("nobody cared".into()),
        at: Timestamp::from_millis(7000),
    });
    let mut first = question(1, id, "First kettle?", 2000);
    first.ended = answered("boiled", 6000);
    // Two were asked in the same moment: the one that is imported first comes first.
    let cues = vec![question(2, id, "Second?", 5000), closed, first];
    let imported = import(&mut broker, vec![past.clone()], cues.clone());
    assert_eq!((imported.agents, imported.cues), (1, 3));
    let reader = crate::open_reader(database);
    let all = newest_first(&*reader);
    let prompts: Vec<&str> = all.iter().map(|cue| cue.prompt.as_str()).collect();
    assert_eq!(prompts, ["Asked here?", "Third?", "Second?", "First kettle?"]);
    let (third, second, first) = (&all[1], &all[2], &all[3]);
    assert_eq!(
        (third.outcome, second.outcome, first.outcome),
        (Outcome::Cancelled, Outcome::Cancelled, Outcome::Answered)
    );
    for cue in &all[1..] {
        assert_eq!(
            (cue.delivery, cue.origin),
            (Delivery::Acknowledged, Origin::Import)
        );
    }
    assert_eq!(first.answer.as_ref().unwrap().text.as_deref(), Some("boiled"));
    assert_eq!(
        (first.asked_at, first.decided_at, first.acknowledged_at),
        (
            Timestamp::from_millis(2000),
            Some(Timestamp::from_millis(6000)),
            Some(Timestamp::from_millis(6000))
        )
    );
    assert!(third.text.as_ref().unwrap().contains("nobody cared"), "{third:?}");
    assert_eq!(third.seq, second.seq + 1);
    while broker.core.index_some() {}
    let found = reader.search_cues("kettle", None, None, 10).unwrap();
    assert_eq!(found[0].0.cue_id, first.cue_id);
    let row = &reader.agent_rows(Some(id)).unwrap()[0];
    assert_eq!(
        (
            row.name.as_deref(),
            row.project_dir.as_str(),
            row.joined_at,
            row.seen_at
        ),
        (Some("Otter"), "/old", past.joined_at, past.seen_at)
    );
    // Sent again it changes nothing.
    let again = import(&mut broker, vec![past], cues);
    assert_eq!((again.agents, again.cues, again.ended, again.known), (0, 0, 0, 3));
    assert_eq!(newest_first(&*reader).len(), 4);
}

fn what_was_open_at_the_first_import_gets_its_end_at_the_next(database: &AnyPlace) {
    let mut broker = Little::open(database, WALL_MS).unwrap();
    let past = agent();
    let mut open = question(1, &past.agent_id, "First?", 2000);
    import(&mut broker, vec![past], vec![open.clone()]);
    let upload = Upload {
        upload_id: "picture".into(),
        path: "/files/picture.png".into(),
        name: "picture.png".into(),
        media_type: "image/png".into(),
        bytes: 7,
        cue_ids: Vec::new(),
    };
    let now = broker.now;
    let noted = broker.core.write(now, DiskReserve::Keep, |store| {
        store.note_uploads(std::slice::from_ref(&upload), Timestamp::from_millis(1))
    });
    noted.unwrap();
    open.ended = answered("yes", 8000);
    if let Some(PastEnd {
        answer: Some(answer), ..
    }) = &mut open.ended
    {
        answer.attachments.push(Attachment {
            path: upload.path.clone(),
            name: None,
            media_type: None,
        });
    }
    let ended = import(&mut broker, Vec::new(), vec![open.clone()]);
    assert_eq!((ended.ended, ended.known), (1, 0));
    let reader = crate::open_reader(database);
    let all = newest_first(&*reader);
    assert_eq!((all.len(), all[0].outcome), (1, Outcome::Answered));
    assert_eq!(all[0].acknowledged_at, Some(Timestamp::from_millis(8000)));
    // The file belongs to the answer that carries it.
    let carried = reader.upload("picture").unwrap().unwrap().cue_ids;
    assert_eq!(carried, [all[0].cue_id.as_str()]);
    open.ended = answered("no", 9000);
    assert_eq!(import(&mut broker, Vec::new(), vec![open]).known, 1);
    assert_eq!(
        newest_first(&*reader)[0].answer.as_ref().unwrap().text.as_deref(),
        Some("yes")
    );
}

fn times_beyond_all_calendars_keep_a_place(database: &AnyPlace) {
    let mut broker = Little::open(database, WALL_MS).unwrap();
    let past = agent();
    let id = past.agent_id.clone();
    let cues = vec![
        question(1, &id, "Never?", i64::MAX),
        question(2, &id, "Now?", WALL_MS),
        question(3, &id, "Always?", i64::MIN),
    ];
    assert_eq!(import(&mut broker, vec![past], cues).cues, 3);
    let all = newest_first(&*crate::open_reader(database));
    let prompts: Vec<&str> = all.iter().map(|cue| cue.prompt.as_str()).collect();
    assert_eq!(prompts, ["Never?", "Now?", "Always?"]);
    // A browser counts exactly to two to the power of 53.
    assert!(
        all.iter().all(|cue| (-(1_i64 << 53)..0).contains(&cue.seq)),
        "{all:?}"
    );
}
