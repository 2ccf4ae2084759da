//! Everything that a reader says about the world.

use cueme_store::{DraftPlace, HistoryQuery, Reader, RunsWanted};
use protocol_spec::message::RunKind;

use crate::world::World;

/// Returns all reads by name, as text.
pub(crate) fn picture(reader: &dyn Reader, world: &World) -> Vec<(String, String)> {
    let mut picture = Vec::new();
    let mut add = |name: &str, value: String| picture.push((name.to_owned(), value));
    let mut seen = Vec::new();
    reader
        .inbox(&mut |cue| {
            seen.push(format!("{cue:?}"));
            true
        })
        .unwrap();
    add("inbox", seen.join("\n"));
    let mut seen = Vec::new();
    reader
        .unseen(&mut |cue| {
            seen.push(format!("{cue:?}"));
            true
        })
        .unwrap();
    add("unseen", seen.join("\n"));
    let mut seen = Vec::new();
    reader
        .agents(&mut |agent| {
            seen.push(format!("{agent:?}"));
            true
        })
        .unwrap();
    add("agents", seen.join("\n"));
    add("agent rows", format!("{:#?}", reader.agent_rows(None).unwrap()));
    add("pending", format!("{:#?}", reader.pending(None).unwrap()));
    let mut newest = reader.newest_of_agents(None).unwrap();
    newest.sort_by_key(|row| row.seq);
    add("newest", format!("{newest:#?}"));
    for agent in &world.agents {
        add(
            "agent row",
            format!("{:#?}", reader.agent_rows(Some(agent)).unwrap()),
        );
        add(
            "answerable",
            format!("{:#?}", reader.answerable(Some(agent)).unwrap()),
        );
        add(
            "newest of one",
            format!("{:#?}", reader.newest_of_agents(Some(agent)).unwrap()),
        );
        add("messages", format!("{:#?}", reader.messages(agent).unwrap()));
        add(
            "last answered",
            format!("{:#?}", reader.last_answered(agent).unwrap()),
        );
        add(
            "in a row",
            format!("{:?}", reader.automatic_in_a_row(agent).unwrap()),
        );
        add("token", format!("{:?}", reader.token_of_agent(agent).unwrap()));
        add(
            "session",
            format!("{:?}", reader.session_of_agent(agent).unwrap()),
        );
        add("open run", format!("{:?}", reader.has_open_run(agent).unwrap()));
        add(
            "draft",
            format!("{:?}", reader.draft(&DraftPlace::agent(agent)).unwrap()),
        );
        add(
            "prefix",
            format!("{:?}", reader.agents_with_prefix(&agent.as_str()[..3]).unwrap()),
        );
    }
    for cue in &world.cues {
        add("cue", format!("{:#?}", reader.cue(*cue).unwrap()));
        add("cue row", format!("{:#?}", reader.cue_row(*cue).unwrap()));
        add("payload", format!("{:?}", reader.payload(*cue).unwrap()));
        add(
            "agent of cue",
            format!("{:?}", reader.agent_of_cue(*cue).unwrap()),
        );
        add("claimed", format!("{:?}", reader.is_claimed(*cue).unwrap()));
        add("notice", format!("{:?}", reader.notice(*cue, "slack").unwrap()));
        add(
            "draft",
            format!("{:?}", reader.draft(&DraftPlace::cue(*cue)).unwrap()),
        );
        add(
            "prefix",
            format!("{:?}", reader.cues_with_prefix(cue.as_str()).unwrap()),
        );
    }
    add(
        "all prefixes",
        format!("{}", reader.cues_with_prefix("").unwrap().len()),
    );
    for agent in [None, Some(&world.agents[0])] {
        for (before, limit) in [(None, 3), (Some(5), 100), (None, 100)] {
            let query = HistoryQuery {
                agent: agent.cloned(),
                search: None,
                before,
                limit,
            };
            let mut seen = Vec::new();
            let more = reader
                .history(&query, &mut |cue| {
                    seen.push(cue.cue_id);
                    true
                })
                .unwrap();
            add("history", format!("{more} {seen:?}"));
        }
    }
    for nonce in ["turn 1", "turn 2", "none"] {
        add("receipts", format!("{:#?}", reader.receipts(nonce).unwrap()));
    }
    add("events", format!("{:#?}", reader.events_after(2, 100).unwrap()));
    add("newest event", format!("{}", reader.newest_event().unwrap()));
    add(
        "policy",
        format!(
            "{:?} {:?}",
            reader.policy_use("fast").unwrap(),
            reader.policy_use("x").unwrap()
        ),
    );
    let mut notified = reader.notified().unwrap();
    notified.sort_by_key(|sent| sent.cue.to_string());
    add(
        "notified",
        format!("{notified:?} {:?}", reader.notices_on("slack").unwrap()),
    );
    add("devices", format!("{:?}", reader.devices().unwrap()));
    add("tokens", format!("{:?}", reader.tokens().unwrap()));
    add(
        "settings",
        format!(
            "{:?} {:?}",
            reader.setting("language").unwrap(),
            reader.setting("x").unwrap()
        ),
    );
    add(
        "uploads",
        format!(
            "{:?} {:?}",
            reader.upload("upload1").unwrap(),
            reader.upload_bytes().unwrap()
        ),
    );
    let upload = reader.upload("upload1").unwrap().unwrap();
    add(
        "upload at",
        format!("{:?}", reader.upload_at(&upload.path).unwrap()),
    );
    for wanted in [
        RunsWanted {
            limit: 9,
            ..RunsWanted::default()
        },
        RunsWanted {
            limit: 9,
            kind: Some(RunKind::Local),
            ..RunsWanted::default()
        },
        RunsWanted {
            limit: 9,
            name: Some("bc".into()),
            ..RunsWanted::default()
        },
        RunsWanted {
            limit: 1,
            agent: Some(world.agents[1].clone()),
            ..RunsWanted::default()
        },
    ] {
        add("runs", format!("{:#?}", reader.runs(&wanted).unwrap()));
    }
    add("cloud runs", format!("{:#?}", reader.open_cloud_runs(5).unwrap()));
    add(
        "run",
        format!(
            "{:#?} {:#?}",
            reader.one_run(world.run).unwrap(),
            reader.run_events(world.run).unwrap()
        ),
    );
    picture
}

/// Returns the results of a reader, as text.
pub(crate) fn found(reader: &dyn Reader, world: &World) -> Vec<(String, String)> {
    let words = [
        "harbour",
        "HARBOURS",
        "data",
        "数据",
        "数据库",
        "据库还",
        "用SQLite数据",
        "cafe",
        "naive",
        "sqlite postgresql",
        "hunter2",
        "redacted",
        "zeppelin",
        "kettle",
        "lighthouse",
        "odd",
        "confirm",
        "x'; DROP TABLE words; --",
        "a & b | !c",
        "",
        "q",
        "password the",
        "用",
        "choice",
    ];
    let mut picture = Vec::new();
    for word in words {
        for (agent, before, limit) in [
            (None, None, 10),
            (Some(&world.agents[0]), None, 10),
            (None, Some(6), 1),
        ] {
            let found = reader.search_cues(word, agent, before, limit).unwrap();
            let found: Vec<_> = found.iter().map(|(row, snippet)| (row.cue_id, snippet)).collect();
            picture.push((format!("search {word} {before:?}"), format!("{found:?}")));
        }
        let query = HistoryQuery {
            search: Some(word.into()),
            agent: None,
            before: None,
            limit: 2,
        };
        let mut seen = Vec::new();
        let more = reader
            .history(&query, &mut |cue| {
                seen.push(cue.cue_id);
                true
            })
            .unwrap();
        picture.push((format!("history {word}"), format!("{more} {seen:?}")));
        let recalled = reader.recall(word, Some("/srv/harbour")).unwrap();
        let matches: Vec<_> = recalled
            .matches
            .iter()
            .map(|found| (&found.agent.agent_id, &found.why))
            .collect();
        picture.push((
            format!("recall {word}"),
            format!("{} {matches:?}", recalled.is_clear),
        ));
    }
    picture
}

/// Compares the results of two readers.
pub(crate) fn assert_same(one: Vec<(String, String)>, other: Vec<(String, String)>) {
    assert_eq!(one.len(), other.len());
    for ((name, one), (_, other)) in one.into_iter().zip(other) {
        assert_eq!(one, other, "{name}");
    }
}
