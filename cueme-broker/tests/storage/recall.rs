//! Recall: natural hints on agents that resemble each other.

use cueme_broker::engine::Work;

use protocol_spec::id::AgentId;
use protocol_spec::outcome::{Kind, Origin};

use crate::{Little, WALL_MS};

use crate::place::{AnyPlace, on_every_store};

on_every_store!(
    what_is_remembered_finds_its_agent_and_hardly_ever_another,
    where_several_fit_alike_nobody_is_named_and_an_id_is_always_enough,
);

const FIXTURE: &str = include_str!("fixtures/recall.txt");
/// The least hints of a hundred that have to find their agent …
const RIGHT_MIN_PERCENT: usize = 90;
/// … and the most that may find another.
const WRONG_MAX_PERCENT: usize = 1;

struct Hint {
    words: &'static str,
    project: Option<&'static str>,
    /// `None`, where no agent fits.
    means: Option<AgentId>,
    is_held_back: bool,
}

/// Joins and asks as the fixture says; returns what is remembered.
fn live(broker: &mut Little) -> Vec<Hint> {
    let mut hints = Vec::new();
    let mut current: Option<(AgentId, &'static str)> = None;
    for line in FIXTURE.lines().filter(|line| !line.starts_with('#')) {
        let (mark, rest) = line.split_once(' ').unwrap();
        let agent = || current.clone().unwrap();
        match mark {
            ">" | "?" => {
                let (words, project) = match rest.strip_prefix("@ ") {
                    Some(words) => (words, Some(agent().1)),
                    None => (rest, None),
                };
                hints.push(Hint {
                    words,
                    project,
                    means: Some(agent().0),
                    is_held_back: mark == "?",
                });
            }
            "!" => hints.push(Hint {
                words: rest,
                project: None,
                means: None,
                is_held_back: false,
            }),
            _ => {
                let mut parts = line.split(" | ");
                let (runtime, project) = (parts.next().unwrap(), parts.next().unwrap());
                let agent = broker.join_as(runtime, project);
                for part in parts {
                    let (question, answer) = part.split_once(" => ").unwrap();
                    let cue = broker.ask_this(&agent, question);
                    broker.answer(cue, answer, 0);
                    broker.acknowledge(cue);
                }
                current = Some((agent, project));
            }
        }
    }
    hints
}

fn what_is_remembered_finds_its_agent_and_hardly_ever_another(database: &AnyPlace) {
    let mut broker = Little::open(database, WALL_MS).unwrap();
    let hints = live(&mut broker);
    while broker.core.index_some() {}
    let reader = crate::open_reader(database);
    for is_held_back in [false, true] {
        let asked: Vec<&Hint> = hints
            .iter()
            .filter(|hint| hint.is_held_back == is_held_back)
            .collect();
        let (mut right, mut wrong) = (0, Vec::new());
        for hint in &asked {
            let found = reader.recall(hint.words, hint.project).unwrap();
            let named = found.is_clear.then(|| found.matches[0].agent.agent_id.clone());
            if named == hint.means {
                right += 1;
            } else if named.is_some() {
                wrong.push(hint.words);
            } else {
                println!("not found: {}", hint.words);
            }
        }
        println!(
            "held back: {is_held_back}; {right} of {} right, wrong: {wrong:?}",
            asked.len()
        );
        assert!(
            right * 100 >= asked.len() * RIGHT_MIN_PERCENT,
            "{right} of {}",
            asked.len()
        );
        assert!(wrong.len() * 100 <= asked.len() * WRONG_MAX_PERCENT, "{wrong:?}");
    }
    let count = |wanted: bool| hints.iter().filter(|hint| hint.is_held_back == wanted).count();
    assert!(count(false) >= 200 && count(true) >= 50);
}

fn where_several_fit_alike_nobody_is_named_and_an_id_is_always_enough(database: &AnyPlace) {
    let mut broker = Little::open(database, WALL_MS).unwrap();
    let (one, other) = (broker.join_in("/work/shop"), broker.join_in("/work/shop"));
    for agent in [&one, &other] {
        let work = Work::ask(
            agent.clone(),
            Kind::Cue,
            "Shall I migrate the invoices?".into(),
            None,
            Origin::Agent,
        );
        broker.say(work);
    }
    broker.ask_this(&one, "And the zeppelins?");
    while broker.core.index_some() {}
    let reader = crate::open_reader(database);
    let ambiguous = reader.recall("migrating invoices", Some("/work/shop")).unwrap();
    assert!(
        !ambiguous.is_clear && ambiguous.matches.len() == 2,
        "{ambiguous:?}"
    );
    let named = |hints: &str| {
        let found = reader.recall(hints, None).unwrap();
        found.is_clear.then(|| found.matches[0].agent.agent_id.clone())
    };
    assert_eq!(named("invoices and a zeppelin"), Some(one.clone()));
    assert_eq!(named(&format!("I am {other}")), Some(other));
    assert_eq!(named("the one that said something"), None);
    assert_eq!(named("shop"), None, "two work there");
}
