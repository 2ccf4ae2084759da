//! An agent: its live questions, and the messages that wait for it. The rules are its methods.

use std::sync::Arc;

use protocol_spec::id::{AgentId, CueId, RequestId, RuntimeTag};
use protocol_spec::message::{Purpose, line_bytes};
use protocol_spec::time::Timestamp;

use super::cue::{ContentKey, Cue};
use super::{MESSAGES_LINE_BYTES_MAX, SUPERSEDED_AFTER_MS, State};

/// An agent.
#[derive(Debug, Clone)]
pub struct Agent {
    /// Its id.
    pub id: AgentId,
    /// The runtime it lives in.
    pub runtime: RuntimeTag,
    /// Notes that wait for the next answer and answers that wait for its next question, oldest first.
    pub messages: Vec<Message>,
    /// The ordinal of its newest question, settled or not.
    pub newest: u64,
    /// Whether a human archived it.
    pub is_archived: bool,
    /// The standing instruction, appended to each of its answers.
    pub standing: Option<Arc<str>>,
    /// Its questions, oldest first, and settled ones that an input names or that clients still wait for.
    pub(super) cues: Vec<(CueId, Box<Cue>)>,
}

/// A message that waits for an agent.
#[derive(Debug, Clone)]
pub struct Message {
    /// Its key.
    pub request: RequestId,
    /// The message.
    pub text: Arc<str>,
    /// When it was left.
    pub said_at: Timestamp,
    /// Its purpose.
    pub purpose: Purpose,
    /// Its author.
    pub by: Option<String>,
}

impl Agent {
    /// Makes an agent that has no live question. `newest` is the ordinal of its newest one, zero if it has asked none.
    pub fn new(id: AgentId, runtime: RuntimeTag, newest: u64) -> Self {
        Self {
            id,
            runtime,
            messages: Vec::new(),
            newest,
            is_archived: false,
            standing: None,
            cues: Vec::new(),
        }
    }

    /// Finds a question.
    pub(super) fn cue(&self, id: CueId) -> Option<&Cue> {
        let mut cues = self.cues.iter();
        cues.find(|(known, _)| *known == id).map(|(_, cue)| &**cue)
    }

    /// Finds a question, to change it.
    pub(super) fn cue_mut(&mut self, id: CueId) -> Option<&mut Cue> {
        let mut cues = self.cues.iter_mut();
        cues.find(|(known, _)| *known == id).map(|(_, cue)| &mut **cue)
    }

    /// Adds a question; questions come in the order they were asked.
    pub(super) fn add_cue(&mut self, id: CueId, cue: Cue) {
        self.cues.push((id, Box::new(cue)));
    }

    /// Returns its questions, settled ones too.
    pub(super) fn cues(&self) -> impl Iterator<Item = (CueId, &Cue)> {
        self.cues.iter().map(|(id, cue)| (*id, &**cue))
    }

    /// Returns the questions that are open or whose outcome was not acknowledged, oldest first.
    pub(super) fn live(&self) -> impl Iterator<Item = (CueId, &Cue)> {
        self.cues().filter(|(_, cue)| !cue.state.is_settled())
    }

    /// Says whether it has a question of this content whose outcome was not acknowledged.
    pub(super) fn has_live(&self, content: ContentKey) -> bool {
        self.live().any(|(_, cue)| cue.content == content)
    }

    /// Forgets settled questions that no client of this broker waits for, and returns them.
    pub(super) fn forget_settled(&mut self) -> Vec<CueId> {
        let is_over = |cue: &Cue| cue.state.is_settled() && cue.here == 0;
        let over = self.cues.extract_if(.., |(_, cue)| is_over(cue));
        over.map(|(id, _)| id).collect()
    }

    /// Returns the question that time changes next, and when, by the steady clock.
    pub(super) fn next_due(&self) -> Option<(u64, CueId)> {
        let dues = self
            .cues
            .iter()
            .filter_map(|(id, cue)| Some((self.due(cue)?, *id)));
        dues.min()
    }

    /// Returns when time changes a question: when a held answer is released, or a detached question superseded.
    fn due(&self, cue: &Cue) -> Option<u64> {
        match &cue.state {
            State::Held { until, .. } => Some(*until),
            // The agent has asked something else since.
            State::Open if self.newest > cue.ordinal => {
                let (since, _) = cue.detached?;
                Some(since.saturating_add(SUPERSEDED_AFTER_MS))
            }
            State::Open | State::Superseded | State::Decided { .. } | State::Settled { .. } => None,
        }
    }

    /// Takes the oldest notes, as many as one outcome may carry; the others wait for the next.
    pub(super) fn take_notes(&mut self) -> Vec<Message> {
        let mut room = MESSAGES_LINE_BYTES_MAX;
        let mut notes = Vec::new();
        self.messages.retain(|message| {
            if message.purpose != Purpose::Note {
                return true;
            }
            let bytes = line_bytes(&message.text);
            // One that is too long by itself would block all others; it is truncated when it is delivered.
            let fits = bytes <= room || (notes.is_empty() && room > 0);
            // A note that did not fit keeps the later ones waiting behind it.
            room = if fits { room.saturating_sub(bytes) } else { 0 };
            if fits {
                notes.push(message.clone());
            }
            !fits
        });
        notes
    }

    /// Takes the oldest queued answer.
    pub(super) fn take_queued_answer(&mut self) -> Option<Message> {
        let is_answer = |message: &Message| message.purpose == Purpose::QueuedAnswer;
        let place = self.messages.iter().position(is_answer)?;
        Some(self.messages.remove(place))
    }

    /// Says whether a note waits.
    pub(super) fn has_note(&self) -> bool {
        self.messages
            .iter()
            .any(|message| message.purpose == Purpose::Note)
    }

    /// Returns how many bytes of messages wait.
    pub(super) fn waiting_bytes(&self) -> usize {
        self.messages.iter().map(|message| message.text.len()).sum()
    }
}
