//! The agents, their runs, and every request that was made.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::Value;

use super::script::{Failure, Reply, Script};

/// The only key the stand-in accepts.
pub const API_KEY: &str = "key_fake_0123456789abcdef";

/// The shared state.
#[derive(Debug, Clone, Default)]
pub(super) struct Shared {
    state: Arc<Mutex<State>>,
}

impl Shared {
    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) script: Script,
    pub(super) agents: BTreeMap<String, Agent>,
    pub(super) log: Vec<LoggedRequest>,
    pub(super) repository_reads: Vec<Instant>,
    pub(super) counter: u64,
}

/// A request that was made.
#[derive(Debug, Clone, Serialize)]
pub struct LoggedRequest {
    /// The method.
    pub method: String,
    /// The path.
    pub path: String,
    /// The headers.
    pub headers: HashMap<String, String>,
    /// The body.
    pub body: Value,
}

/// An agent.
#[derive(Debug)]
pub(super) struct Agent {
    pub(super) id: String,
    pub(super) launch: Value,
    pub(super) messages: Vec<Message>,
    pub(super) runs: Vec<Run>,
    pub(super) stale_reads: usize,
    pub(super) lagging_reads: usize,
}

#[derive(Debug, Clone)]
pub(super) struct Message {
    pub(super) id: String,
    pub(super) is_assistant: bool,
    pub(super) text: String,
    /// When it can be read.
    pub(super) at: Instant,
}

#[derive(Debug, Clone)]
pub(super) struct Run {
    pub(super) id: String,
    pub(super) started: Instant,
    pub(super) timeline: Vec<(u64, String)>,
    pub(super) answer: String,
    /// A status that was forced upon it.
    pub(super) forced: Option<String>,
}

impl Run {
    pub(super) fn status(&self) -> String {
        if let Some(forced) = &self.forced {
            return forced.clone();
        }
        let elapsed = self.started.elapsed();
        let reached = self
            .timeline
            .iter()
            .rev()
            .find(|(at, _)| elapsed >= Duration::from_millis(*at));
        reached.map_or_else(|| "CREATING".to_owned(), |(_, status)| status.clone())
    }

    pub(super) fn is_active(&self) -> bool {
        is_active(&self.status())
    }

    /// Returns when the run ends by itself and with which status.
    pub(super) fn end(&self) -> Option<(Instant, String)> {
        let (at, status) = self.timeline.iter().find(|(_, status)| !is_active(status))?;
        Some((self.started + Duration::from_millis(*at), status.clone()))
    }
}

pub(super) fn is_active(status: &str) -> bool {
    matches!(status, "CREATING" | "RUNNING")
}

impl Agent {
    pub(super) fn latest(&self) -> Option<&Run> {
        self.runs.last()
    }

    pub(super) fn latest_mut(&mut self) -> Option<&mut Run> {
        self.runs.last_mut()
    }
}

impl State {
    /// Adds a run with its prompt and, if it will end well, its answer.
    pub(super) fn start_run(&mut self, agent_id: &str, prompt: &str) -> Option<Run> {
        self.counter += 1;
        let number = self.counter;
        let script = self.script.clone();
        let agent = self.agents.get_mut(agent_id)?;
        let turn = agent.runs.len();
        let answer = script
            .answers
            .get(turn)
            .or(script.answers.last())
            .cloned()
            .unwrap_or_default();
        let run = Run {
            id: format!("run-00000000-0000-4000-8000-{number:012}"),
            started: Instant::now(),
            timeline: script.timeline.clone(),
            answer: answer.clone(),
            forced: None,
        };
        agent.messages.push(Message {
            id: format!("msg-{number}-user"),
            is_assistant: false,
            text: prompt.to_owned(),
            at: run.started,
        });
        if let Some((at, status)) = run.end()
            && status == "FINISHED"
        {
            let id = format!("msg-{number}-assistant");
            agent.messages.push(Message {
                id,
                is_assistant: true,
                text: answer,
                at,
            });
        }
        agent.stale_reads = if turn > 0 { script.stale_reads } else { 0 };
        agent.lagging_reads = script.conversation_lag;
        agent.runs.push(run.clone());
        Some(run)
    }

    /// Returns what the next request of this kind fails with, if it does.
    pub(super) fn next_failure(&mut self, method: &str, path: &str) -> Option<Reply> {
        let fits = |failure: &&mut Failure| {
            failure.times > 0 && failure.method == method && path.contains(&failure.path_part)
        };
        let failure = self.script.failures.iter_mut().find(fits)?;
        failure.times -= 1;
        Some(failure.reply.clone())
    }
}
