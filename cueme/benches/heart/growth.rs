//! The cost of reads as the history grows: each read shows the same, only the history is longer.

use std::borrow::Cow;
use std::process::Command;
use std::time::{Duration, Instant};

use cueme_test_kit::Wire;
use cueme_test_kit::postgres::Server;
use protocol_spec::id::AgentId;
use protocol_spec::message::{History, Nothing, Recall, Reply, Request};
use tempfile::TempDir;

use crate::home::{CUEME, Home, empty_home, stop_broker};
use crate::rows::{ANSWER, Rows, mint};
use crate::table::{Goal, Row, median, ratio, show};
use crate::visitor::Visitor;

/// The lengths of the history, in questions.
const STORED: [usize; 3] = [100, 10_000, 1_000_000];
/// Few, so that even the shortest past fills what is shown of one.
const AGENTS: usize = 4;
/// The number of open questions.
const OPEN: usize = 20;
const SHOWN: u32 = 20;
/// Questions that are written in one commit.
const COMMIT: usize = 10_000;
/// Something a person looks at.
type Look = (&'static str, fn(&mut Past));

const LOOKS: [Look; 6] = [
    ("the inbox", Past::inbox),
    ("the page's state", Past::state),
    ("the newest of one agent on the page", Past::timeline),
    ("search for a word in every question", Past::search_common),
    ("search for a word in one question", Past::search_rare),
    ("recall by two words", Past::recall),
];

pub(crate) fn measure(scale: usize) -> Vec<Row> {
    let pasts = STORED.map(|stored| Past::start(write(stored)));
    grown("growth", STORED, pasts, scale)
}

/// Measures growth on PostgreSQL, where `cueme store move` brings each history.
pub(crate) fn measure_postgres(scale: usize) -> Vec<Row> {
    let Some(server) = Server::own(&[]) else {
        return Vec::new();
    };
    let mut longest = None;
    let pasts = STORED.map(|stored| {
        let past = write(stored);
        let url = server.database();
        eprintln!("moving them …");
        let started = Instant::now();
        let moved = Command::new(CUEME)
            .args(["store", "move", &url])
            .env("CUEME_HOME", past.0.path())
            .status();
        assert!(moved.is_ok_and(|status| status.success()));
        let moving = started.elapsed();
        stop_broker(past.0.path());
        let mut past = Past::start(past);
        // The search index is not copied: the broker makes it, and answers meanwhile.
        eprintln!("indexing them …");
        let started = Instant::now();
        let mut slowest = Duration::ZERO;
        while server.run(&url, "SELECT EXISTS (SELECT 1 FROM unindexed)") == "t" {
            let searched = Instant::now();
            past.search_common();
            slowest = slowest.max(searched.elapsed());
        }
        longest = Some((started.elapsed(), moving, slowest));
        past
    });
    let id = "growth on PostgreSQL";
    let indexed = longest.map(|(indexing, moving, slowest)| {
        let row = |what: Cow<'static, str>, ours, floor| Row {
            id,
            what,
            ours: show(ours),
            floor: show(floor),
            ratio: ratio(ours, floor),
            goal: Goal::Told,
            aim: Goal::Told,
        };
        let stored = STORED[2];
        [
            row(
                format!("indexing {stored} moved questions ÷ moving them").into(),
                indexing,
                moving,
            ),
            row(
                "… the slowest search meanwhile ÷ all of the indexing".into(),
                slowest,
                indexing,
            ),
        ]
    });
    let mut rows = grown(id, STORED, pasts, scale);
    rows.extend(indexed.into_iter().flatten());
    rows
}

fn grown(id: &'static str, stored: [usize; 3], mut pasts: [Past; 3], scale: usize) -> Vec<Row> {
    // The logarithm of the longest past to that of the shortest.
    let logarithm = (stored[2] as f64).ln() / (stored[0] as f64).ln();
    LOOKS
        .iter()
        .flat_map(|(what, look)| {
            let [short, longer, longest] = compare(&mut pasts, *look, 10 * scale);
            [(stored[1], longer), (stored[2], longest)].map(|(length, ours)| Row {
                id,
                what: format!("{what}, {length} stored questions ÷ {}", stored[0]).into(),
                ours: show(ours),
                floor: show(short),
                ratio: ratio(ours, short),
                goal: Goal::Told,
                aim: Goal::AtMost(logarithm),
            })
        })
        .collect()
}

/// Looks at each in turn, and returns the middle of the times for each.
fn compare(pasts: &mut [Past; 3], look: fn(&mut Past), rounds: usize) -> [Duration; 3] {
    let mut times = [const { Vec::new() }; 3];
    for round in 0..=rounds {
        for (past, times) in pasts.iter_mut().zip(&mut times) {
            let started = Instant::now();
            look(past);
            // The first fills what every later one finds warm.
            if round > 0 {
                times.push(started.elapsed());
            }
        }
    }
    times.map(|mut times| median(&mut times))
}

/// A broker with a past, and somebody who looks at it in a terminal and on the page.
struct Past {
    _home: Home,
    wire: Wire,
    visitor: Visitor,
    agent: AgentId,
}

impl Past {
    fn start((directory, agent): (TempDir, AgentId)) -> Self {
        let home = Home::start_in(directory);
        Self {
            wire: home.connect(),
            visitor: Visitor::to(&home),
            agent,
            _home: home,
        }
    }

    fn inbox(&mut self) {
        self.wire.send(&Request::Inbox(Nothing {}));
        assert_eq!(self.receive_all(), OPEN);
    }

    /// Receives a list; returns how long it is.
    fn receive_all(&mut self) -> usize {
        let mut count = 0;
        loop {
            match self.wire.receive() {
                Reply::Cue(_) => count += 1,
                Reply::End(_) => return count,
                other => panic!("{other:?}"),
            }
        }
    }

    fn state(&mut self) {
        self.get("/api/v1/state".to_owned());
    }

    fn timeline(&mut self) {
        self.get(format!("/api/v1/agents/{}/timeline?limit={SHOWN}", self.agent));
    }

    fn search_common(&mut self) {
        self.search("migration");
    }

    /// The first of all: nothing stops a search that begins with the newest before it has found it.
    fn search_rare(&mut self) {
        self.search("n0x");
    }

    fn search(&mut self, words: &str) {
        self.wire.send(&Request::History(History {
            search: Some(words.to_owned()),
            limit: Some(SHOWN),
            ..History::default()
        }));
        assert!(self.receive_all() > 0, "{words} is found");
    }

    fn recall(&mut self) {
        self.wire.send(&Request::Recall(Recall {
            hints: "migration orders".to_owned(),
            project_dir: None,
        }));
        assert!(matches!(self.wire.receive(), Reply::Recalled(_)));
    }

    fn get(&mut self, path: String) {
        let body = self.visitor.get(&path);
        assert!(body.len() > 100, "{path} shows something");
    }
}

/// Writes a history of so many questions into the store of a broker that has not been started, and returns one of its agents.
fn write(stored: usize) -> (TempDir, AgentId) {
    eprintln!("writing {stored} questions …");
    let (directory, database) = empty_home();
    let mut rows = Rows::open(&database);
    let agents = rows.join(AGENTS);
    for first in (0..stored).step_by(COMMIT) {
        rows.commit(|rows| {
            for number in first..stored.min(first + COMMIT) {
                let agent = &agents[number % AGENTS];
                let request = mint();
                let cue = rows.ask(request, agent, &prompt(number));
                if number + OPEN < stored {
                    rows.decide(request, cue, agent, ANSWER);
                    rows.acknowledge(cue, agent);
                }
            }
        });
    }
    rows.index();
    (directory, agents[0].clone())
}

/// A question of its own, about what all of them are about.
fn prompt(number: usize) -> String {
    format!("Shall I go on with the migration of the orders table in step n{number}x, or wait until tonight?")
}
