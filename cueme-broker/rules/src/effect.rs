//! What the machine wants done.

use std::sync::Arc;

use protocol_spec::answer::Answer;
use protocol_spec::id::{AgentId, CueId, RequestId, RuntimeTag};
use protocol_spec::message::{EventKind, PastAgent, Purpose, Reply};
use protocol_spec::outcome::{Kind, Origin, Outcome};
use protocol_spec::time::Timestamp;

use super::cue::ContentKey;
use super::input::{Amendment, PastCue, Ticket};

/// Something to be done, in order. Changes are committed before any reply or event leaves the broker.
#[derive(Debug, Clone)]
pub enum Effect {
    /// Write this.
    Store(Change),
    /// Say this to a caller.
    Reply {
        /// The caller.
        to: Ticket,
        /// What to say.
        reply: Box<Reply>,
    },
    /// Tell everyone who watches, after writing it to the log.
    Log {
        /// What happened.
        what: EventKind,
        /// The agent concerned.
        agent: AgentId,
        /// The question concerned.
        cue: Option<CueId>,
    },
    /// Tell everyone who watches who listens; not logged.
    Presence {
        /// The agent concerned.
        agent: AgentId,
        /// The question concerned.
        cue: CueId,
        /// How many clients wait now.
        waiting: u32,
    },
}

/// One write to the store.
#[derive(Debug, Clone)]
pub enum Change {
    /// A new agent.
    AddAgent {
        /// Its id.
        agent: AgentId,
        /// Its runtime.
        runtime: RuntimeTag,
        /// Its directory.
        project_dir: String,
        /// Its shell family.
        terminal: String,
        /// The runtime's name for the conversation.
        session: Option<String>,
    },
    /// An agent's session.
    BindSession {
        /// The agent.
        agent: AgentId,
        /// The runtime's name for the conversation.
        session: String,
    },
    /// A new question.
    AddCue {
        /// Its id.
        cue: CueId,
        /// The asking agent.
        agent: AgentId,
        /// The verb.
        kind: Kind,
        /// Who opened it.
        origin: Origin,
        /// The question.
        prompt: Arc<str>,
        /// The payload as written.
        payload: Option<Arc<str>>,
        /// What makes two questions the same.
        content: ContentKey,
    },
    /// An agent that another program knew.
    ImportAgent(Box<PastAgent>),
    /// A question that was asked elsewhere, settled.
    ImportCue(Box<PastCue>),
    /// What became of a question that was imported when nothing had.
    EndPast {
        /// The question here.
        cue: CueId,
        /// The same question with its end.
        past: Box<PastCue>,
    },
    /// One more call that means this question.
    BindRequest {
        /// The call.
        request: RequestId,
        /// The question.
        cue: CueId,
    },
    /// A question is decided.
    Decide {
        /// The question.
        cue: CueId,
        /// What became of it.
        outcome: Outcome,
        /// The decision's key.
        request: RequestId,
        /// The text for the agent.
        text: Arc<str>,
        /// The reminder below it.
        reminder: Option<Arc<str>>,
        /// The answer as data.
        answer: Option<Arc<Answer>>,
        /// Text and answer without secrets, when there are any.
        redacted: Option<Arc<(String, Answer)>>,
        /// Who decided.
        by: Option<String>,
        /// When it is released to the agent.
        released_at: Option<Timestamp>,
        /// Whether it was queued before the question was asked.
        from_queue: bool,
    },
    /// A decision is released.
    Release {
        /// The question.
        cue: CueId,
    },
    /// A question is open again, or left behind.
    Reopen {
        /// The question.
        cue: CueId,
        /// [`Outcome::Open`] or [`Outcome::Superseded`].
        outcome: Outcome,
        /// Whether secrets were in what was decided until now.
        erase: bool,
    },
    /// The last client of this broker stopped waiting, or one waits again.
    SetDetached {
        /// The question.
        cue: CueId,
        /// Since when nobody waits, while nobody does.
        at: Option<Timestamp>,
    },
    /// An outcome was handed to a client for the first time.
    Hand {
        /// The question.
        cue: CueId,
    },
    /// One more turn in which an outcome was delivered.
    AddReceipt {
        /// The question.
        cue: CueId,
        /// The turn's mark.
        nonce: String,
    },
    /// An outcome was acknowledged. Secrets in it are erased now.
    Acknowledge {
        /// The question.
        cue: CueId,
        /// The turn's mark.
        nonce: Option<String>,
        /// Whether there are secrets to erase.
        erase: bool,
    },
    /// A message waits.
    AddMessage {
        /// Its key.
        request: RequestId,
        /// The agent it is for.
        agent: AgentId,
        /// The message.
        text: Arc<str>,
        /// What it is for.
        purpose: Purpose,
        /// Who says it.
        by: Option<String>,
    },
    /// Messages became part of an outcome.
    TakeMessages {
        /// The messages.
        messages: Vec<RequestId>,
        /// The question whose outcome carries them.
        cue: CueId,
    },
    /// A message was taken back.
    DropMessage {
        /// The message.
        message: RequestId,
    },
    /// A message was written anew.
    RewordMessage {
        /// The message.
        message: RequestId,
        /// Its new text.
        text: Arc<str>,
    },
    /// The messages that wait for an agent have another order.
    ReorderMessages {
        /// All of them, in the new order.
        messages: Vec<RequestId>,
    },
    /// A human changed something about an agent.
    AmendAgent {
        /// The agent.
        agent: AgentId,
        /// What.
        amendment: Amendment,
    },
    /// Messages wait again because the outcome that carried them was taken back.
    ReturnMessages {
        /// The question.
        cue: CueId,
    },
}

impl Change {
    /// Says whether it erases a secret.
    pub fn erases(&self) -> bool {
        matches!(
            self,
            Self::Acknowledge { erase: true, .. } | Self::Reopen { erase: true, .. }
        )
    }
}
