//! The effects of an input: writes, replies and events.

use std::sync::Arc;

use protocol_spec::answer::Answer;
use protocol_spec::id::{AgentId, CueId, RequestId, RuntimeTag};
use protocol_spec::message::{EventKind, PastAgent, Purpose, Reply};
use protocol_spec::outcome::{Kind, Origin, Outcome};
use protocol_spec::time::Timestamp;

use super::cue::ContentKey;
use super::input::{Amendment, PastCue, Ticket};

/// One effect; effects are carried out in order. Changes are committed before any reply or event leaves the broker.
#[derive(Debug, Clone)]
pub enum Effect {
    /// Write this change.
    Store(Change),
    /// Send a reply to a caller.
    Reply {
        /// The caller.
        to: Ticket,
        /// The reply.
        reply: Box<Reply>,
    },
    /// Log an event, then publish it to all watchers.
    Log {
        /// The kind of event.
        what: EventKind,
        /// The agent concerned.
        agent: AgentId,
        /// The question concerned.
        cue: Option<CueId>,
    },
    /// Publish a presence event to all watchers; not logged.
    Presence {
        /// The agent concerned.
        agent: AgentId,
        /// The question concerned.
        cue: CueId,
        /// The number of clients that wait now.
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
        /// The origin of the question.
        origin: Origin,
        /// The question.
        prompt: Arc<str>,
        /// The payload as written.
        payload: Option<Arc<str>>,
        /// The identity of its content: two questions with the same key are the same.
        content: ContentKey,
    },
    /// An agent that another program knew.
    ImportAgent(Box<PastAgent>),
    /// A question that was asked elsewhere, settled.
    ImportCue(Box<PastCue>),
    /// The outcome of a question that was imported without one.
    EndPast {
        /// The question here.
        cue: CueId,
        /// The imported question, with its end.
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
        /// The outcome.
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
        /// The author of the decision.
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
        /// Whether the previous decision held secrets, which have to be erased.
        erase: bool,
    },
    /// The last client of this broker stopped waiting, or one waits again.
    SetDetached {
        /// The question.
        cue: CueId,
        /// The time since which no client waits; `None` while one waits.
        at: Option<Timestamp>,
    },
    /// An outcome was sent to a client for the first time.
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
        /// Its purpose.
        purpose: Purpose,
        /// Its author.
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
    /// A message was reworded.
    RewordMessage {
        /// The message.
        message: RequestId,
        /// Its new text.
        text: Arc<str>,
    },
    /// The messages that wait for an agent were reordered.
    ReorderMessages {
        /// All of them, in the new order.
        messages: Vec<RequestId>,
    },
    /// A human changed something about an agent.
    AmendAgent {
        /// The agent.
        agent: AgentId,
        /// The amendment.
        amendment: Amendment,
    },
    /// Messages wait again because the outcome that carried them was undone.
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
