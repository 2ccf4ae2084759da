//! Clients that live whole lives of questions, as fast as they are served.

use std::path::{Path, PathBuf};
use std::time::Instant;

use protocol_spec::answer::Answer;
use protocol_spec::id::{AgentId, CueId};
use protocol_spec::message::{Ack, Ask, GiveAnswer, Reply, Request, decode_reply, encode_request};
use protocol_spec::outcome::{Kind, Origin};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::sync::mpsc;

use crate::rows::{ANSWER, PROMPT, mint};

/// The number of clients that answer.
const HUMANS: usize = 2;

/// The connections over which agents reach the broker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Manner {
    /// Over one connection for all their questions.
    Stay,
    /// Over a new one for each, as the command does.
    Come,
}

impl Manner {
    /// Returns how many connections are made in all.
    pub(super) fn connections(self, agents: usize, lives: usize) -> usize {
        HUMANS
            + match self {
                Self::Stay => agents,
                Self::Come => agents * lives,
            }
    }
}

/// Each agent asks, two humans answer whatever is asked, each answer is acknowledged; returns lives per second.
///
/// One thread speaks for all of them, so that the machine's time goes to the broker and not to switching between them.
pub(crate) fn lives_per_second(socket: &Path, agents: Vec<AgentId>, lives: usize, manner: Manner) -> f64 {
    let clients = agents.len();
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
            tasks.spawn(answer_all(Talk::connect(socket).await, asked));
            humans.push(sender);
        }
        for (index, agent) in agents.into_iter().enumerate() {
            let human = humans[index % HUMANS].clone();
            tasks.spawn(lead_lives(socket.to_owned(), agent, lives, manner, human));
        }
        drop(humans);
        tasks.join_all().await;
    });
    (clients * lives) as f64 / started.elapsed().as_secs_f64()
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
            lines.append(&mut encode_request(mint(), request).expect("a line"));
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

async fn lead_lives(
    socket: PathBuf,
    agent: AgentId,
    lives: usize,
    manner: Manner,
    human: mpsc::UnboundedSender<CueId>,
) {
    let mut talk = Talk::connect(&socket).await;
    for life in 0..lives {
        if life > 0 && manner == Manner::Come {
            talk = Talk::connect(&socket).await;
        }
        lead_life(&mut talk, &agent, life, &human).await;
    }
}

async fn lead_life(talk: &mut Talk, agent: &AgentId, life: usize, human: &mpsc::UnboundedSender<CueId>) {
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

/// The most answers in one batch.
const BATCH_MAX: usize = 64;

/// Answers in a pipeline: everything that was asked meanwhile goes out before replies are read.
async fn answer_all(mut talk: Talk, mut asked: mpsc::UnboundedReceiver<CueId>) {
    let mut batch = Vec::new();
    while asked.recv_many(&mut batch, BATCH_MAX).await > 0 {
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
