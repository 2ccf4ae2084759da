//! The expected behaviour of the broker, as simple as possible: one list, searched from one end to the other.

use protocol_spec::id::{AgentId, CueId, RequestId};
use protocol_spec::outcome::Outcome;

/// The time that a question must have been without a client before a later one supersedes it, in milliseconds.
const SUPERSEDED_AFTER_MS: u64 = 10 * 60 * 1000;

/// A question as the model knows it.
#[derive(Debug, Clone)]
pub(crate) struct Cue {
    pub(crate) id: CueId,
    pub(crate) agent: AgentId,
    pub(crate) content: u64,
    pub(crate) has_payload: bool,
    pub(crate) is_approval: bool,
    pub(crate) requests: Vec<RequestId>,
    pub(crate) decision: Option<Decision>,
    pub(crate) is_superseded: bool,
    pub(crate) was_handed: bool,
    pub(crate) is_acknowledged: bool,
    pub(crate) waiters: Vec<u64>,
    pub(crate) detached_at: Option<u64>,
}

/// One call of an agent.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) request: RequestId,
    pub(crate) agent: AgentId,
    pub(crate) content: u64,
    pub(crate) has_payload: bool,
    pub(crate) is_approval: bool,
}

/// A message that waits for an agent.
#[derive(Debug, Clone)]
pub(crate) struct Message {
    pub(crate) to: AgentId,
    pub(crate) request: RequestId,
    pub(crate) text: String,
    /// Whether it answers the next question that may be answered so; a note otherwise.
    pub(crate) is_answer: bool,
}

/// A decision.
#[derive(Debug, Clone)]
pub(crate) struct Decision {
    pub(crate) request: RequestId,
    pub(crate) outcome: Outcome,
    /// Words that must all occur in the text, in this order.
    pub(crate) words: Vec<String>,
    pub(crate) held_until: Option<u64>,
    pub(crate) notes: Vec<Message>,
}

/// The expected reply to an ask.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Expected {
    /// Waits; the question is new if it has no id yet.
    Waits { known: Option<CueId> },
    /// The outcome comes at once.
    Outcome { known: Option<CueId>, is_repeat: bool },
    /// Earlier outcomes come instead, with whether each is a repeat.
    Mailbox { earlier: Vec<(CueId, bool)> },
}

/// The state of the world.
#[derive(Debug, Default)]
pub(crate) struct Model {
    pub(crate) cues: Vec<Cue>,
    pub(crate) messages: Vec<Message>,
}

impl Model {
    pub(crate) fn find(&self, id: CueId) -> Option<&Cue> {
        self.cues.iter().find(|cue| cue.id == id)
    }

    fn find_mut(&mut self, id: CueId) -> &mut Cue {
        self.cues
            .iter_mut()
            .find(|cue| cue.id == id)
            .expect("a question the model knows")
    }

    /// Predicts an ask without changing anything.
    pub(crate) fn expect_ask(&self, call: &Call) -> Expected {
        let Call {
            request,
            agent,
            content,
            has_payload,
            is_approval,
        } = call;
        let known = self
            .cues
            .iter()
            .find(|cue| cue.requests.contains(request))
            .or_else(|| {
                self.cues.iter().find(|cue| {
                    let is_same =
                        cue.agent == *agent && cue.content == *content && cue.has_payload == *has_payload;
                    is_same && !cue.is_acknowledged && !cue.is_approval && !is_approval
                })
            });
        if let Some(cue) = known {
            return if cue.is_released() {
                Expected::Outcome {
                    known: Some(cue.id),
                    is_repeat: cue.was_handed,
                }
            } else {
                Expected::Waits { known: Some(cue.id) }
            };
        }
        let earlier: Vec<_> = self
            .cues
            .iter()
            .filter(|cue| {
                cue.agent == *agent && cue.is_released() && !cue.is_acknowledged && cue.waiters.is_empty()
            })
            .map(|cue| (cue.id, cue.was_handed))
            .collect();
        if !earlier.is_empty() {
            Expected::Mailbox { earlier }
        } else if self.queued_answer(call).is_some() {
            Expected::Outcome {
                known: None,
                is_repeat: false,
            }
        } else {
            Expected::Waits { known: None }
        }
    }

    /// Returns the place of the oldest answer that waits for such a question.
    fn queued_answer(&self, call: &Call) -> Option<usize> {
        let waits = |message: &Message| message.is_answer && message.to == call.agent;
        let place = self.messages.iter().position(waits);
        place.filter(|_| !call.has_payload && !call.is_approval)
    }

    /// Says whether an agent that asks again gets something it does not know.
    pub(crate) fn has_more_for(&self, agent: &AgentId) -> bool {
        let is_queued = |message: &Message| message.is_answer && message.to == *agent;
        let is_missed = |cue: &Cue| cue.agent == *agent && cue.is_released() && !cue.is_acknowledged;
        self.messages.iter().any(is_queued) || self.cues.iter().any(is_missed)
    }

    /// Takes the notes that wait for an agent, oldest first.
    fn take_notes(&mut self, agent: &AgentId) -> Vec<Message> {
        let is_note = |message: &Message| !message.is_answer && message.to == *agent;
        let notes = self
            .messages
            .iter()
            .filter(|message| is_note(message))
            .cloned()
            .collect();
        self.messages.retain(|message| !is_note(message));
        notes
    }

    /// Does what an ask does; `id` is the id the broker gave the question.
    pub(crate) fn ask(&mut self, now: u64, call: &Call, id: CueId, ticket: u64) {
        let expected = self.expect_ask(call);
        match expected {
            Expected::Waits { known: Some(id) } | Expected::Outcome { known: Some(id), .. } => {
                let cue = self.find_mut(id);
                if !cue.requests.contains(&call.request) {
                    cue.requests.push(call.request);
                }
                self.attach(id, ticket);
            }
            Expected::Waits { known: None } | Expected::Outcome { known: None, .. } => {
                self.open(now, call, id);
                self.attach(id, ticket);
            }
            Expected::Mailbox { earlier } => {
                self.open(now, call, id);
                for (id, _) in earlier {
                    self.find_mut(id).was_handed = true;
                }
            }
        }
    }

    fn attach(&mut self, id: CueId, ticket: u64) {
        let cue = self.find_mut(id);
        cue.waiters.push(ticket);
        cue.detached_at = None;
        cue.is_superseded = false;
        if cue.is_released() {
            cue.was_handed = true;
        }
    }

    fn open(&mut self, now: u64, call: &Call, id: CueId) {
        let decision = self.queued_answer(call).map(|place| {
            let answer = self.messages.remove(place);
            let mut words = vec!["the human has not seen this question".to_owned()];
            words.extend(self.take_notes(&call.agent).into_iter().map(|note| note.text));
            words.push(answer.text);
            Decision {
                request: answer.request,
                outcome: Outcome::Answered,
                words,
                held_until: None,
                notes: Vec::new(),
            }
        });
        let Call {
            request,
            agent,
            content,
            has_payload,
            is_approval,
        } = call.clone();
        self.cues.push(Cue {
            id,
            agent,
            content,
            has_payload,
            is_approval,
            requests: vec![request],
            decision,
            is_superseded: false,
            was_handed: false,
            is_acknowledged: false,
            waiters: Vec::new(),
            detached_at: Some(now),
        });
    }

    /// Decides a question; returns whether that should succeed.
    pub(crate) fn decide(
        &mut self,
        id: CueId,
        request: RequestId,
        outcome: Outcome,
        word: &str,
        held_until: Option<u64>,
    ) -> bool {
        let agent = self.find(id).expect("a question the model knows").agent.clone();
        if let Some(made) = &self.find(id).expect("a question the model knows").decision {
            return made.request == request;
        }
        let is_approval = self.find(id).expect("a question the model knows").is_approval;
        let notes = if outcome == Outcome::Cancelled || is_approval {
            Vec::new()
        } else {
            self.take_notes(&agent)
        };
        let mut words: Vec<String> = notes.iter().map(|note| note.text.clone()).collect();
        match outcome {
            Outcome::Declined => words.insert(0, word.to_owned()),
            _ => words.push(word.to_owned()),
        }
        let cue = self.find_mut(id);
        cue.is_superseded = false;
        cue.decision = Some(Decision {
            request,
            outcome,
            words,
            held_until,
            notes,
        });
        if held_until.is_none() && !cue.waiters.is_empty() {
            cue.was_handed = true;
        }
        true
    }

    /// Takes a decision back; returns whether that should succeed.
    pub(crate) fn undo(&mut self, now: u64, id: CueId) -> bool {
        let cue = self.find_mut(id);
        let Some(decision) = cue.decision.take_if(|decision| decision.held_until.is_some()) else {
            return false;
        };
        if cue.waiters.is_empty() {
            cue.detached_at = Some(now);
        }
        self.messages.splice(0..0, decision.notes);
        true
    }

    pub(crate) fn acknowledge(&mut self, id: CueId) {
        self.find_mut(id).is_acknowledged = true;
    }

    pub(crate) fn leave(&mut self, now: u64, ticket: u64) {
        for cue in &mut self.cues {
            let had = cue.waiters.len();
            cue.waiters.retain(|waiter| *waiter != ticket);
            if had > 0 && cue.waiters.is_empty() {
                cue.detached_at = Some(now);
            }
        }
    }

    /// Lets time pass: held decisions are released, questions left alone are superseded.
    pub(crate) fn tick(&mut self, now: u64) {
        for index in 0..self.cues.len() {
            let has_later = self.cues[index + 1..]
                .iter()
                .any(|later| later.agent == self.cues[index].agent);
            let cue = &mut self.cues[index];
            if let Some(decision) = &mut cue.decision {
                if decision.held_until.is_some_and(|until| until <= now) {
                    decision.held_until = None;
                    cue.was_handed |= !cue.waiters.is_empty();
                }
            } else if has_later
                && cue
                    .detached_at
                    .is_some_and(|since| since + SUPERSEDED_AFTER_MS <= now)
            {
                cue.is_superseded = true;
            }
        }
    }

    /// The broker has read everything anew: everyone alone is alone since now.
    pub(crate) fn reload(&mut self, now: u64) {
        for cue in self.cues.iter_mut().filter(|cue| cue.waiters.is_empty()) {
            cue.detached_at = Some(now);
        }
    }

    /// The broker restarts: no client is connected, and every question without one is detached since now.
    pub(crate) fn restart(&mut self, now: u64) {
        for cue in &mut self.cues {
            cue.waiters.clear();
            cue.detached_at = Some(now);
        }
    }
}

impl Cue {
    /// Says whether the agent may have the decision.
    pub(crate) fn is_released(&self) -> bool {
        self.decision
            .as_ref()
            .is_some_and(|decision| decision.held_until.is_none())
    }
}
