//! The orders that the engine takes.

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
    /// The reply.
    pub reply: Box<Reply>,
}

/// An order of a caller.
#[derive(Debug, Clone)]
pub struct Order {
    /// The caller.
    pub ticket: Ticket,
    /// The permanent key of the call.
    pub request: RequestId,
    /// The work.
    pub work: Work,
}

/// The reason for closing a damaged question, unless the human gives one.
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

/// The work of an order. Everything in it is parsed and within its limits.
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
        /// The identity of its content: two questions with the same key are the same.
        content: ContentKey,
        /// The origin of the question.
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
        /// The answer, not yet checked against the question.
        answer: Answer,
        /// The author of the answer.
        by: Option<String>,
        /// The time during which it can be undone, in milliseconds.
        hold_ms: u64,
    },
    /// Refuse to answer, or close without an answer.
    Close {
        /// The question.
        cue: CueId,
        /// The decision; answers have to be checked and are not among them.
        verdict: Closing,
        /// The author of the decision.
        by: Option<String>,
        /// The time during which it can be undone, in milliseconds.
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
        /// Its purpose.
        purpose: Purpose,
        /// Its author.
        by: Option<String>,
    },
    /// Fetch everything a human left for an agent.
    Collect {
        /// The agent.
        agent: AgentId,
        /// The reason for closing the questions that the agent left behind; `None` leaves them open.
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
        /// The edit.
        edit: QueueEdit,
    },
    /// Name, pin, archive or instruct an agent.
    Amend {
        /// The agent.
        agent: AgentId,
        /// The amendment.
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
    /// Its outcome; `None` when it was left open.
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
    /// Returns an ask, with the key of its content.
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
