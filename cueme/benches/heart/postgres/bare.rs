//! The least that writes the same rows: one connection and prepared statements, each transaction in one round trip. It checks
//! nothing, and has no clients.

use std::time::{Duration, Instant};

use cueme_store::Storage;
use cueme_store_copy::back_up;
use cueme_store_postgres::PostgresStorage;
use futures_util::future::try_join_all;
use futures_util::stream::poll_fn;
use futures_util::{FutureExt, StreamExt};
use protocol_spec::id::{AgentId, CueId};
use tokio::runtime::Runtime;
use tokio::sync::mpsc;
use tokio_postgres::types::ToSql;
use tokio_postgres::{AsyncMessage, Client, NoTls, Statement};
use uuid::Uuid;

use crate::rows::{ANSWER, AT, PROMPT};

/// Serializes transactions, as ours are.
const LOCK: &str = "SELECT revision, event FROM head FOR UPDATE";
const JOIN: &str = "INSERT INTO agents (agent_id, runtime, project_dir, terminal, joined_at, seen_at)
    SELECT agent, 'terminal', '/', 'bash', $2, $2 FROM unnest($1::text[]) AS agent";
const ASK: &str = "WITH cue AS (INSERT INTO cues (cue_id, agent_id, kind, origin, content, asked_at)
        SELECT cue, agent, 0, 0, $4, $5 FROM unnest($1::text[], $2::text[]) AS asked (cue, agent) RETURNING seq, cue_id),
    question AS (INSERT INTO questions (seq, prompt) SELECT seq, $3 FROM cue),
    request AS (INSERT INTO requests (request_id, seq) SELECT gen_random_uuid(), seq FROM cue),
    new AS (INSERT INTO unindexed (seq, side) SELECT seq, 0 FROM cue),
    waiting AS (INSERT INTO waits (cue_id, broker) SELECT cue_id, $6 FROM cue)
    UPDATE agents SET seen_at = $5 WHERE agent_id = ANY($2)";
const DECIDE: &str = "WITH cue AS (UPDATE cues SET outcome = 1, delivery = 1, handed_at = $3 WHERE cue_id = ANY($1) RETURNING seq),
    decision AS (INSERT INTO decisions (seq, request_id, text, decided_at, seal)
        SELECT seq, gen_random_uuid(), $2, $3, $4 FROM cue)
    INSERT INTO unindexed (seq, side) SELECT seq, 1 FROM cue ON CONFLICT DO NOTHING";
const ACKNOWLEDGE: &str = "WITH gone AS (DELETE FROM waits WHERE cue_id = ANY($1))
    UPDATE cues SET delivery = 2, acknowledged_at = $2 WHERE cue_id = ANY($1)";
const LOG: &str = "INSERT INTO events (id, at, what, agent_id, cue_id)
    SELECT head.event + number, $1, 0, agent, cue
    FROM head, unnest($2::text[], $3::text[]) WITH ORDINALITY AS logged (agent, cue, number)";
const REVISE: &str = "UPDATE agents SET revision = head.revision + 1 FROM head WHERE agent_id = ANY($1)";
const COUNT: &str = "UPDATE head SET revision = revision + 1, event = event + $1";
const NOTE: &str = "UPDATE brokers SET batch = 1 WHERE broker = $1";

/// A connection to a database of its own.
pub(super) struct Bare {
    runtime: Runtime,
    client: Client,
    statements: Vec<(&'static str, Statement)>,
    broker: Uuid,
    agents: Vec<String>,
    cues: u64,
}

impl Bare {
    /// Makes our tables in an empty database, and so many agents.
    pub(super) fn open(url: &str, agents: usize) -> Self {
        let mut storage = PostgresStorage::at(url, back_up).expect("an address");
        drop(storage.open(true).expect("our tables"));
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime");
        let (client, connection) = runtime
            .block_on(tokio_postgres::connect(url, NoTls))
            .expect("a connection");
        runtime.spawn(connection);
        let kinds = [JOIN, LOCK, ASK, DECIDE, ACKNOWLEDGE, LOG, REVISE, COUNT, NOTE];
        let statements = kinds
            .map(|sql| (sql, runtime.block_on(client.prepare(sql)).expect("a statement")))
            .into();
        let agents = (1..=agents)
            .map(|number| AgentId::from_random((number as u32).wrapping_mul(67_867_967)).to_string())
            .collect();
        let bare = Self {
            runtime,
            client,
            statements,
            broker: Uuid::now_v7(),
            agents,
            cues: 0,
        };
        bare.transaction(&[(JOIN, &[&bare.agents, &AT.as_millis()])]);
        let register = "INSERT INTO brokers (broker, name, lease_until) VALUES ($1, 'bare', now())";
        bare.runtime
            .block_on(bare.client.execute(register, &[&bare.broker]))
            .expect("a broker");
        bare
    }

    /// Lets one question of every agent live: asked, decided, acknowledged, each in one commit for all of them.
    pub(super) fn lead_lives(&mut self) {
        let cues: Vec<String> = self
            .agents
            .iter()
            .map(|_| {
                self.cues += 1;
                CueId::from_random(self.cues.wrapping_mul(0x9e37_79b9_7f4a_7c15)).to_string()
            })
            .collect();
        let (at, agents) = (AT.as_millis(), &self.agents);
        let (content, seal) = ([7_u8; 32].as_slice(), [7_u8; 16].as_slice());
        let steps: [(&str, &[&(dyn ToSql + Sync)]); 3] = [
            (ASK, &[&cues, agents, &PROMPT, &content, &at, &self.broker]),
            (DECIDE, &[&cues, &ANSWER, &at, &seal]),
            (ACKNOWLEDGE, &[&cues, &at]),
        ];
        let count = cues.len() as i64;
        for step in steps {
            self.transaction(&[
                step,
                (LOG, &[&at, agents, &cues]),
                (REVISE, &[agents]),
                (COUNT, &[&count]),
                (NOTE, &[&self.broker]),
            ]);
        }
    }

    /// Runs statements under the lock, and commits; returns when that is durable.
    fn transaction(&self, steps: &[(&'static str, &[&(dyn ToSql + Sync)])]) {
        let run = async {
            let begun = self.client.batch_execute("BEGIN");
            let locked = self.client.execute(self.statement(LOCK), &[]);
            let written = steps
                .iter()
                .map(|(sql, values)| self.client.execute(self.statement(sql), values));
            let committed = self.client.batch_execute("COMMIT");
            // They are sent in the order in which they are polled first, without waiting for each other.
            let (begun, locked, written, committed) =
                tokio::join!(biased; begun, locked, try_join_all(written), committed);
            begun.and(locked.map(drop)).and(written.map(drop)).and(committed)
        };
        self.runtime.block_on(run).expect("a commit");
    }

    fn statement(&self, sql: &str) -> &Statement {
        let found = self.statements.iter().find(|(kind, _)| *kind == sql);
        &found.expect("one of those prepared").1
    }
}

/// Two connections: one commits and notifies, the other one listens.
pub(super) struct Notified {
    bare: Bare,
    heard: mpsc::UnboundedReceiver<()>,
    _listening: Client,
}

impl Notified {
    pub(super) fn open(url: &str) -> Self {
        let bare = Bare::open(url, 1);
        let (listening, mut connection) = bare
            .runtime
            .block_on(tokio_postgres::connect(url, NoTls))
            .expect("a connection");
        let (sender, heard) = mpsc::unbounded_channel();
        bare.runtime.spawn(async move {
            let mut messages = poll_fn(move |context| connection.poll_message(context));
            while let Some(Ok(message)) = messages.next().await {
                if matches!(message, AsyncMessage::Notification(_)) {
                    let _ = sender.send(());
                }
            }
        });
        bare.runtime
            .block_on(listening.batch_execute("LISTEN bare"))
            .expect("a listener");
        Self {
            bare,
            heard,
            _listening: listening,
        }
    }

    /// Commits, notifies, and returns how long it took until the listener heard it.
    pub(super) fn commit_and_hear(&mut self) -> Duration {
        let started = Instant::now();
        self.bare.transaction(&[(COUNT, &[&1_i64])]);
        let notified = self.bare.client.batch_execute("NOTIFY bare");
        let heard = self.heard.recv();
        self.bare
            .runtime
            .block_on(async {
                let (notified, heard) = futures_util::join!(notified, heard.map(Option::unwrap_or_default));
                notified.map(|()| heard)
            })
            .expect("a notification");
        started.elapsed()
    }
}
