//! What the machine remembers.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use protocol_spec::answer::{Answer, Question};
use protocol_spec::id::{AgentId, CueId, RequestId, RuntimeTag};
use protocol_spec::message::{Purpose, Told, line_bytes};
use protocol_spec::outcome::{Kind, Origin, Outcome};
use protocol_spec::time::Timestamp;

use super::MESSAGES_LINE_BYTES_MAX;
use super::effect::Effect;
use super::input::{Input, Now, Ticket};

/// Identifies the content of a question: SHA-256 over verb, prompt and payload as written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ContentKey(pub [u8; 32]);

/// The live state of the broker.
#[derive(Debug, Default)]
pub struct Machine {
    pub(super) agents: HashMap<AgentId, Agent>,
    pub(super) cues: HashMap<CueId, Cue>,
    /// The question each waiting caller waits for.
    pub(super) waiters: HashMap<Ticket, CueId>,
    /// When to look at which question again, by the steady clock.
    pub(super) timers: BTreeSet<(u64, CueId)>,
    /// Settled questions that were remembered only for the input at hand.
    pub(super) visitors: Vec<CueId>,
    /// Grows with each sign of a human.
    pub(super) human_signs: u64,
}

/// An agent.
#[derive(Debug, Clone)]
pub struct Agent {
    /// The runtime it lives in.
    pub runtime: RuntimeTag,
    /// Its questions in `Machine::cues`, oldest first.
    pub cues: Vec<CueId>,
    /// Notes that wait for the next answer and answers that wait for its next question, oldest first.
    pub messages: Vec<Message>,
    /// The ordinal of its newest question, settled or not.
    pub newest: u64,
    /// Whether a human put it out of sight.
    pub is_archived: bool,
    /// What is appended to each of its answers.
    pub standing: Option<Arc<str>>,
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
    /// What it is for.
    pub purpose: Purpose,
    /// Who left it.
    pub by: Option<String>,
}

/// A question.
#[derive(Debug, Clone)]
pub struct Cue {
    /// Its agent.
    pub agent: AgentId,
    /// The verb.
    pub kind: Kind,
    /// Who opened it.
    pub origin: Origin,
    /// Whether a payload came with it.
    pub has_payload: bool,
    /// What makes two questions the same.
    pub content: ContentKey,
    /// The beginning of the prompt, to tell questions apart.
    pub question: Arc<str>,
    /// Its place in the order of its agent's questions.
    pub ordinal: u64,
    /// When it was asked.
    pub asked_at: Timestamp,
    /// What became of it.
    pub state: State,
    /// Who waits for it.
    pub waiters: Vec<Ticket>,
    /// How many other brokers have clients that wait for it.
    pub elsewhere: u32,
    /// Since when nobody has, by the steady clock and by the wall clock.
    pub detached: Option<(u64, Timestamp)>,
    /// The waits that ended by themselves.
    pub rounds: Rounds,
}

/// Waits that ended by themselves while no human was seen.
#[derive(Debug, Clone, Copy, Default)]
pub struct Rounds {
    /// How many there were.
    pub ended: u32,
    /// The sign of a human that they are counted from.
    pub signs: u64,
    /// Since when no human was seen, by the steady clock; `None` before the first wait has ended.
    pub since: Option<u64>,
}

/// What became of a question; each state carries exactly what is true in it.
#[derive(Debug, Clone)]
pub enum State {
    /// Nobody has decided it.
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

/// What was decided, as the agent reads it.
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
    /// Who decided.
    pub by: Option<String>,
    /// When.
    pub decided_at: Timestamp,
}

/// Who listens for an outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Waiting {
    /// How many clients.
    pub clients: u32,
    /// Since when none has, while none does.
    pub detached_at: Option<Timestamp>,
}

/// Sums over what is live.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LiveCounts {
    /// Questions nobody has decided (those left behind are not counted).
    pub open: u32,
    /// Outcomes the agent has not acknowledged.
    pub undelivered: u32,
    /// Clients that wait.
    pub waiting: u32,
    /// Agents.
    pub agents: u32,
}

impl Machine {
    /// Decides what an input means.
    pub fn handle(&mut self, now: Now, input: Input) -> Vec<Effect> {
        let mut effects = Vec::with_capacity(6);
        match input {
            Input::Join(join) => self.join(join, &mut effects),
            Input::Bind {
                ticket,
                agent,
                session,
            } => self.bind_session(ticket, agent, session, &mut effects),
            Input::Ask(ask) => self.ask(now, ask, &mut effects),
            Input::Attach { ticket, cue } => self.attach_by_id(now, ticket, cue, &mut effects),
            Input::Ack { ticket, cues, nonce } => {
                self.ack(now, ticket, &cues, nonce.as_deref(), &mut effects);
            }
            Input::Rest { ticket, cue } => self.rest(now, ticket, cue, &mut effects),
            Input::Gone { ticket } => self.leave(now, ticket, &mut effects),
            Input::Decide(decide) => self.decide(now, decide, &mut effects),
            Input::Undo { ticket, cue } => self.undo(now, ticket, cue, &mut effects),
            Input::Say(say) => self.say(now, say, &mut effects),
            Input::Collect(collect) => self.collect(now, collect, &mut effects),
            Input::Import(import) => self.import(import, &mut effects),
            Input::EditQueue { ticket, agent, edit } => self.edit_queue(ticket, agent, edit, &mut effects),
            Input::Amend {
                ticket,
                agent,
                amendment,
            } => self.amend(ticket, agent, amendment, &mut effects),
            Input::HumanSeen => self.human_signs += 1,
            Input::Tick => self.tick(now, &mut effects),
        }
        self.forget_settled();
        effects
    }

    /// Adds an agent that the store knows.
    ///
    /// `newest` is the ordinal of its newest question, zero if it has asked none.
    pub fn remember_agent(&mut self, id: AgentId, runtime: RuntimeTag, newest: u64) {
        let fresh = Agent {
            runtime,
            cues: Vec::new(),
            messages: Vec::new(),
            newest,
            is_archived: false,
            standing: None,
        };
        self.agents.entry(id).or_insert(fresh);
    }

    /// Adds what a human wished of an agent that the store knows.
    pub fn remember_wishes(&mut self, agent: &AgentId, is_archived: bool, standing: Option<Arc<str>>) {
        if let Some(agent) = self.agents.get_mut(agent) {
            agent.is_archived = is_archived;
            agent.standing = standing;
        }
    }

    /// Adds a message that the store knows. Messages come in the order they were left.
    pub fn remember_message(&mut self, agent: &AgentId, message: Message) {
        if let Some(agent) = self.agents.get_mut(agent) {
            agent.messages.push(message);
        }
    }

    /// Adds a question that the store knows. Questions come in the order they were asked.
    ///
    /// A settled question stays only until the next input has been handled.
    pub fn remember(&mut self, now: Now, id: CueId, cue: Cue) {
        let Some(agent) = self.agents.get_mut(&cue.agent) else {
            return;
        };
        if matches!(cue.state, State::Settled { .. }) {
            self.visitors.push(id);
        } else {
            agent.cues.push(id);
        }
        self.cues.insert(id, cue);
        self.watch_over(now, id);
    }

    /// Puts a caller back that waited for a question before the machine was loaded anew.
    pub fn restore_waiter(&mut self, ticket: Ticket, cue_id: CueId) {
        if let Some(cue) = self.cues.get_mut(&cue_id) {
            cue.waiters.push(ticket);
            cue.detached = None;
            self.waiters.insert(ticket, cue_id);
        }
    }

    /// Says whether the machine knows this question.
    pub fn knows(&self, cue: CueId) -> bool {
        self.cues.contains_key(&cue)
    }

    /// Returns how an answer has to be checked, where the question came without a payload.
    pub fn plain_question(&self, cue: CueId) -> Option<Question<'static>> {
        let cue = self.cues.get(&cue).filter(|cue| !cue.has_payload)?;
        Some(Question::new(cue.kind, None))
    }

    /// Says whether an agent has a question of this content whose outcome was not acknowledged.
    pub fn has_live(&self, agent: &AgentId, content: ContentKey) -> bool {
        let cues = self.agents.get(agent).map(|agent| agent.cues.as_slice());
        let mut cues = cues.unwrap_or_default().iter();
        cues.any(|id| self.cues.get(id).is_some_and(|cue| cue.content == content))
    }

    /// Says whether a caller waits for an outcome.
    pub fn is_waiting(&self, ticket: Ticket) -> bool {
        self.waiters.contains_key(&ticket)
    }

    /// Says whether there is such an agent.
    pub fn has_agent(&self, agent: &AgentId) -> bool {
        self.agents.contains_key(agent)
    }

    /// Returns who listens for the outcome of a live question.
    pub fn waiting(&self, cue: CueId) -> Option<Waiting> {
        let cue = self.cues.get(&cue)?;
        Some(Waiting {
            clients: cue.waiting(),
            detached_at: cue.detached.map(|(_, at)| at),
        })
    }

    /// Returns the callers that wait, with what they wait for; for each question in the order they came.
    pub fn waiters(&self) -> impl Iterator<Item = (Ticket, CueId)> + '_ {
        let cues = self.cues.iter();
        cues.flat_map(|(id, cue)| cue.waiters.iter().map(|ticket| (*ticket, *id)))
    }

    /// Returns the questions that are live.
    pub fn live_cues(&self) -> impl Iterator<Item = (&CueId, &Cue)> {
        self.cues.iter()
    }

    /// Returns an agent.
    pub fn agent(&self, id: &AgentId) -> Option<&Agent> {
        self.agents.get(id)
    }

    /// Sums over what is live.
    pub fn counts(&self) -> LiveCounts {
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        LiveCounts {
            open: count(
                self.cues
                    .values()
                    .filter(|cue| matches!(cue.state, State::Open))
                    .count(),
            ),
            undelivered: count(
                self.cues
                    .values()
                    .filter(|cue| cue.state.decision().is_some())
                    .count(),
            ),
            waiting: count(self.waiters.len()),
            agents: count(self.agents.len()),
        }
    }

    /// Forgets questions whose outcome was acknowledged, once nobody waits for them.
    pub(super) fn forget_settled(&mut self) {
        while let Some(id) = self.visitors.pop() {
            let is_settled = |cue: &Cue| matches!(cue.state, State::Settled { .. }) && cue.waiters.is_empty();
            if self.cues.get(&id).is_some_and(is_settled) {
                self.forget(id);
            }
        }
    }

    fn forget(&mut self, id: CueId) {
        let Some(cue) = self.cues.remove(&id) else { return };
        if let Some(agent) = self.agents.get_mut(&cue.agent) {
            agent.cues.retain(|known| *known != id);
        }
    }
}

impl Agent {
    /// Takes the oldest notes, as many as one outcome may carry; the others wait for the next.
    pub(super) fn take_notes(&mut self) -> Vec<Message> {
        let mut room = MESSAGES_LINE_BYTES_MAX;
        let mut notes = Vec::new();
        self.messages.retain(|message| {
            if message.purpose != Purpose::Note {
                return true;
            }
            let bytes = line_bytes(&message.text);
            // One that is too long by itself would block all others; it is truncated when it is told.
            let fits = bytes <= room || (notes.is_empty() && room > 0);
            // What follows a note that did not fit waits behind it.
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

    /// Returns the answer as a human may see it again to go on writing: secrets have to be typed anew.
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
    /// Returns how many wait for it, here and elsewhere.
    pub(super) fn waiting(&self) -> u32 {
        u32::try_from(self.waiters.len())
            .unwrap_or(u32::MAX)
            .saturating_add(self.elsewhere)
    }

    /// Returns what the agent is told of a decision about this question.
    pub(super) fn told(&self, id: CueId, decision: &Decision, repeat_of: Option<Timestamp>) -> Told {
        let mut told = Told {
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
