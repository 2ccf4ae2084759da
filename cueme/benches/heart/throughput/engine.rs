//! The engine alone, without sockets: what waiting for the disk at each commit costs.

use std::time::Instant;

use cueme_broker::engine::{Engine, EngineHandle, Order, Work};
use cueme_store_sqlite::{SqliteStorage, Synchronous};
use protocol_spec::answer::Answer;
use protocol_spec::id::AgentId;
use protocol_spec::message::Reply;
use protocol_spec::outcome::{Kind, Origin};
use tokio::sync::mpsc;

use crate::rows::{ANSWER, PROMPT, mint};

/// Leads lives through an engine of its own; returns lives per second.
pub(super) fn lives_per_second(synchronous: Synchronous, agents: usize, lives: usize) -> f64 {
    let directory = tempfile::tempdir().expect("a directory");
    let engine = Engine::start(
        Box::new(SqliteStorage::at(
            &directory.path().join("engine.db"),
            synchronous,
        )),
        true,
    )
    .expect("an engine");
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .expect("a runtime");
    let elapsed = runtime.block_on(async {
        let mut joined = Vec::new();
        for _ in 0..agents {
            joined.push(join(&engine.handle()).await);
        }
        let started = Instant::now();
        let tasks = joined
            .into_iter()
            .map(|agent| lead_lives(engine.handle(), agent, lives));
        tasks.collect::<tokio::task::JoinSet<()>>().join_all().await;
        started.elapsed()
    });
    engine.stop();
    (agents * lives) as f64 / elapsed.as_secs_f64()
}

async fn join(engine: &EngineHandle) -> AgentId {
    let work = Work::Join {
        runtime: "terminal".parse().expect("a tag"),
        project_dir: "/".into(),
        terminal: "bash".into(),
        session: None,
    };
    match Call::of(engine, work).reply().await {
        Reply::Joined(joined) => joined.agent_id,
        other => panic!("{other:?}"),
    }
}

async fn lead_lives(engine: EngineHandle, agent: AgentId, lives: usize) {
    for life in 0..lives {
        let prompt = format!("{PROMPT} ({life})");
        let ask = Work::ask(agent.clone(), Kind::Cue, prompt, None, Origin::Agent);
        let mut asking = Call::of(&engine, ask);
        let Reply::Asked(asked) = asking.reply().await else {
            panic!("it was not asked");
        };
        let answer = Work::Answer {
            cue: asked.cue_id,
            answer: Answer {
                text: Some(ANSWER.into()),
                ..Answer::default()
            },
            by: None,
            hold_ms: 0,
        };
        assert!(matches!(
            Call::of(&engine, answer).reply().await,
            Reply::Decided(_)
        ));
        assert!(matches!(asking.reply().await, Reply::Outcome(_)));
        let ack = Work::Ack {
            cues: vec![asked.cue_id],
            nonce: None,
        };
        assert!(matches!(Call::of(&engine, ack).reply().await, Reply::Acked(_)));
    }
}

/// Something that was handed to the engine.
struct Call {
    replies: mpsc::UnboundedReceiver<Box<cueme_broker::engine::Line>>,
}

impl Call {
    fn of(engine: &EngineHandle, work: Work) -> Self {
        let (sender, replies) = mpsc::unbounded_channel();
        let order = Order {
            ticket: engine.ticket(),
            request: mint(),
            work,
        };
        engine.order(None, None, order, sender).expect("an engine");
        Self { replies }
    }

    async fn reply(&mut self) -> Reply {
        *self.replies.recv().await.expect("a reply").reply
    }
}
