//! Whole lives of questions per second, against a loop that only writes the same rows.

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc;
use std::time::Instant;

use cueme_broker::machine::{Change, ContentKey};
use cueme_broker::store::{Store, Synchronous};
use protocol_spec::answer::Answer;
use protocol_spec::id::{AgentId, CueId, RequestId};
use protocol_spec::message::{Ack, EventKind, Reply, Request};
use protocol_spec::outcome::{Kind, Origin, Outcome};
use protocol_spec::time::Timestamp;
use uuid::Uuid;

use crate::home::{Home, Wire};
use crate::table::{Goal, Row};

const CLIENTS: usize = 64;
const PROMPT: &str = "Shall I go on with the migration of the orders table, or wait until tonight?";
const ANSWER: &str = "Go on, but keep the old table until tomorrow.";

pub(crate) fn measure(scale: usize) -> Vec<Row> {
    let (mut ours, mut floors) = (Vec::new(), Vec::new());
    for _ in 0..scale.min(3) {
        floors.push(bare_lives_per_second(400 * scale));
        ours.push(lives_per_second(100 * scale));
    }
    let middle = |rates: &mut Vec<f64>| {
        rates.sort_by(f64::total_cmp);
        rates[rates.len() / 2]
    };
    let (ours, floor) = (middle(&mut ours), middle(&mut floors));
    vec![Row {
        what: "durable question lives per second, 64 clients ÷ bare group-commit loop of the same rows",
        ours: format!("{ours:.0}/s"),
        floor: format!("{floor:.0}/s"),
        ratio: ours / floor,
        goal: Goal::AtLeast(0.6),
    }]
}

/// 64 agents ask, two humans answer whatever is asked, each answer is acknowledged.
fn lives_per_second(lives_per_client: usize) -> f64 {
    let home = Home::start();
    let agents: Vec<AgentId> = {
        let mut wire = home.connect();
        (0..CLIENTS).map(|_| wire.join()).collect()
    };
    let socket = home.socket();
    let started = Instant::now();
    std::thread::scope(|scope| {
        let mut humans = Vec::new();
        for _ in 0..2 {
            let (sender, asked) = mpsc::channel::<CueId>();
            let socket = &socket;
            scope.spawn(move || answer_all(socket, &asked));
            humans.push(sender);
        }
        for (index, agent) in agents.iter().enumerate() {
            let human = humans[index % humans.len()].clone();
            let socket = &socket;
            scope.spawn(move || live(socket, agent, lives_per_client, &human));
        }
        drop(humans);
    });
    (CLIENTS * lives_per_client) as f64 / started.elapsed().as_secs_f64()
}

fn live(socket: &Path, agent: &AgentId, lives: usize, human: &mpsc::Sender<CueId>) {
    let mut wire = Wire::connect(socket);
    for life in 0..lives {
        let cue = wire.ask(agent, format!("{PROMPT} ({life})"));
        human.send(cue).expect("a human");
        match wire.receive() {
            Reply::Outcome(told) => assert_eq!(told.cue_id, cue),
            other => panic!("{other:?}"),
        }
        wire.send(&Request::Ack(Ack {
            cue_ids: vec![cue],
            nonce: None,
        }));
        assert!(matches!(wire.receive(), Reply::Acked(_)));
    }
}

/// Answers in a pipeline: everything that was asked meanwhile goes out before replies are read.
fn answer_all(socket: &Path, asked: &mpsc::Receiver<CueId>) {
    let mut wire = Wire::connect(socket);
    while let Ok(first) = asked.recv() {
        let batch: Vec<CueId> = std::iter::once(first).chain(asked.try_iter()).collect();
        for cue in &batch {
            let answer = Answer {
                text: Some(ANSWER.into()),
                ..Answer::default()
            };
            wire.send(&Request::Answer(protocol_spec::message::GiveAnswer {
                cue: cue.to_string(),
                answer,
                by: None,
                hold_ms: 0,
            }));
        }
        for _ in batch {
            assert!(matches!(wire.receive(), Reply::Decided(_)));
        }
    }
}

/// The same rows for 64 questions at a time: asked, decided, acknowledged, each in one durable commit.
fn bare_lives_per_second(groups: usize) -> f64 {
    let directory = tempfile::tempdir().expect("a directory");
    let store = Store::open(&directory.path().join("floor.db"), Synchronous::Full, true).expect("a store");
    let at = Timestamp::from_millis(1_790_000_000_000);
    let agent = AgentId::from_random(1);
    let commit = |changes: &mut dyn FnMut()| {
        store.begin().expect("a transaction");
        changes();
        store.commit().expect("a commit");
    };
    let write = |change: Change, what: Option<EventKind>, cue: Option<CueId>| {
        store.apply(at, &change).expect("a row");
        if let Some(what) = what {
            store.log(at, what, &agent, cue).expect("an event");
        }
    };
    commit(&mut || {
        let change = Change::AddAgent {
            agent: agent.clone(),
            runtime: "terminal".parse().expect("a tag"),
            project_dir: "/".into(),
            terminal: "bash".into(),
            session: None,
        };
        write(change, None, None);
    });
    let mut number: u64 = 0;
    let started = Instant::now();
    for _ in 0..groups {
        let cues: Vec<CueId> = (0..CLIENTS)
            .map(|_| {
                number += 1;
                CueId::from_random(number.wrapping_mul(0x9e37_79b9_7f4a_7c15))
            })
            .collect();
        commit(&mut || cues.iter().for_each(|cue| ask(&write, &agent, *cue)));
        commit(&mut || cues.iter().for_each(|cue| decide(&write, *cue)));
        commit(&mut || {
            for cue in &cues {
                let change = Change::Acknowledge {
                    cue: *cue,
                    nonce: None,
                    erase: false,
                };
                write(change, Some(EventKind::Delivered), Some(*cue));
            }
        });
    }
    (groups * CLIENTS) as f64 / started.elapsed().as_secs_f64()
}

type Write<'a> = dyn Fn(Change, Option<EventKind>, Option<CueId>) + 'a;

fn ask(write: &Write<'_>, agent: &AgentId, cue: CueId) {
    let change = Change::AddCue {
        cue,
        agent: agent.clone(),
        kind: Kind::Cue,
        origin: Origin::Agent,
        prompt: PROMPT.into(),
        payload: None,
        content: ContentKey([7; 32]),
    };
    write(change, Some(EventKind::Asked), Some(cue));
    write(
        Change::BindRequest {
            request: RequestId(Uuid::now_v7()),
            cue,
        },
        None,
        None,
    );
}

fn decide(write: &Write<'_>, cue: CueId) {
    let answer = Answer {
        text: Some(ANSWER.into()),
        ..Answer::default()
    };
    let change = Change::Decide {
        cue,
        outcome: Outcome::Answered,
        request: RequestId(Uuid::now_v7()),
        text: ANSWER.into(),
        reminder: Some(cueme_broker::config::DEFAULT_REMINDER.into()),
        answer: Some(Arc::new(answer)),
        redacted: None,
        by: None,
        released_at: None,
    };
    write(change, Some(EventKind::Answered), Some(cue));
    write(Change::Hand { cue }, None, None);
}
