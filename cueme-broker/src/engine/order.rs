//! What the engine is told to do.

use std::sync::Arc;

use protocol_spec::answer::Answer;
use protocol_spec::id::{AgentId, CueId, RequestId, RuntimeTag};
use protocol_spec::message::{PastAgent, PastEnd, Purpose, RefusedCue, Reply};
use protocol_spec::outcome::{Kind, Origin};
use protocol_spec::time::Timestamp;
use sha2::{Digest, Sha256};

use cueme_rules::{Amendment, ContentKey, QueueEdit, Ticket};

/// A reply on its way to a caller.
#[derive(Debug)]
pub struct Line {
    /// The request it answers.
    pub id: RequestId,
    /// What is said.
    pub reply: Box<Reply>,
}

/// Something to be done for a caller.
#[derive(Debug, Clone)]
pub struct Order {
    /// The caller.
    pub ticket: Ticket,
    /// The permanent key of the call.
    pub request: RequestId,
    /// What is to be done.
    pub work: Work,
}

/// Why a damaged question was closed, unless the human says it.
const DAMAGED_REASON: &str = "its record was damaged";

impl Order {
    /// Returns the question that this order closes without an answer, and the order to close a damaged one.
    pub(super) fn closing_of_damaged(&self) -> Option<(CueId, Self)> {
        let mut closing = self.clone();
        let (cue, reason) = match &mut closing.work {
            Work::Close { cue, verdict, .. } => match verdict {
                Closing::Decline(reason) | Closing::Cancel(reason) => (*cue, reason),
            },
            _ => return None,
        };
        reason.get_or_insert_with(|| DAMAGED_REASON.to_owned());
        Some((cue, closing))
    }
}

/// What is to be done. Everything in it is parsed and within its limits.
#[derive(Debug, Clone)]
pub enum Work {
    /// Register an agent.
    Join {
        /// The runtime it lives in.
        runtime: RuntimeTag,
        /// The directory it works in.
        project_dir: String,
        /// Its shell family.
        terminal: String,
        /// The runtime's name for the conversation.
        session: Option<String>,
    },
    /// Give an agent its session.
    Bind {
        /// The agent.
        agent: AgentId,
        /// The runtime's name for the conversation.
        session: String,
    },
    /// Ask and wait.
    Ask {
        /// The asking agent.
        agent: AgentId,
        /// The verb.
        kind: Kind,
        /// The question.
        prompt: Arc<str>,
        /// The payload as written; it has been parsed.
        payload: Option<Arc<str>>,
        /// What makes two questions the same.
        content: ContentKey,
        /// Who opened it.
        origin: Origin,
    },
    /// Wait again.
    Attach(CueId),
    /// Settle outcomes that were printed.
    Ack {
        /// The questions.
        cues: Vec<CueId>,
        /// The turn's mark.
        nonce: Option<String>,
    },
    /// Stop waiting.
    Rest(CueId),
    /// Answer.
    Answer {
        /// The question.
        cue: CueId,
        /// The answer; not yet held against the question.
        answer: Answer,
        /// Who answers.
        by: Option<String>,
        /// How long it can be taken back.
        hold_ms: u64,
    },
    /// Refuse to answer, or close without an answer.
    Close {
        /// The question.
        cue: CueId,
        /// What is decided; no answer, those have to be checked.
        verdict: Closing,
        /// Who decides.
        by: Option<String>,
        /// How long it can be taken back.
        hold_ms: u64,
    },
    /// Take an answer back.
    Undo(CueId),
    /// Leave a message.
    Say {
        /// The agent it is for.
        agent: AgentId,
        /// The message.
        text: String,
        /// What it is for.
        purpose: Purpose,
        /// Who says it.
        by: Option<String>,
    },
    /// Fetch everything a human left for an agent.
    Collect {
        /// The agent.
        agent: AgentId,
        /// Why questions that the agent left behind are closed, if they are.
        close: Option<String>,
    },
    /// Add records of another program.
    Import {
        /// Agents.
        agents: Vec<PastAgent>,
        /// Questions; their payloads have been parsed.
        cues: Vec<PastQuestion>,
        /// Questions that could not be read.
        refused: Vec<RefusedCue>,
    },
    /// Change the messages that wait for an agent.
    EditQueue {
        /// The agent.
        agent: AgentId,
        /// What is changed.
        edit: QueueEdit,
    },
    /// Name, pin, archive or instruct an agent.
    Amend {
        /// The agent.
        agent: AgentId,
        /// What is changed.
        amendment: Amendment,
    },
    /// The caller is gone.
    Gone,
    /// A human is there.
    HumanSeen,
    /// Time passed.
    Tick,
}

/// A question of another program. Everything in it is within its limits; its answer is not yet checked.
#[derive(Debug, Clone)]
pub struct PastQuestion {
    /// Its permanent key.
    pub request: RequestId,
    /// The agent that asked.
    pub agent: AgentId,
    /// The verb.
    pub kind: Kind,
    /// The question.
    pub prompt: Arc<str>,
    /// The payload as written.
    pub payload: Option<Arc<str>>,
    /// When it was asked.
    pub asked_at: Timestamp,
    /// What became of it, if anything had.
    pub ended: Option<PastEnd>,
}

/// A decision that is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Closing {
    /// Refused, with the reason if one was given.
    Decline(Option<String>),
    /// Closed without an answer, with the reason if one was given.
    Cancel(Option<String>),
}

impl Work {
    /// Returns an ask, with what makes it the same as another.
    pub fn ask(agent: AgentId, kind: Kind, prompt: String, payload: Option<String>, origin: Origin) -> Self {
        let content = content_key(kind, &prompt, payload.as_deref());
        Self::Ask {
            agent,
            kind,
            prompt: prompt.into(),
            payload: payload.map(Arc::from),
            content,
            origin,
        }
    }
}

/// Hashes a question's content, each part behind its length so that no two contents look alike.
pub(super) fn content_key(kind: Kind, prompt: &str, payload: Option<&str>) -> ContentKey {
    let mut hash = Sha256::new();
    hash.update([match kind {
        Kind::Cue => 0,
        Kind::Pause => 1,
    }]);
    for part in [Some(prompt), payload] {
        hash.update(part.map_or(u64::MAX, |part| part.len() as u64).to_le_bytes());
        hash.update(part.unwrap_or_default());
    }
    ContentKey(hash.finalize().into())
}
