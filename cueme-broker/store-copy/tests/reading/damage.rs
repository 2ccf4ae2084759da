//! Damage concerns one question, and a check finds it.

use cueme_store::Storage;
use cueme_test_kit::postgres::Server;

use crate::open_postgres;
use crate::world::Writer;

#[test]
fn one_damaged_question_keeps_nobody_from_the_others() {
    let Some(server) = Server::start() else { return };
    let url = server.database();
    let (storage, store) = open_postgres(&url);
    let mut writer = Writer::new(&*store);
    let agent = writer.join(1, "cursor", "/p");
    let cues =
        [1, 2, 3, 5].map(|number| writer.ask(number, &agent, &format!("Question {number}?"), Some("{}")));
    writer.answer(cues[0], "yes", Some("ada"));
    writer.answer(cues[1], "no", Some("ada"));
    let reader = storage.reader();
    assert!(reader.check().unwrap().problems.is_empty());
    server.run(&url, "UPDATE decisions SET text = 'maybe' WHERE seq = 1");
    server.run(
        &url,
        "UPDATE decisions SET answer = '{', seal = NULL WHERE seq = 2",
    );
    server.run(&url, "UPDATE questions SET payload = '{\"type\":' WHERE seq = 3");
    let mut seen = Vec::new();
    reader
        .inbox(&mut |cue| {
            seen.push((cue.cue_id, cue.damaged, cue.text));
            true
        })
        .unwrap();
    let none = None::<String>;
    assert_eq!(
        seen,
        [
            (cues[0], true, none.clone()),
            (cues[1], true, none.clone()),
            (cues[2], true, none.clone()),
            (cues[3], false, none)
        ]
    );
    let pending = reader.pending(None).unwrap();
    let ids = |rows: &[cueme_store::CueRow]| rows.iter().map(|row| row.cue_id).collect::<Vec<_>>();
    assert_eq!(ids(&pending.answerable), [cues[3]]);
    assert_eq!(
        ids(&pending.damaged),
        [cues[2], cues[0]].iter().rev().copied().collect::<Vec<_>>()
    );
    let problems = reader.check().unwrap().problems;
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert!(
        problems[0].contains(cues[0].as_str()) && problems[0].contains("cueme cancel"),
        "{problems:?}"
    );
}
