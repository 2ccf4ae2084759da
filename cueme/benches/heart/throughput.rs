//! Whole lives of questions per second, against a loop that only writes the same rows.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use cueme_broker::machine::{Change, ContentKey};
use cueme_broker::store::{Store, Synchronous};
use protocol_spec::answer::Answer;
use protocol_spec::id::{AgentId, CueId, RequestId};
use protocol_spec::message::{Ack, Ask, EventKind, GiveAnswer, Reply, Request, decode_reply, encode_request};
use protocol_spec::outcome::{Kind, Origin, Outcome};
use protocol_spec::time::Timestamp;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::sync::mpsc;
use uuid::Uuid;

use crate::home::Home;
use crate::table::{Goal, Row};

const CLIENTS: usize = 64;
const HUMANS: usize = 2;
const PROMPT: &str = "Shall I go on with the migration of the orders table, or wait until tonight?";
const ANSWER: &str = "Go on, but keep the old table until tomorrow.";

/// When the bare rows were written.
const AT: Timestamp = Timestamp::from_millis(1_790_000_000_000);

pub(crate) fn measure(scale: usize) -> Vec<Row> {
    let (mut ours, mut floors) = (Vec::new(), Vec::new());
    for _ in 0..scale.min(3) {
        floors.push(bare_lives_per_second(200 * scale));
        ours.push(lives_per_second(200 * scale));
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
///
/// One thread speaks for all of them, so that the machine's time goes to the broker and not to switching between them.
fn lives_per_second(lives_per_client: usize) -> f64 {
    let home = Home::start();
    let agents: Vec<AgentId> = {
        let mut wire = home.connect();
        (0..CLIENTS).map(|_| wire.join()).collect()
    };
    let socket = home.socket();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .build()
        .expect("a runtime");
    let started = Instant::now();
    runtime.block_on(async {
        let mut tasks = tokio::task::JoinSet::new();
        let mut humans = Vec::new();
        for _ in 0..HUMANS {
            let (sender, asked) = mpsc::unbounded_channel();
            tasks.spawn(answer_all(Talk::connect(&socket).await, asked));
            humans.push(sender);
        }
        for (index, agent) in agents.into_iter().enumerate() {
            let human = humans[index % HUMANS].clone();
            tasks.spawn(live(Talk::connect(&socket).await, agent, lives_per_client, human));
        }
        drop(humans);
        tasks.join_all().await;
    });
    (CLIENTS * lives_per_client) as f64 / started.elapsed().as_secs_f64()
}

/// One connection among many on a thread.
struct Talk {
    reader: tokio::io::BufReader<UnixStream>,
    line: Vec<u8>,
}

impl Talk {
    async fn connect(socket: &Path) -> Self {
        let stream = UnixStream::connect(socket).await.expect("a connection");
        Self {
            reader: tokio::io::BufReader::new(stream),
            line: Vec::new(),
        }
    }

    async fn send(&mut self, requests: &[Request]) {
        let mut lines = Vec::new();
        for request in requests {
            lines.append(&mut encode_request(RequestId(Uuid::now_v7()), request).expect("a line"));
        }
        self.reader
            .get_mut()
            .write_all(&lines)
            .await
            .expect("a broker that reads");
    }

    async fn receive(&mut self) -> Reply {
        self.line.clear();
        self.reader
            .read_until(b'\n', &mut self.line)
            .await
            .expect("a broker that answers");
        decode_reply(self.line.trim_ascii_end()).expect("a reply").1
    }
}

async fn live(mut talk: Talk, agent: AgentId, lives: usize, human: mpsc::UnboundedSender<CueId>) {
    for life in 0..lives {
        talk.send(&[Request::Ask(Ask {
            agent_id: agent.clone(),
            kind: Kind::Cue,
            prompt: format!("{PROMPT} ({life})"),
            payload: None,
            origin: Origin::Agent,
            nonce: None,
        })])
        .await;
        let Reply::Asked(asked) = talk.receive().await else {
            panic!("it was not asked");
        };
        human.send(asked.cue_id).expect("a human");
        let Reply::Outcome(told) = talk.receive().await else {
            panic!("it was not answered");
        };
        assert_eq!(told.cue_id, asked.cue_id);
        talk.send(&[Request::Ack(Ack {
            cue_ids: vec![told.cue_id],
            nonce: None,
        })])
        .await;
        assert!(matches!(talk.receive().await, Reply::Acked(_)));
    }
}

/// Answers in a pipeline: everything that was asked meanwhile goes out before replies are read.
async fn answer_all(mut talk: Talk, mut asked: mpsc::UnboundedReceiver<CueId>) {
    let mut batch = Vec::new();
    while asked.recv_many(&mut batch, CLIENTS).await > 0 {
        let answers: Vec<Request> = batch.drain(..).map(answer).collect();
        talk.send(&answers).await;
        for _ in answers {
            assert!(matches!(talk.receive().await, Reply::Decided(_)));
        }
    }
}

fn answer(cue: CueId) -> Request {
    Request::Answer(GiveAnswer {
        cue: cue.to_string(),
        answer: Answer {
            text: Some(ANSWER.into()),
            ..Answer::default()
        },
        by: None,
        hold_ms: 0,
    })
}

/// The same rows for 64 questions of 64 agents at a time: asked, decided, acknowledged, each in one durable commit.
fn bare_lives_per_second(groups: usize) -> f64 {
    let directory = tempfile::tempdir().expect("a directory");
    let store = Store::open(&directory.path().join("floor.db"), Synchronous::Full, true).expect("a store");
    let bare = Bare { store: &store };
    let agents: Vec<AgentId> = (1..=CLIENTS)
        .map(|number| AgentId::from_random(number as u32 * 67_867_967))
        .collect();
    bare.commit(|| agents.iter().for_each(|agent| bare.join(agent)));
    let mut number: u64 = 0;
    let started = Instant::now();
    for _ in 0..groups {
        let cues: Vec<(CueId, &AgentId)> = agents
            .iter()
            .map(|agent| {
                number += 1;
                (
                    CueId::from_random(number.wrapping_mul(0x9e37_79b9_7f4a_7c15)),
                    agent,
                )
            })
            .collect();
        bare.commit(|| cues.iter().for_each(|(cue, agent)| bare.ask(*cue, agent)));
        bare.commit(|| cues.iter().for_each(|(cue, agent)| bare.decide(*cue, agent)));
        bare.commit(|| cues.iter().for_each(|(cue, agent)| bare.acknowledge(*cue, agent)));
    }
    (groups * CLIENTS) as f64 / started.elapsed().as_secs_f64()
}

/// Writes rows and nothing else.
struct Bare<'a> {
    store: &'a Store,
}

impl Bare<'_> {
    fn commit(&self, write: impl FnOnce()) {
        self.store.begin().expect("a transaction");
        write();
        self.store.commit().expect("a commit");
    }

    fn write(&self, change: Change) {
        self.store.apply(AT, &change).expect("a row");
    }

    fn log(&self, what: EventKind, agent: &AgentId, cue: CueId) {
        self.store.log(AT, what, agent, Some(cue)).expect("an event");
    }

    fn join(&self, agent: &AgentId) {
        self.write(Change::AddAgent {
            agent: agent.clone(),
            runtime: "terminal".parse().expect("a tag"),
            project_dir: "/".into(),
            terminal: "bash".into(),
            session: None,
        });
    }

    fn ask(&self, cue: CueId, agent: &AgentId) {
        self.write(Change::AddCue {
            cue,
            agent: agent.clone(),
            kind: Kind::Cue,
            origin: Origin::Agent,
            prompt: PROMPT.into(),
            payload: None,
            content: ContentKey([7; 32]),
        });
        self.write(Change::BindRequest {
            request: RequestId(Uuid::now_v7()),
            cue,
        });
        self.log(EventKind::Asked, agent, cue);
    }

    fn decide(&self, cue: CueId, agent: &AgentId) {
        let answer = Answer {
            text: Some(ANSWER.into()),
            ..Answer::default()
        };
        self.write(Change::Decide {
            cue,
            outcome: Outcome::Answered,
            request: RequestId(Uuid::now_v7()),
            text: ANSWER.into(),
            reminder: Some(cueme_broker::config::DEFAULT_REMINDER.into()),
            answer: Some(Arc::new(answer)),
            redacted: None,
            by: None,
            released_at: None,
        });
        self.write(Change::Hand { cue });
        self.log(EventKind::Answered, agent, cue);
    }

    fn acknowledge(&self, cue: CueId, agent: &AgentId) {
        self.write(Change::Acknowledge {
            cue,
            nonce: None,
            erase: false,
        });
        self.log(EventKind::Delivered, agent, cue);
    }
}
