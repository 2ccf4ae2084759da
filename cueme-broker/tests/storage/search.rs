//! Search finds questions and answers.

use cueme_store::HistoryQuery;

use crate::{Little, WALL_MS};

use crate::place::{AnyPlace, on_every_store};

on_every_store!(
    a_rare_word_recalls_better_than_a_common_one_and_the_beginning_of_a_word_is_enough,
    what_is_found_is_newest_first_and_can_be_turned_over_page_by_page,
    history_can_be_turned_over_page_by_page_and_left_early,
    indexing_goes_on_batch_by_batch_until_everything_is_found,
    long_texts_are_indexed_a_few_at_a_time,
    the_same_project_and_what_an_agent_is_make_it_likelier,
    a_recall_names_five_agents_at_most_and_only_those_that_are_wanted,
);

fn a_rare_word_recalls_better_than_a_common_one_and_the_beginning_of_a_word_is_enough(database: &AnyPlace) {
    let mut broker = Little::open(database, WALL_MS).unwrap();
    let (plain, special) = (broker.join(), broker.join());
    broker.ask_this(&special, "Shall the zeppelin land in the table?");
    for number in 0..40 {
        broker.ask_this(&plain, &format!("Shall I change the table in step {number}?"));
    }
    while broker.core.index_some() {}
    let reader = crate::open_reader(database);
    let first = |hints: &str| {
        reader.recall(hints, None).unwrap().matches[0]
            .agent
            .agent_id
            .clone()
    };
    assert_eq!(first("table"), plain);
    assert_eq!(first("table zeppelin"), special);
    assert_eq!(first("zepp"), special);
    assert_eq!(reader.recall("submarine", None).unwrap().matches.len(), 0);
}

fn what_is_found_is_newest_first_and_can_be_turned_over_page_by_page(database: &AnyPlace) {
    let mut broker = Little::open(database, WALL_MS).unwrap();
    let (one, other) = (broker.join(), broker.join());
    let asked = ["the harbour", "a ship", "harbours", "the harbour again"]
        .map(|prompt| broker.ask_this(&one, prompt));
    let elsewhere = broker.ask_this(&other, "another harbour");
    // Words of its answer count as well, and do not make one question two.
    broker.answer(asked[1], "in the harbour", 0);
    broker.answer(asked[3], "the harbour, yes", 0);
    while broker.core.index_some() {}
    let reader = crate::open_reader(database);
    let found = |agent, before, limit| {
        let found = reader.search_cues("harbour", agent, before, limit).unwrap();
        found
            .into_iter()
            .map(|(row, _)| (row.cue_id, row.seq))
            .collect::<Vec<_>>()
    };
    let all = found(None, None, 10);
    let ids: Vec<_> = all.iter().map(|(cue, _)| *cue).collect();
    assert_eq!(ids, [elsewhere, asked[3], asked[2], asked[1], asked[0]]);
    assert_eq!(found(Some(&one), None, 10), all[1..]);
    assert_eq!(found(None, None, 2), all[..2]);
    assert_eq!(found(None, Some(all[1].1), 10), all[2..]);
    assert_eq!(found(None, Some(all[1].1), 1), all[2..3]);
    let page = |limit, before| {
        let mut seen = Vec::new();
        let query = HistoryQuery {
            search: Some("harbour".into()),
            agent: None,
            before,
            limit,
        };
        let has_more = reader.history(&query, &mut |cue| {
            seen.push(cue.cue_id);
            true
        });
        (seen, has_more.unwrap())
    };
    assert_eq!(page(4, None), (ids[..4].to_vec(), true));
    assert_eq!(page(5, None), (ids.clone(), false));
    assert_eq!(page(9, Some(all[3].1)), (ids[4..].to_vec(), false));
}

fn history_can_be_turned_over_page_by_page_and_left_early(database: &AnyPlace) {
    let mut broker = Little::open(database, WALL_MS).unwrap();
    let (one, other) = (broker.join(), broker.join());
    let asked =
        [(&one, "A?"), (&other, "B?"), (&one, "C?")].map(|(agent, prompt)| broker.ask_this(agent, prompt));
    let reader = crate::open_reader(database);
    let page = |agent: Option<&_>, limit, visits: usize| {
        let mut seen = Vec::new();
        let query = HistoryQuery {
            search: None,
            agent: agent.cloned(),
            before: None,
            limit,
        };
        let has_more = reader.history(&query, &mut |cue| {
            seen.push(cue.cue_id);
            seen.len() < visits
        });
        (seen, has_more.unwrap())
    };
    assert_eq!(page(None, 3, 9), (vec![asked[2], asked[1], asked[0]], false));
    assert_eq!(page(None, 2, 9), (vec![asked[2], asked[1]], true));
    assert_eq!(page(Some(&one), 2, 9), (vec![asked[2], asked[0]], false));
    assert_eq!(page(None, 3, 1).0, [asked[2]]);
}

fn indexing_goes_on_batch_by_batch_until_everything_is_found(database: &AnyPlace) {
    let mut broker = Little::open(database, WALL_MS).unwrap();
    let agent = broker.join();
    for number in 0..201 {
        broker.ask_this(&agent, &format!("question number{number}"));
    }
    let reader = crate::open_reader(database);
    let count = || reader.search_cues("question", None, None, 1000).unwrap().len();
    assert!(broker.core.index_some(), "there is more than one batch");
    assert_eq!(count(), 200);
    assert!(!broker.core.index_some());
    assert_eq!(count(), 201);
}

fn long_texts_are_indexed_a_few_at_a_time(database: &AnyPlace) {
    let mut broker = Little::open(database, WALL_MS).unwrap();
    let agent = broker.join();
    for number in 0..10 {
        broker.ask_this(&agent, &format!("{number} {}", "long text ".repeat(10_000)));
    }
    let reader = crate::open_reader(database);
    let count = || reader.search_cues("text", None, None, 100).unwrap().len();
    assert!(broker.core.index_some(), "there is more to do");
    assert_eq!(count(), 3);
    while broker.core.index_some() {}
    assert_eq!(count(), 10);
}

fn the_same_project_and_what_an_agent_is_make_it_likelier(database: &AnyPlace) {
    let mut broker = Little::open(database, WALL_MS).unwrap();
    let [near, far, silent] = ["/work/near", "/work/far", "/work/silent"].map(|place| broker.join_in(place));
    broker.ask_this(&near, "Is the kettle on?");
    broker.ask_this(&far, "Is the kettle on the kettle?");
    while broker.core.index_some() {}
    let reader = crate::open_reader(database);
    let recalled = |hints: &str, place: Option<&str>| {
        let matches = reader.recall(hints, place).unwrap().matches;
        matches
            .into_iter()
            .map(|found| (found.agent.agent_id, found.why))
            .collect::<Vec<_>>()
    };
    let first = |hints, place| recalled(hints, place).swap_remove(0);
    let (agent, why) = first("kettle", Some("/work/near"));
    assert_eq!(agent, near);
    assert_eq!(
        why,
        [
            "asked \"Is the kettle on?\"",
            "works in the same project directory"
        ]
    );
    assert_eq!(first("kettle", Some("/work/far")).0, far);
    // Where it works is no reason alone, but its name is one.
    assert_eq!(recalled("kettle", Some("/work/silent")).len(), 2);
    assert_eq!(
        first("silent", None),
        (silent.clone(), vec!["its project is /work/silent".to_owned()])
    );
    assert_eq!(recalled("terminal work", None).len(), 3);
    assert_eq!(first(silent.as_str(), None).0, silent);
    // Two words of its project weigh more than one of another's.
    assert_eq!(first("far work", None).0, far);
}

fn a_recall_names_five_agents_at_most_and_only_those_that_are_wanted(database: &AnyPlace) {
    let mut broker = Little::open(database, WALL_MS).unwrap();
    let agents = [(); 6].map(|()| broker.join());
    for agent in &agents {
        broker.ask_this(agent, "Is the kettle on?");
    }
    while broker.core.index_some() {}
    let reader = crate::open_reader(database);
    assert_eq!(reader.recall("kettle", None).unwrap().matches.len(), 5);
    let wanted = reader.recall_among("kettle", None, &|agent| Ok(*agent == agents[3]));
    let ids: Vec<_> = wanted
        .unwrap()
        .matches
        .into_iter()
        .map(|found| found.agent.agent_id)
        .collect();
    assert_eq!(ids, agents[3..4]);
}
