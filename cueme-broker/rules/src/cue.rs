//! A question and its state.

use std::sync::Arc;

use protocol_spec::answer::Answer;
use protocol_spec::id::{AgentId, CueId, RequestId};
use protocol_spec::message::DeliveredOutcome;
use protocol_spec::outcome::{Kind, Origin, Outcome};
use protocol_spec::time::Timestamp;

use super::agent::Message;

/// Identifies the content of a question: SHA-256 over verb, prompt and payload as written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ContentKey(pub [u8; 32]);

/// A question.
#[derive(Debug, Clone)]
pub struct Cue {
    /// Its agent.
    pub agent: AgentId,
    /// The verb.
    pub kind: Kind,
    /// The origin of the question.
    pub origin: Origin,
    /// Whether a payload came with it.
    pub has_payload: bool,
    /// The identity of its content: two questions with the same key are the same.
    pub content: ContentKey,
    /// The beginning of the prompt, to tell questions apart.
    pub question: Arc<str>,
    /// Its place in the order of its agent's questions.
    pub ordinal: u64,
    /// When it was asked.
    pub asked_at: Timestamp,
    /// Its state.
    pub state: State,
    /// The number of clients of this broker that wait for it.
    pub here: u32,
    /// The number of other brokers with clients that wait for it.
    pub elsewhere: u32,
    /// The time since which no client waits, by the steady clock and by the wall clock.
    pub detached: Option<(u64, Timestamp)>,
    /// The waits that ended by themselves.
    pub rounds: Rounds,
}

/// Waits that ended by themselves while no human was seen.
#[derive(Debug, Clone, Copy, Default)]
pub struct Rounds {
    /// The number of such waits.
    pub ended: u32,
    /// The sign of a human that they are counted from.
    pub signs: u64,
    /// The time since which no human was seen, by the steady clock; `None` before the first wait has ended.
    pub since: Option<u64>,
}

/// The state of a question; each variant carries exactly what is true in it.
#[derive(Debug, Clone)]
pub enum State {
    /// Not decided yet.
    Open,
    /// Its agent left it behind; it can still be answered.
    Superseded,
    /// Decided, but it can still be taken back.
    Held {
        /// The decision.
        decision: Decision,
        /// When it is released, by the steady clock.
        until: u64,
        /// When it is released, by the wall clock.
        released_at: Timestamp,
        /// The messages that went into the text.
        taken: Vec<Message>,
    },
    /// Decided, and the agent has not acknowledged it.
    Decided {
        /// The decision.
        decision: Decision,
        /// When a client was first handed it.
        handed_at: Option<Timestamp>,
    },
    /// The agent acknowledged it.
    Settled {
        /// The decision, secrets removed.
        decision: Decision,
        /// When it was first handed over.
        handed_at: Timestamp,
    },
}

/// The decision, as the agent reads it.
#[derive(Debug, Clone)]
pub struct Decision {
    /// The decision's key.
    pub request: RequestId,
    /// Answered, declined or cancelled.
    pub outcome: Outcome,
    /// The text; never rendered anew.
    pub text: Arc<str>,
    /// The reminder below it.
    pub reminder: Option<Arc<str>>,
    /// The answer as data.
    pub answer: Option<Arc<Answer>>,
    /// Text and answer without their secrets, where they hold any.
    pub redacted: Option<Arc<(String, Answer)>>,
    /// The author of the decision.
    pub by: Option<String>,
    /// When.
    pub decided_at: Timestamp,
}

impl Decision {
    /// Returns the decision without the secrets in it.
    pub(super) fn without_secrets(&self) -> Self {
        match self.redacted.as_deref() {
            Some((text, answer)) => Self {
                text: text.as_str().into(),
                answer: Some(Arc::new(answer.clone())),
                redacted: None,
                ..self.clone()
            },
            None => self.clone(),
        }
    }

    /// Says whether text or answer hold secrets.
    pub fn has_secrets(&self) -> bool {
        self.redacted.is_some()
    }

    /// Returns the answer as a draft for the human; secrets have to be typed again.
    pub(super) fn draft(&self) -> Option<Answer> {
        let answer = match &self.redacted {
            Some(redacted) => redacted.1.clone().without_redacted(),
            None => self.answer.as_deref()?.clone(),
        };
        Some(Answer {
            ends_run: false,
            ..answer
        })
    }
}

impl State {
    /// Says whether there is an outcome that the agent may have.
    pub(super) fn is_released(&self) -> bool {
        matches!(self, Self::Decided { .. } | Self::Settled { .. })
    }

    /// Says whether the agent acknowledged the outcome.
    pub(super) fn is_settled(&self) -> bool {
        matches!(self, Self::Settled { .. })
    }

    /// Returns the decision, if there is one.
    pub fn decision(&self) -> Option<&Decision> {
        match self {
            Self::Open | Self::Superseded => None,
            Self::Held { decision, .. } | Self::Decided { decision, .. } | Self::Settled { decision, .. } => {
                Some(decision)
            }
        }
    }
}

impl Cue {
    /// Returns the number of clients and brokers that wait for it.
    pub(super) fn waiting(&self) -> u32 {
        self.here.saturating_add(self.elsewhere)
    }

    /// Returns the outcome to deliver to the agent for a decision about this question.
    pub(super) fn told(
        &self,
        id: CueId,
        decision: &Decision,
        repeat_of: Option<Timestamp>,
    ) -> DeliveredOutcome {
        let mut told = DeliveredOutcome {
            cue_id: id,
            kind: self.kind,
            outcome: decision.outcome,
            text: decision.text.to_string(),
            reminder: decision.reminder.as_deref().map(str::to_owned),
            answer: decision.answer.as_deref().cloned(),
            ends_run: false,
            decided_at: decision.decided_at,
            by: decision.by.clone(),
            question: self.question.to_string(),
            repeat_of,
        };
        told.fit();
        told
    }
}
